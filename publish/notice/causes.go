package notice

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
)

// Place is a pack in an environment.
type Place struct{ Pack, Environment string }

// World is what is looked at for causes.
type World struct {
	Registry     string           // its name
	Audited      *publish.Audited // nil where no registry was looked at
	Counts       func(publish.AuditFinding) bool
	Running      map[Place]*publish.Running
	Environments []*repo.Environment
	Config       *repo.Config
	Now          time.Time
}

// Places returns the packs and environments of which has to be known what runs there: those of the
// catalogs, and those of signed records. They are sorted, each once.
func (w *World) Places() (places []Place) {
	if w.Audited == nil {
		return nil
	}
	seen := map[Place]bool{}
	for _, packID := range w.Audited.Packs {
		for _, e := range w.Environments {
			if e.Environment.Value != "" {
				seen[Place{packID, e.Environment.Value}] = true
			}
		}
	}
	for _, v := range w.Audited.Verdicts {
		for _, p := range v.Pins {
			seen[Place{v.Pack, p.Environment}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Environment, b.Environment))
	})
}

// Causes returns all causes, the most urgent first.
func (w *World) Causes() []Cause {
	return slices.Concat(w.revocations(), w.auditFailures(), w.soaks(), w.waivers())
}

// Known reports whether a cause that is not among Causes has ended, as far as its key says what it is
// about: that it was looked for, and could have been seen.
func (w *World) Known(key string) bool {
	kind, packID, more, ok := readKey(key)
	switch {
	case !ok:
		return false
	case kind == WaiverEnds:
		return true
	case w.Audited == nil:
		return false
	case kind == AuditFailure && packID == "":
		return true
	case !slices.Contains(w.Audited.Packs, packID) || w.Audited.Unseen[packID] != nil:
		return false
	case kind == Revocation: // of which the registry must not lose the record
		return len(more) == 2 && slices.ContainsFunc(w.Audited.Verdicts, func(v *publish.Verdict) bool {
			return v.Pack == packID && v.Manifest == more[1] && revocation(v) != nil
		})
	case kind == SoakDone:
		return len(more) == 1 && w.toldApart(packID, more[0])
	}
	return true
}

// toldApart reports whether it is known what an environment and the one before it run.
func (w *World) toldApart(packID, environment string) bool {
	e := w.catalog(environment)
	if e == nil {
		return true // there is nothing to wait for any more
	}
	return runs(w.Running[Place{packID, environment}]) && runs(w.Running[Place{packID, e.Promote.From.Value}])
}

// runs reports whether it can be told what is running, be it nothing.
func runs(r *publish.Running) bool {
	return r != nil && (r.Verdict == nil || r.Verdict.Status == publish.Usable || r.Verdict.Status == publish.Deprecated || r.Verdict.Status == publish.Revoked)
}

// catalog returns the catalog that says when a version may be pinned in an environment; nil where none
// lets it soak.
func (w *World) catalog(environment string) *repo.Environment {
	for _, e := range w.Environments {
		if e.Environment.Value == environment && e.Promote.From.OK && e.Promote.SoakTime() > 0 {
			return e
		}
	}
	return nil
}

// revocations are causes for as long as an environment runs the version, and for a while in any case.
func (w *World) revocations() (causes []Cause) {
	if w.Audited == nil {
		return nil
	}
	for _, v := range w.Audited.Verdicts {
		state := revocation(v)
		if state == nil {
			continue
		}
		var environments []string
		for place, r := range w.Running {
			if place.Pack == v.Pack && r.Verdict != nil && r.Verdict.Manifest == v.Manifest {
				environments = append(environments, place.Environment)
			}
		}
		slices.Sort(environments)
		if len(environments) == 0 && w.Now.After(state.Time.Add(Ahead)) {
			continue
		}
		c := Cause{Time: state.Time, key: []string{v.Version, v.Manifest}, Data: Data{
			Notice: Revocation, State: Standing, Registry: w.Registry, Pack: v.Pack, Version: v.Version, Digest: v.Manifest, Statement: state.Bundle,
			Environments: environments, Since: stamp(state.Time),
		}}
		c.Title, c.Body = c.revoked(*state)
		causes = append(causes, c)
	}
	return causes
}

