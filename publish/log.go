package publish

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/contextosai/packgate/publish/attest"
)

// Entry is one version of a pack in its log. A version of which two digests are
// there has two entries.
type Entry struct {
	Version string
	Class   string // of its statement, "" where none is trusted
	Digest  string // of the manifest
	Content string // digest of the pack's bytes
	Tagged  bool   // whether the version tag names this digest
	Status  Status
	Signer  *attest.SignerInfo // nil where no statement is trusted
	Signed  time.Time
	States  []StateRecord
	Pins    []PinRecord
	// Environments are those whose pin is here now, sorted.
	Environments []string
	Conflicts    []string // other digests of the version that are signed as well
	Reasons      []Reason
	NotChecked   []string
}

// Log returns the versions of a pack from the lowest to the highest, with all that
// is known of each; none where the registry has no such pack.
func (c *Checker) Log(ctx context.Context, packID string) ([]Entry, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return nil, err
	}
	s, err := c.survey(ctx, repo, packID, request{})
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, version := range s.versions() {
		for _, digest := range s.digestsOf(version) {
			out = append(out, s.entry(version, digest))
		}
	}
	return out, nil
}

// versions returns the versions that a tag names, the lowest first.
func (s *survey) versions() []string {
	found := map[string]*semver.Version{}
	for text := range s.tags {
		if t, ok := readTag(text); ok && t.version != "" {
			if v, err := semver.StrictNewVersion(t.version); err == nil {
				found[t.version] = v
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(found[a].Compare(found[b]), cmp.Compare(a, b))
	})
}

func (s *survey) entry(version, digest string) Entry {
	v := s.judge(version, s.holdings[digest])
	e := Entry{
		Version: version, Digest: digest, Content: v.Content, Tagged: s.tagged(version) == digest, Status: v.Status,
		Signer: v.Signer, Signed: v.Signed, States: v.States, Pins: v.Pins, Reasons: v.Reasons, NotChecked: v.NotChecked,
	}
	if v.Summary != nil {
		e.Class = v.Summary.Class
	}
	for _, r := range v.Reasons {
		if r.Kind == ReasonConflict {
			e.Conflicts = append(e.Conflicts, r.Digest)
		}
	}
	for _, environment := range s.environments() {
		if s.tags["env-"+environment] == digest {
			e.Environments = append(e.Environments, environment)
		}
	}
	return e
}

// environments returns the environments that have a pin, sorted.
func (s *survey) environments() []string {
	var out []string
	for text := range s.tags {
		if t, ok := readTag(text); ok && t.environment != "" {
			out = append(out, t.environment)
		}
	}
	slices.Sort(out)
	return out
}
