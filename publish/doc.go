// Package publish puts versions of packs into an OCI registry and answers what is
// there: it signs a version that passed the gates, pushes it, records its later
// life (deprecated, revoked, pinned to an environment), and verifies any of that
// as a stranger would.
//
// It rests on two rules. Nothing is believed that a registry says: what a version
// is stands in statements that the configured identity has signed, and each of
// them speaks of one manifest and one content by digest. And nothing that was
// written is ever changed or doubled: each step looks first at what is there, so
// that a run that was killed or lost its network is finished by the next one,
// whatever point it had reached.
//
// Most registries let a tag be moved, and no registry offers a write that fails
// where the tag exists already. So a version has two tags. The content tag,
// "<version>-<first 12 digits of the manifest's digest>", cannot collide, and is
// put first; two publishers of other bytes therefore always leave two of them, and
// each of the two looks for the other's before and after it puts the second tag,
// the bare version. Whatever they do, a version with two signed digests is refused
// by Checker until one of the two is revoked.
//
// The package has no flags and prints nothing; internal/cli does.
package publish