// revocation returns the record that revoked a version; nil for none.
func revocation(v *publish.Verdict) *publish.StateRecord {
	at := slices.IndexFunc(v.States, func(s publish.StateRecord) bool { return s.State == statement.StateRevoked })
	if at < 0 {
		return nil
	}
	return &v.States[at]
}

// auditFailures are one cause for each pack, and one for what is about no pack.
func (w *World) auditFailures() (causes []Cause) {
	if w.Audited == nil {
		return nil
	}
	found := map[string][]Finding{}
	for _, f := range w.Audited.Findings {
		if w.Counts(f) {
			found[f.Pack] = append(found[f.Pack], Finding{Check: string(f.Kind), Version: f.Version, Digest: f.Digest, message: f.Message, hint: f.Hint})
		}
	}
	for _, packID := range slices.Sorted(maps.Keys(found)) {
		findings := found[packID]
		slices.SortFunc(findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.message, b.message))
		})
		c := Cause{Data: Data{Notice: AuditFailure, State: Standing, Registry: w.Registry, Pack: packID, Findings: findings}}
		c.Title, c.Body = c.failed()
		causes = append(causes, c)
	}
	return causes
}

// soaks are causes where a version has been pinned for as long as the catalog of the next environment
// asks for, and is not pinned there. One that was just taken back there is none.
func (w *World) soaks() (causes []Cause) {
	if w.Audited == nil {
		return nil
	}
	for _, place := range w.Places() {
		e := w.catalog(place.Environment)
		if e == nil || w.Audited.Unseen[place.Pack] != nil {
			continue
		}
		before, there := w.Running[Place{place.Pack, e.Promote.From.Value}], w.Running[place]
		if !runs(before) || !runs(there) || before.Verdict == nil || before.Verdict.Status != publish.Usable || before.Since.IsZero() {
			continue
		}
		done, v := before.Since.Add(e.Promote.SoakTime()), before.Verdict
		switch {
		case w.Now.Before(done):
			continue
		case there.Verdict != nil && there.Verdict.Content == v.Content:
			continue
		case there.Last != nil && there.Last.By == statement.ByRollback && there.Last.Previous == v.Manifest:
			continue
		}
		c := Cause{Time: done, key: []string{place.Environment}, Data: Data{
			Notice: SoakDone, State: Standing, Registry: w.Registry, Pack: place.Pack, Version: v.Version, Content: v.Content,
			Environment: place.Environment, From: e.Promote.From.Value, Since: stamp(before.Since),
		}}
		c.Title, c.Body = c.soaked(done)
		causes = append(causes, c)
	}
	return causes
}

// waivers are causes from two weeks before their last day on, until they are moved or removed.
func (w *World) waivers() (causes []Cause) {
	soon := w.Now.UTC().Add(Ahead).Format(time.DateOnly)
	last := map[string]*repo.Waiver{} // the one that ends last, of those that excuse the same
	for i := range w.Config.Waivers.Items {
		one := &w.Config.Waivers.Items[i]
		if key := waiverID(one); last[key] == nil || last[key].Expires.Value < one.Expires.Value {
			last[key] = one
		}
	}
	for _, id := range slices.Sorted(maps.Keys(last)) {
		one := last[id]
		if one.Expires.Value > soon {
			continue
		}
		c := Cause{key: []string{id}, Data: Data{
			Notice: WaiverEnds, State: Standing, Pack: one.Pack.Value, Rule: one.Rule.Value, Waiver: id, Expires: one.Expires.Value,
		}}
		c.Title, c.Body = c.ending(one)
		causes = append(causes, c)
	}
	return causes
}

// waiverID returns what tells a waiver from others: what it excuses.
func waiverID(w *repo.Waiver) string {
	return digestOf(16, w.Rule.Value, w.Pack.Value, w.Path.Value, w.Of.Value)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
