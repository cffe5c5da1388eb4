// Package sigstore holds the tests of publishing that run the packgate program against
// the real services: Fulcio, the timestamp authority and Rekor sign, and OCI registries
// with and without the referrers API keep what is published. See package stack for what
// of it is real.
//
//   - What the action publishes is verified by programs that know nothing of packgate:
//     cosign, sigstore-js, oras and crane.
//   - What must not be trusted is not, each with its exit status: other identities with
//     real certificates, files and bundles that were changed, registries that lie.
//   - What pins files want is applied with the approvals of the pull requests that brought
//     it, and by the timestamp of another workflow nothing is loaded once that is too old.
//   - A run that publishes or applies pins files and is killed at any request, or meets an
//     outage of any service, is finished by the next one; two publishers at a time publish
//     nothing twice and overwrite nothing.
//
// It is a module of its own, because Fulcio and the rest weigh many times what packgate
// does. The programs are Go modules at the versions in tools/go.mod, built on first use;
// docker-registry, node and npm come from Debian (needs.sh). Nothing is skipped: a
// machine that cannot run a test fails it, with what is missing.
//
// A test of Fulcio's wants a module that the Go module proxy does not have, so that go
// mod tidy ends with an error here; go mod tidy -e does what is needed.
package sigstore
