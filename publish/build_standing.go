package publish

import (
	"context"
	"slices"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// BuildStanding is how a bundle stands to what is published of its version.
type BuildStanding struct {
	Kind  StandingKind        // Same where it is the newest one of its environment, else Absent
	Build *registry.Build     // what it would be published as
	Name  statement.BuildName // the name that it has, or would get
	Last  *Build              // the newest bundle of the version in the environment, nil for none
	Ref   string              // repository:tag@digest

	version  statement.Version // the version that it is of
	sequence int               // of the statement that would be signed
	made     *Build            // what was signed before and is to be finished
	reports  []string          // digests of the reports that are attached to it
}

// BuildStanding says how a bundle stands to what is published: the same bytes keep their
// revision, others get the one after the highest. The error is of kind ErrCandidate where
// the parts are not those of the version, and of kind registry.ErrName where the name of
// the environment cannot be part of a tag.
func (p *Publisher) BuildStanding(ctx context.Context, c BuildCandidate) (*BuildStanding, error) {
	b, of, err := c.build()
	if err != nil {
		return nil, err
	}
	repo, err := p.Registry.Repository(c.Pack)
	if err != nil {
		return nil, err
	}
	s, err := p.Checker().environmentBuilds(ctx, buildPlace{c.Pack, c.Version, c.Environment}, b.Digest)
	if err != nil {
		return nil, err
	}
	if err := s.whole(c.name(), c.Environment); err != nil {
		return nil, err
	}
	out := s.standing(repo, b)
	out.version = statement.Version{Pack: c.name(), Manifest: of.Digest, Content: of.ContentDigest}
	return out, nil
}

func (s *builds) standing(repo *registry.Repository, b *registry.Build) *BuildStanding {
	out := &BuildStanding{Kind: Absent, Build: b, Name: statement.BuildName{Pack: nameOf(b.Pack, b.Version), Environment: b.Environment}}
	highest, newest := s.last(b.Environment)
	highest = s.highest(highest, b.Digest)
	out.Last, out.sequence = newest, highest+1
	own := s.holdings[b.Digest]
	for _, made := range slices.Backward(own.signed) {
		if s.contested(made.Name.Revision, b) {
			continue
		}
		if out.Name.Revision == 0 {
			out.Name = made.Name
		}
		if made.Statement.Sequence < highest || made.Name != out.Name || out.made != nil {
			continue // another bundle was the newest since
		}
		out.made, out.reports = made, own.reports
		if s.settled(made) && s.tags[s.place(made).At(b.Digest)] == b.Digest {
			out.Kind = Same
		}
	}
	for _, t := range s.sortedTags() {
		if out.Name.Revision == 0 && s.tags[t] == b.Digest && !s.contested(t.Revision, b) {
			out.Name.Revision = t.Revision
		}
	}
	if out.Name.Revision == 0 {
		out.Name.Revision = s.highest(0, b.Digest)
		for t := range s.tags {
			out.Name.Revision = max(out.Name.Revision, t.Revision)
		}
		for _, h := range s.holdings { // of which some may have lost their tags
			for _, made := range h.signed {
				out.Name.Revision = max(out.Name.Revision, made.Name.Revision)
			}
		}
		out.Name.Revision++
	}
	out.Ref = refOf(repo, s.tag(out).String(), b.Digest)
	return out
}

// contested reports whether a tag of a revision names another digest than the bundle's: somebody
// publishes at the same time, or the build that it names is none of those known here.
func (s *builds) contested(revision int, b *registry.Build) bool {
	for t, digest := range s.tags {
		if t.Environment == b.Environment && t.Revision == revision && digest != b.Digest {
			return true
		}
	}
	return false
}

func (s *builds) tag(of *BuildStanding) registry.BuildTag {
	return registry.BuildTag{Version: of.Build.Version, Environment: of.Build.Environment, Revision: of.Name.Revision}
}
