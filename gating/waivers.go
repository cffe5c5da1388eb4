package gating

import (
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/waivers"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// strayWaivers returns an error for waivers, and for entries of the baseline file, whose packs the
// repository does not have, once all its packs were gated: nothing else would ever report them. A pack
// that could not be read may be any. Of several shards the first one reports them for all, and looks at
// the packs of the others too.
func (r *Run) strayWaivers(in Inputs) error {
	if !in.whole || len(in.later().Waivers.Items)+len(in.accepted.all) == 0 || in.Shard.Index > 1 || in.Shard.Whole() && r.Broken != 0 {
		return nil
	}
	var all []*repo.Waiver
	for i := range in.later().Waivers.Items {
		all = append(all, &in.later().Waivers.Items[i])
	}
	strays := func(refs []string) error { return append(stray(all, refs), in.accepted.stray(refs)...).Err() }
	if !in.Shard.Whole() && strays(in.known().ids()) == nil {
		return nil // packs that a glance sees already are all that there have to be
	}
	refs, err := r.refs(in)
	if err != nil || slices.Contains(refs, "") {
		return err
	}
	return strays(refs)
}

// stray returns an error for each waiver whose pattern matches no pack of the repository; refs are
// these packs as pack_id@version.
func stray(list []*repo.Waiver, refs []string) (problems repo.Problems) {
	for _, w := range list {
		if !slices.ContainsFunc(refs, func(ref string) bool { return w.For(idOf(ref)) }) {
			problem := repo.Problemf("remove it, or correct its pack", "the waiver is for the pack %q, which is not in this repository", w.Pack.Value)
			problem.Location = w.Pack.Node.Location()
			problems = append(problems, problem)
		}
	}
	return problems
}

// later returns the config that is in force once the change is merged: its errors should be known
// before, and what it corrects is no longer wrong.
func (in Inputs) later() *repo.Config {
	if in.own != nil {
		return in.own
	}
	return in.Config
}

// idOf returns the pack_id of pack_id@version.
func idOf(ref string) string {
	id, _, _ := strings.Cut(ref, "@")
	return id
}

// brought returns the waivers that the change adds, widens or prolongs.
func (in Inputs) brought() []*repo.Waiver {
	switch {
	case in.own == nil:
		return nil
	case in.inForce.Unusable != nil:
		return repo.NewWaivers(repo.DefaultConfig(), in.own)
	}
	return repo.NewWaivers(in.Config, in.own)
}

// leaves reports whether the change removes or alters a waiver that is in force.
func (in Inputs) leaves(w *repo.Waiver) bool {
	return in.own != nil && !slices.ContainsFunc(in.own.Waivers.Items, func(own repo.Waiver) bool { return own.Same(w) })
}

// leaving tells the waivers that the change removes or alters from others, for the cache.
func (in Inputs) leaving() string {
	var gone []string
	for i := range in.Config.Waivers.Items {
		if w := &in.Config.Waivers.Items[i]; in.leaves(w) {
			gone = append(gone, w.Words(), w.Expires.Value)
		}
	}
	return fields(gone...)
}

// outlasted returns findings about waivers that the change adds, widens or prolongs and that end too
// late by the config in force, or have ended already.
func (in Inputs) outlasted(now time.Time) (found []about) {
	last, today := in.Config.LastWaiverDay(now), now.UTC().Format(time.DateOnly)
	for _, w := range in.brought() {
		switch {
		case w.Expires.Value > last:
			found = append(found, about{"", waivers.Long(w, in.Config.WaiverDays(), last, finding.Error)})
		case waivers.Expired(w, today):
			found = append(found, about{"", waivers.Ended(w)})
		}
	}
	return found
}

// unused reports waivers for a pattern of packs, waivers that the change brings, and entries of the
// baseline file for a pack that several files have, if none of their packs needs them. It is called once
// all packs of the repository were gated: they are those of the report from an index on.
func (r *Run) unused(in Inputs, from int) {
	if !in.whole || !in.Shard.Whole() || r.Broken != 0 {
		return
	}
	today := r.Now().UTC().Format(time.DateOnly)
	found := slices.Concat(r.staleShared(in, from), r.needless(in, from, today))
	for i := range in.Config.Waivers.Items {
		w := &in.Config.Waivers.Items[i]
		if !w.Glob() || waivers.Expired(w, today) || in.leaves(w) {
			continue
		}
		rule, _ := gates.Find(w.Rule.Value)
		if use := UseOf(w, r.Report.Packs, from); len(use.Packs) > 0 && use.Findings == 0 && use.Checked {
			found = append(found, waivers.Unused(w, rule))
		}
	}
	if len(found) > 0 {
		r.Add(build.NewRepository(in.Files.Show("."), finding.Sort(found)))
	}
}

// needless reports the waivers that the change brings and that excuse nothing once it is merged: it is
// the last one that can pass with them. One of a rule that compares with the base is for a change to
// come, and what else differs in the config may make the finding that a waiver is for, so that it is
// only a warning then.
func (r *Run) needless(in Inputs, from int, today string) (found []finding.Finding) {
	brought := in.brought()
	if len(brought) == 0 {
		return nil
	}
	more := in.inForce.Unusable != nil || slices.ContainsFunc(repo.CompareConfigs(in.Config, in.own), func(c repo.ConfigChange) bool { return c.Path != "waivers" })
	for _, w := range brought {
		rule, _ := gates.Find(w.Rule.Value)
		if rule.Ratchet || waivers.Expired(w, today) {
			continue
		}
		if use := UseOf(w, r.Report.Packs, from); len(use.Packs) == 0 || use.Covered > 0 || !use.Checked {
			continue
		}
		f := waivers.Unused(w, rule)
		if more {
			f.Severity = finding.Warning
		}
		found = append(found, f)
	}
	return found
}

// staleShared reports the entries of the baseline file for a pack that several files have, if none of the
// files has the finding as it was.
func (r *Run) staleShared(in Inputs, from int) (found []finding.Finding) {
	packs, files := r.Report.Packs, map[string][]int{}
	for i := from; i < packs.Len(); i++ {
		if b := packs.Brief(i); b.Kind == "" {
			files[idOf(b.Pack)] = append(files[idOf(b.Pack)], i)
		}
	}
	policy, err := in.policy(r.Now())
	if err != nil {
		return nil // gating the packs reported it
	}
	for _, e := range in.accepted.entries {
		own := files[e.Pack]
		if len(own) < 2 || policy.Ended(e.Expires) {
			continue
		}
		rule, g := gates.Find(e.Rule)
		if !slices.ContainsFunc(own, func(i int) bool { return excusedBy(e, packs.At(i)) || !checkedIn(packs.At(i), rule, g) }) {
			found = append(found, waivers.StaleEntry(e.Acceptance, 0, false))
		}
	}
	return policy.JudgeAlone(found)
}

// excusedBy reports whether a pack of a report has a finding that an entry excuses.
func excusedBy(e acceptedEntry, p *model.Pack) bool {
	return slices.ContainsFunc(p.Findings, func(f model.Finding) bool {
		return f.Accepted != nil && f.Rule == e.Rule && (f.Fingerprint == e.Finding || f.Path == e.Path)
	})
}

// Use is how a waiver is used.
type Use struct {
	Packs    []string // the pack_ids of the packs that it is for
	Findings int      // how many findings it excuses
	Covered  int      // how many findings it is about, whatever excuses them
	Checked  bool     // its rule was checked completely on all of these packs
}

// UseOf returns how a waiver is used by the packs of a report, from an index on.
func UseOf(w *repo.Waiver, packs model.Packs, from int) (u Use) {
	rule, g := gates.Find(w.Rule.Value)
	u.Checked = true
	for i := from; i < packs.Len(); i++ {
		b := packs.Brief(i)
		if b.Kind != "" || !w.For(idOf(b.Pack)) {
			continue
		}
		p := packs.At(i)
		u.Packs = append(u.Packs, idOf(b.Pack))
		for j := range p.Findings {
			if f := &p.Findings[j]; waivers.Covers(w, lookedUp(f)) {
				u.Covered++
				if f.Waived != nil {
					u.Findings++
				}
			}
		}
		u.Checked = u.Checked && checkedIn(p, rule, g)
	}
	return u
}

// lookedUp returns the parts of a finding of a report that a waiver looks at.
func lookedUp(f *model.Finding) finding.Finding {
	return finding.Finding{Rule: f.Rule, Name: f.Name, Thing: finding.Thing{Name: f.Thing}, Location: finding.Location{Path: f.Path}}
}

// checkedIn reports whether a rule was checked completely on a pack of a report, and everything that it
// found is listed. A rule outside the eight gates counts as not checked.
func checkedIn(p *model.Pack, r *gate.Rule, g *gate.Gate) bool {
	rest := finding.AsRest(finding.Finding{Rule: r.ID}).Fingerprint()
	return slices.ContainsFunc(p.Gates, func(one model.Gate) bool { return one.Gate == g.ID && one.Reason == "" }) &&
		!slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return f.Fingerprint == rest }) &&
		!slices.ContainsFunc(p.NotChecked, func(n finding.NotChecked) bool { return n.Rule == r.ID })
}
