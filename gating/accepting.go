package gating

import (
	"context"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/repo"
)

// Recording is what packgate baseline write records. The days are YYYY-MM-DD.
type Recording struct {
	Owner, Reason, Expires, Today string
	Shrink                        bool   // adds nothing
	Renew                         string // a pack_id whose entries are recorded again; RenewAll for every one
	Warnings                      bool   // records warnings too
}

// RenewAll as [Recording.Renew] records all entries again.
const RenewAll = "all"

// Recorded is the new content of a baseline file, with what was decided on the way.
type Recorded struct {
	Entries []repo.Acceptance
	// Kept and Added count the findings that stay in the file and that are added to it, Gone the
	// entries that are removed.
	Kept, Added, Gone int
	// Left are the errors that no baseline can have, by pack file.
	Left []LeftOut
}

// LeftOut is an error that the baseline does not cover.
type LeftOut struct {
	File string // pack file, as messages show it
	finding.Finding
}

// Accepting gates all packs of a workspace, and returns the baseline file that accepts what is found
// in them. It returns an error if the work ended early or the inputs cannot be used; a pack that could
// not be gated is noted in the report.
func (r *Run) Accepting(ctx context.Context, in Inputs, rec Recording) (*Recorded, error) {
	if err := in.stillAccepted(r.Now()); err != nil {
		return nil, err
	}
	p, err := newPipeline(r, in)
	if err != nil {
		return nil, err
	}
	if err = p.identify(nil); err != nil {
		return nil, err
	}
	out := &Recorded{}
	err = p.each(ctx, in.Packs, func(name string) outcome {
		j, err := p.judge(ctx, name)
		return outcome{judged: j, err: err}
	}, func(i int, o outcome) {
		if o.err != nil {
			r.Fail(o.err)
			return
		}
		out.take(p, in.Files.Show(in.Packs[i]), o.judged, rec)
	})
	out.Gone = max(0, len(in.accepted.all)-out.keptEntries(in.accepted.all))
	return out, err
}

// stillAccepted takes over those entries of the baseline file that the policy allows. A file that was
// edited by hand is an error.
func (in *Inputs) stillAccepted(now time.Time) error {
	file, err := in.Files.Accepted()
	if err != nil || file == nil {
		return err
	}
	policy, err := in.policy(now)
	if err != nil {
		return err
	}
	wrong := policy.CheckAccepted(file, in.Config.WaiverDays())
	in.accepted.all = file.Entries
	for i := range file.Entries {
		e := &file.Entries[i]
		if !slices.ContainsFunc(wrong, func(p *repo.Problem) bool { return p.Location == e.Location }) {
			in.accepted.entries = append(in.accepted.entries, acceptedEntry{e, false})
		}
	}
	return nil
}

// keptEntries counts the entries of the old file that are in the new one, including those that were
// recorded again.
func (out *Recorded) keptEntries(old []repo.Acceptance) (n int) {
	for i := range old {
		if slices.ContainsFunc(out.Entries, func(e repo.Acceptance) bool {
			return e.SameFinding(&old[i])
		}) {
			n++
		}
	}
	return n
}

// take keeps the entries of a pack that are still needed, and adds entries for its other findings.
func (out *Recorded) take(p *pipeline, file string, j *judged, rec Recording) {
	if j.subject.Pack == nil {
		for _, f := range j.result.Findings {
			out.Left = append(out.Left, LeftOut{file, f})
		}
		return
	}
	id, now := j.subject.Pack.PackMeta.PackID.Value, newSide(j.subject)
	var own []repo.Acceptance
	defer func() { out.merge(own) }()
	for _, e := range p.accepted.entries {
		n := j.used[e.Seal]
		if e.Pack != id || n == 0 {
			continue
		}
		entry := *e.Acceptance
		if entry.Count = n; n == 1 {
			entry.Count = 0
		}
		if rec.Renew == RenewAll || rec.Renew == id {
			entry.Owner, entry.Reason, entry.Recorded, entry.Expires = rec.Owner, rec.Reason, rec.Today, rec.Expires
		}
		own, out.Kept = append(own, entry), out.Kept+n
	}
	for _, f := range j.result.Findings {
		wanted := f.Severity == finding.Error || rec.Warnings
		switch {
		case f.Excused() || !wanted:
		case !p.policy.Overlookable(f.Rule) || f.IsRest():
			if f.Severity == finding.Error {
				out.Left = append(out.Left, LeftOut{file, f})
			}
		case !rec.Shrink:
			out.Added++
			own = add(own, repo.Acceptance{
				Pack: id, Rule: f.Rule, Path: f.Location.Path, Finding: f.Kin(), Content: now.content(f),
				Recorded: rec.Today, Expires: rec.Expires, Owner: rec.Owner, Reason: rec.Reason,
			})
		}
	}
}

// add adds an entry to those of a pack file, or raises the count of an equal one, which is then recorded
// again.
func add(own []repo.Acceptance, e repo.Acceptance) []repo.Acceptance {
	if i := slices.IndexFunc(own, func(old repo.Acceptance) bool { return old.SameFinding(&e) }); i >= 0 {
		e.Count = own[i].Most() + 1
		own[i] = e
		return own
	}
	return append(own, e)
}

// merge adds the entries of a pack file. If several files of a pack have an entry in common, it counts as
// many findings as the file that has the most.
func (out *Recorded) merge(own []repo.Acceptance) {
	for _, e := range own {
		i := slices.IndexFunc(out.Entries, func(old repo.Acceptance) bool { return old.SameFinding(&e) })
		switch {
		case i < 0:
			out.Entries = append(out.Entries, e)
		case out.Entries[i].Most() < e.Most():
			out.Entries[i] = e
		}
	}
}
