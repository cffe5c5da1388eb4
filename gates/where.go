package gates

import (
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
)

// Where says in which environments a pack is pinned. The zero value knows nothing, and every
// environment counts.
type Where struct {
	stated bool                   // something says where packs run
	pinned map[string]repo.Pinned // by environment, in the head or else the base
	// gone says that the pack is pinned in an environment that is there no more; fresh are
	// those that take its place, for it may be one under another name.
	gone  bool
	fresh map[string]bool
}

// WhereOf returns where packs of some ids are pinned, by the environments of a head and of its
// base. What either says counts: a change that takes a pin away is none yet.
func WhereOf(head, base []*repo.Environment, ids ...string) Where {
	w := Where{pinned: map[string]repo.Pinned{}, fresh: map[string]bool{}}
	here := func(list []*repo.Environment, name string) bool {
		return slices.ContainsFunc(list, func(e *repo.Environment) bool { return e.Name() == name })
	}
	for _, e := range slices.Concat(head, base) {
		w.stated = w.stated || e.StatesPins()
		for _, id := range ids {
			pin, ok := e.Pinned(id)
			if _, known := w.pinned[e.Name()]; ok && id != "" && !known {
				w.pinned[e.Name()] = pin
				w.gone = w.gone || !here(head, e.Name())
			}
		}
	}
	for _, e := range head {
		w.fresh[e.Name()] = !here(base, e.Name())
	}
	return w
}

// PinningIn returns where a pack counts that is about to be pinned in an environment.
func PinningIn(environment string) Where {
	return Where{stated: true, pinned: map[string]repo.Pinned{environment: {}}}
}

// EnvironmentVerdict is how the pack comes out in one environment.
type EnvironmentVerdict struct {
	Environment string
	Version     string // that is pinned there; "" for none, or where it is not known
	Counts      bool   // its errors are errors of the pack
	Errors      int    // of the environment alone, without those of the pack itself
	Fails       bool   // the pack cannot be pinned there, be it for errors of its own
}

// verdicts returns how the pack comes out in each environment, in their order.
func (w Where) verdicts(environments []*repo.Environment, found []finding.Finding) (list []EnvironmentVerdict) {
	own, errors := 0, map[string]int{}
	for _, f := range found {
		if f.Severity == finding.Error && !f.Excused() {
			errors[f.Environment]++
		}
	}
	own = errors[""]
	delete(errors, "")
	names := []string{}
	for _, e := range environments {
		names = append(names, e.Name())
	}
	for _, f := range found { // overlays may be of an environment that has no catalog
		if f.Environment != "" {
			names = append(names, f.Environment)
		}
	}
	somewhere := slices.ContainsFunc(names, func(name string) bool { return errors[name] == 0 })
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		pin, pinned := w.pinned[name]
		counts := !w.stated || pinned || w.gone && (w.fresh[name] || !w.replaced()) || len(w.pinned) == 0 && !somewhere
		list = append(list, EnvironmentVerdict{name, pin.Version, counts, errors[name], own+errors[name] > 0})
	}
	return list
}

// replaced reports whether anything is there that may be an environment which is gone.
func (w Where) replaced() bool {
	for _, fresh := range w.fresh {
		if fresh {
			return true
		}
	}
	return false
}

// pinnable returns the findings with those errors as warnings that are of environments which
// do not count.
func (p Policy) pinnable(found []finding.Finding, verdicts []EnvironmentVerdict) []finding.Finding {
	out := slices.Clone(found)
	for i, f := range out {
		elsewhere := slices.ContainsFunc(verdicts, func(v EnvironmentVerdict) bool { return v.Environment == f.Environment && !v.Counts })
		if elsewhere && f.Severity == finding.Error && !f.Excused() {
			out[i] = p.judge(gate.ENV001, gate.NotPinnable(f))
		}
	}
	return out
}
