// Package release holds the test of what a release is made of: goreleaser builds the
// archives as the release workflow does, for this machine alone, and they have to be the
// same bytes wherever they are built.
//
// It is a module of its own because goreleaser is heavy, and because its go.mod pins the
// tools of the release: goreleaser and cyclonedx-gomod.
package release
