package publish

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

const (
	atOnce = 4 // bounds the requests for one pack that run at the same time
	// digestLimit bounds how many digests of one version are looked at. Two are one
	// too many already; the bound is for a registry that somebody filled.
	digestLimit = 32
)

// survey is what a registry holds of a pack, or of one version of it.
type survey struct {
	repo     *registry.Repository
	pack     string
	tags     map[string]string   // tag to the digest of the manifest
	holdings map[string]*holding // by digest: all that the tags name, and what else was asked for
	unlisted string              // a tag that is there and not in the registry's list of tags, "" for none
	chain    *chain              // the pack's history; nil where one version alone is looked at
	dropped  map[string]int      // version to the number of its content tags that were not looked at
}

// request says what a survey looks at.
type request struct {
	version string     // the tags of one version alone; "" for all of packgate's tags
	tags    []string   // tags that are asked for whether they are listed or not
	known   []*holding // what has been read already
	digests []string   // digests that are looked at whether a tag names them or not
}

// survey reads what the registry holds of a pack. It inspects every digest once.
func (c *Checker) survey(ctx context.Context, packID string, q request) (*survey, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return nil, err
	}
	listed, err := repo.Tags(ctx)
	if err != nil {
		return nil, err
	}
	s := &survey{repo: repo, pack: packID, tags: map[string]string{}, holdings: map[string]*holding{}, dropped: map[string]int{}}
	wanted := append(s.follow(listed, q.version), q.tags...)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	digests, err := each(ctx, c.Registry, packID, wanted, resolve)
	if err != nil {
		return nil, err
	}
	for i, digest := range digests {
		if digest == "" {
			continue // deleted since it was listed, or never there
		}
		s.tags[wanted[i]] = digest
		if !slices.Contains(listed, wanted[i]) {
			s.unlisted = wanted[i]
		}
	}
	for _, h := range q.known {
		s.holdings[h.digest] = h
	}
	if q.version == "" {
		if s.chain, err = c.chain(ctx, repo, packID, listed); err != nil {
			return nil, err
		}
	}
	open := slices.Concat(q.digests, slices.Collect(maps.Values(s.tags)), s.chain.versions())
	slices.Sort(open)
	open = slices.DeleteFunc(slices.Compact(open), func(digest string) bool { return s.holdings[digest] != nil })
	holdings, err := each(ctx, c.Registry, s.pack, open, c.inspect)
	if err != nil {
		return nil, err
	}
	for _, h := range holdings {
		s.holdings[h.digest] = h
	}
	if s.chain != nil {
		for _, h := range s.holdings {
			h.order(s.chain)
		}
	}
	return s, nil
}

// follow returns the tags that a survey follows.
func (s *survey) follow(listed []string, version string) []string {
	slices.Sort(listed)
	var out []string
	seen := map[string]int{}
	for _, text := range listed {
		t, ours := registry.ReadTag(text)
		if !ours || version != "" && t.Version != version {
			continue
		}
		if t.Content {
			if seen[t.Version]++; seen[t.Version] > digestLimit {
				s.dropped[t.Version]++
				continue
			}
		}
		out = append(out, text)
	}
	return out
}

