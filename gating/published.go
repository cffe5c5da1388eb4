package gating

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Release is a version of a pack that a registry holds.
type Release struct {
	Version  string
	Manifest string // its digest in the registry
	Content  []byte // of the pack file
	// Commit and Path are where the pack file was read in a git repository; "" if not known.
	Commit, Path string
}

// compare compares a pack with the version of the baseline, or with the newest published version if
// neither the baseline nor the commits before it have one that can be read.
func (p *pipeline) compare(ctx context.Context, u *repo.Unit) (Comparison, error) {
	c, err := p.Base.Compare(ctx, u, p.overrides)
	if err != nil || !c.searched || c.File != "" || p.lookup == nil || !named(u) {
		return c, err
	}
	r, unasked, err := p.newest(ctx, u)
	switch {
	case err != nil:
		return Comparison{}, err
	case r != nil:
		return c.with(p.Base, u, r, p.overrides)
	case c.unread != nil:
		c.unread.Unasked = unasked
	}
	return c, nil
}

// newest returns the newest published version of a pack; nil if there is none. Unasked is why that is
// not known.
func (p *pipeline) newest(ctx context.Context, u *repo.Unit) (r *Release, unasked string, err error) {
	if p.lookup.Last == nil {
		return nil, p.lookup.Silent, nil
	}
	r, err = p.lookup.Last(ctx, u.Pack.PackMeta.PackID.Value, "")
	if stopped := ctx.Err(); stopped != nil {
		return nil, "", stopped
	}
	if err != nil {
		return nil, err.Error(), nil
	}
	return r, "", nil
}

// with compares a pack with a published version, because no commit has one.
func (c Comparison) with(b *Baseline, u *repo.Unit, r *Release, overrides []diffing.Override) (Comparison, error) {
	base, fault := r.read(u.Name, b.w.Config.Limits)
	c.absent = c.unread == nil
	if c.absent {
		c.unread = &version.Unread{File: u.Document.File, What: "neither the base nor the commits before it have this pack"}
	}
	if fault != "" {
		c.unread.Unasked, c.unread.Otherwise = fault, "it is judged as a first version (class initial)"
		return c, nil
	}
	c.unread.Published, c.Reason = r.Version, ""
	c.File, c.published = u.Name, r
	return c, c.between(base.Pack, u.Pack, overrides, b.w.Environments)
}

// read reads a published version as the pack file of a name; the fault is the first one that keeps it
// from being read completely, "" for none.
func (r *Release) read(name string, limits pack.Limits) (u *repo.Unit, fault string) {
	document, faults := pack.Read(r.Version, r.Content, limits)
	document.Revision = r.Manifest
	u = &repo.Unit{Name: name}
	u.Use(document, faults)
	switch {
	case len(faults) > 0:
		return u, fmt.Sprintf("version %s cannot be read: %s", r.Version, faults[0].Message)
	case u.Pack == nil:
		return u, fmt.Sprintf("version %s cannot be read: its root is not an object", r.Version)
	}
	return u, ""
}

// released finds what a pack proves less than its last published version, so that small steps since
// then add up. What the base lost already is a warning: it was reported and approved when it came into
// the base.
func (p *pipeline) released(ctx context.Context, j *judged) (found []finding.Finding, missed []finding.NotChecked, err error) {
	if p.Base == nil || p.lookup == nil || p.lookup.Last == nil || !named(j.subject.Unit) {
		return nil, nil, nil
	}
	r, meta := j.compared.published, &j.subject.Pack.PackMeta
	if r == nil {
		r, err = p.lookup.Last(ctx, meta.PackID.Value, meta.PackVersion.Value)
	}
	if stopped := ctx.Err(); stopped != nil {
		return nil, nil, stopped
	}
	if err != nil {
		return nil, []finding.NotChecked{version.NotSince(fmt.Sprintf("the last published version is not known: %v", err))}, nil
	}
	if r == nil || r.Commit == p.Base.Tree.SHA() {
		return nil, nil, nil
	}
	before, reason := p.Base.release(ctx, r)
	if reason != "" {
		missed = append(missed, version.NotSince(fmt.Sprintf("which files were beside version %s when it was published is not known: %s", r.Version, reason)))
	}
	if before == nil {
		return nil, missed, nil
	}
	told, lost := fingerprints(gates.Lost(j.subject)), map[string]bool{}
	if j.before != nil {
		lost = fingerprints(gates.Lost(j.before.Against(before)))
	}
	for _, f := range gates.Lost(j.subject.Against(before)) {
		if told[f.Fingerprint()] {
			continue
		}
		if lost[f.Fingerprint()] {
			found = append(found, version.LostBefore(since(f, r.Version)))
			continue
		}
		found = append(found, since(f, r.Version))
	}
	return found, missed, nil
}

func fingerprints(list []finding.Finding) map[string]bool {
	all := map[string]bool{}
	for _, f := range list {
		all[f.Fingerprint()] = true
	}
	return all
}

// since turns a finding whose messages are about the base into one about a published version.
func since(f finding.Finding, published string) finding.Finding {
	name := "version " + published
	f.Message = fmt.Sprintf("since version %s was published: %s", published, strings.ReplaceAll(f.Message, "the base", name))
	f.Key += "\npublished"
	f.Related = append([]finding.Related{}, f.Related...)
	for i := range f.Related {
		f.Related[i].Message = strings.ReplaceAll(f.Related[i].Message, "the base", name)
	}
	return f
}

// release reads a published version as rules look at it, with the files that were beside it in the
// commit that it was published from. The reason is why these are not known: then the result has only
// the pack, and is nil if that cannot be read.
func (b *Baseline) release(ctx context.Context, r *Release) (before *gate.Subject, reason string) {
	name, inside := r.Path, true
	if b.Commit != nil {
		name, inside = b.Relative(r.Path)
	}
	switch {
	case b.Commit == nil:
		reason = "it is judged outside a git repository"
	case r.Commit == "" || r.Path == "":
		reason = "its statement names no commit"
	case !inside:
		reason = fmt.Sprintf("%s is outside this repository", r.Path)
	default:
		if before, reason = b.releaseIn(ctx, r, name); reason == "" {
			return before, ""
		}
	}
	unit, fault := r.read(name, b.w.Config.Limits)
	if fault != "" {
		return nil, fault
	}
	return b.w.Subject(unit), reason
}

// releaseIn reads a published version in the commit that it was published from.
func (b *Baseline) releaseIn(ctx context.Context, r *Release, name string) (*gate.Subject, string) {
	c, err := b.commit(ctx, r.Commit)
	if err != nil {
		return nil, fmt.Sprintf("this clone does not have commit %.7s, from which it was published (`fetch-depth: 0` on actions/checkout fetches all): %v", r.Commit, err)
	}
	before, lacks, err := b.whole(c, name)
	switch {
	case err != nil:
		return nil, err.Error()
	case lacks != nil:
		return nil, lacks.why
	case before.Pack == nil || !bytes.Equal(before.Unit.Document.Source, r.Content):
		return nil, fmt.Sprintf("%s in commit %.7s is a different pack", r.Path, r.Commit)
	}
	return before, ""
}

// commit returns another commit of the baseline's repository.
func (b *Baseline) commit(ctx context.Context, sha string) (*Commit, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	tree, err := b.Open(ctx, sha)
	if err != nil {
		return nil, err
	}
	return b.At(tree).Commit, nil
}