// each calls f for all items, a few at a time, and returns what it returned in the
// order of the items, or its first error. A Repository serves one goroutine at a
// time, so that each of them takes one of its own.
func each[T, R any](ctx context.Context, from *registry.Registry, packID string, items []T, f func(context.Context, *registry.Repository, T) (R, error)) ([]R, error) {
	repos := make(chan *registry.Repository, atOnce)
	for range atOnce {
		repo, err := from.Repository(packID)
		if err != nil {
			return nil, err
		}
		repos <- repo
	}
	out := make([]R, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, item := range items {
		group.Go(func() (err error) {
			repo := <-repos
			defer func() { repos <- repo }()
			if err = ctx.Err(); err == nil {
				out[i], err = f(ctx, repo, item)
			}
			return err
		})
	}
	return out, group.Wait()
}

// versionsOf returns the versions that tags name, the lowest first; those of version
// tags alone, or those of content tags as well.
func versionsOf(tags iter.Seq[string], contentToo bool) []*semver.Version {
	var out []*semver.Version
	for text := range tags {
		t, _ := registry.ReadTag(text)
		if v, err := semver.StrictNewVersion(t.Version); err == nil && (contentToo || !t.Content) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, (*semver.Version).Compare)
	return slices.CompactFunc(out, (*semver.Version).Equal)
}

// verdicts returns the verdicts on all digests of all versions that a tag names, the
// lowest version first.
func (s *survey) verdicts() (out []*Verdict) {
	for _, version := range versionsOf(maps.Keys(s.tags), true) {
		for _, digest := range s.digestsOf(version.String()) {
			out = append(out, s.judge(version.String(), s.holdings[digest]))
		}
	}
	return out
}

// environments returns the digests that pins name, by environment.
func (s *survey) environments() map[string]string {
	out := map[string]string{}
	for text, digest := range s.tags {
		if t, _ := registry.ReadTag(text); t.Environment != "" {
			out[t.Environment] = digest
		}
	}
	return out
}

// tagged returns the digest under the version's tag, "" where there is none.
func (s *survey) tagged(version string) string { return s.tags[version] }

// digestsOf returns the digests that a version's tags name: that of the version tag
// first, then those of the content tags in order.
func (s *survey) digestsOf(version string) []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(s.tags)) { // "1.2.0" sorts before "1.2.0-…"
		if t, ok := registry.ReadTag(text); ok && t.Version == version && !slices.Contains(out, s.tags[text]) {
			out = append(out, s.tags[text])
		}
	}
	return out
}

// of tells whether a holding is a signed statement's subject and of that version.
func (s *survey) of(h *holding, version string) bool {
	return h != nil && h.artifact != nil && h.artifact.Pack == s.pack && h.artifact.Version == version && h.signed()
}

// holding is what a registry holds under one manifest digest, as far as it can be
// believed.
type holding struct {
	digest    string
	artifact  *registry.Artifact // nil where there is a problem
	problem   *Reason            // why there is no artifact
	version   statement.Version  // what statements about the artifact must speak of
	summaries []signedSummary    // of the trusted identity, the first one signed first
	states    []StateRecord
	pins      []PinRecord
	loose     []PinRecord // those that the pack's history does not name, or too late: they do not count
	bundles   []string    // digests of the bundles of these
	odd       []Reason    // bundles that count for nothing, and what else is strange
	reports   []string    // digests of the gate reports
}

// signedSummary is a trusted statement that the version passed the gates.
type signedSummary struct {
	Signing
	summary *statement.Summary
	source  []byte // of the bundle
}

// summaryOf reads the summary in a bundle of these bytes that verified.
func summaryOf(v *attest.Verified, source []byte) (signedSummary, error) {
	s, err := v.Statement.Summary()
	if err != nil {
		return signedSummary{}, err
	}
	return signedSummary{signing(v, s.Time), s, source}, nil
}

// signed tells whether a trusted statement says that the version passed.
func (h *holding) signed() bool { return len(h.summaries) > 0 }

// revoked tells whether a trusted statement revoked it.
func (h *holding) revoked() bool {
	s := stateOf(h.states)
	return s != nil && s.State == statement.StateRevoked
}

// inspect reads what the registry holds under a digest. Whatever the registry
// serves that cannot be believed becomes a reason; the error is for what could not
// be looked at.
func (c *Checker) inspect(ctx context.Context, repo *registry.Repository, digest string) (*holding, error) {
	h := &holding{digest: digest}
	a, err := repo.Pull(ctx, digest)
	if h.problem = problemOf(digest, err); h.problem != nil {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	attachments, err := repo.Attachments(ctx, digest)
	if h.problem = problemOf(digest, err); h.problem != nil {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	h.hold(a)
	for _, at := range attachments {
		switch at.Type {
		case registry.ReportType:
			h.reports = append(h.reports, string(pack.DigestOf(at.Content)))
		case registry.BundleType:
			h.read(c.Verifier, at)
		}
	}
	slices.SortFunc(h.summaries, func(a, b signedSummary) int { return a.compare(b.Signing) })
	slices.SortFunc(h.states, func(a, b StateRecord) int { return a.compare(b.Signing) })
	slices.SortFunc(h.pins, func(a, b PinRecord) int { return a.compare(b.Signing) })
	return h, nil
}

// problemOf returns the reason for an error that is the answer, and nil for one
// that is none.
func problemOf(digest string, err error) *Reason {
	r := Reason{Digest: digest, Refuses: true, Cause: err}
	switch {
	case errors.Is(err, registry.ErrNotFound):
		r.Kind, r.Message = ReasonNotPublished, fmt.Sprintf("the registry has no manifest %s", digest)
		r.Hint = "check the digest and the registry"
	case errors.Is(err, registry.ErrContent):
		r.Kind, r.Message = ReasonBytes, "the registry does not serve what the digest names"
		r.Hint = "do not use it, and check who can write to the registry"
	case errors.Is(err, registry.ErrForeign):
		r.Kind, r.Message = ReasonForeign, "what the registry has is not a context pack"
		r.Hint = "check the reference"
	default:
		return nil
	}
	if r.Kind != ReasonNotPublished {
		r.Message += ": " + err.Error()
	}
	return &r
}

// hold takes an artifact whose digests are those of its bytes.
func (h *holding) hold(a *registry.Artifact) {
	h.artifact = a
	h.version = statement.Version{Pack: nameOf(a.Pack, a.Version), Manifest: a.Digest, Content: a.ContentDigest}
	found, err := nameIn(a.Content)
	switch {
	case err != nil:
		h.odd = append(h.odd, Reason{Kind: ReasonForeign, Digest: h.digest, Refuses: true, Cause: err,
			Message: fmt.Sprintf("the content of %q is not a pack: %v", h.version.Pack, err)})
	case found != h.version.Pack:
		h.odd = append(h.odd, ReasonVersion.refuses(h.digest, "",
			"the pack says that it is %q, and its manifest that it is %q", found, h.version.Pack))
	}
}

// take sorts a trusted statement about the artifact into its list.
func (h *holding) take(v *attest.Verified, source []byte) error {
	switch v.Statement.Type {
	case statement.TypeSummary:
		s, err := summaryOf(v, source)
		if err != nil {
			return err
		}
		h.summaries = append(h.summaries, s)
	case statement.TypeState:
		s, err := v.Statement.State()
		if err != nil {
			return err
		}
		h.states = append(h.states, StateRecord{State: s.State, Reason: s.Reason, Actor: s.Actor, Signing: signing(v, s.Time)})
	case statement.TypePin:
		p, err := v.Statement.Pin()
		if err != nil {
			return err
		}
		h.pins = append(h.pins, pinRecord(p.Move, v))
		last := &h.pins[len(h.pins)-1]
		last.Replay, last.Accept, last.Runs = p.Replay, p.Accept, p.Bundle
	case statement.TypeStop:
		p, err := v.Statement.Stop()
		if err != nil {
			return err
		}
		h.pins = append(h.pins, pinRecord(p.Move, v))
		h.pins[len(h.pins)-1].Stopped = true
	default:
		return fmt.Errorf("type %q %w", v.Statement.Type, errOtherType)
	}
	h.bundles = append(h.bundles, v.Digest)
	return nil
}

func pinRecord(m statement.Move, v *attest.Verified) PinRecord {
	return PinRecord{
		Environment: m.Environment, Previous: m.Previous, Actor: m.Actor, Reason: m.Reason,
		By: m.By, Commit: m.Commit, Approvals: m.Approvals, Signing: signing(v, m.Time),
	}
}

// signing returns how a statement was signed, which says its time itself.
func signing(v *attest.Verified, said time.Time) Signing {
	return Signing{Signer: v.Signer, Time: signedAt(v, said), Bundle: v.Digest}
}

// signedAt returns when a statement was signed: the time that a service vouches
// for, and the signer's own where there is no such service.
func signedAt(v *attest.Verified, said time.Time) time.Time {
	if v.Time.IsZero() {
		return said
	}
	return v.Time
}
