package diffing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/proof"
)

// Proof is what a proof over all requests says about a change: what the two
// packs permit as a whole, as far as this change has to do with it (version
// classes: how a policy change is judged).
type Proof struct {
	// Verdict says how what is permitted now is to what was permitted before.
	Verdict proof.Verdict
	// Gained is a small request for which more is permitted than before, Lost one
	// for which less is, as data of conditions; nil where there is none or none is
	// known. GainedWhat and LostWhat say in words what is so in the head.
	Gained, Lost         map[string]any
	GainedWhat, LostWhat string
	// GainedWhen and LostWhen say for which requests it is so, nil where that is not known.
	GainedWhen, LostWhen *proof.When
	// Assumed names the variables that the claim takes to be single values, sorted.
	Assumed []string
	// Reason says what is not proved: for Undecided whether more is permitted, else
	// whether less is. It is empty where nothing is left open.
	Reason string

	// Unstopped says that Gained is a request at which base stops, and that it would
	// be permitted the same however its unknown conditions turned out: that is no growth.
	Unstopped bool

	stops bool // all that differs is whether a request is denied or stopped
	grown bool // something was gained that has no class of its own
}

// add takes in what another proof says about the same change.
func (p *Proof) add(other Proof) {
	verdicts := []proof.Change{{Verdict: p.Verdict}, {Verdict: other.Verdict}}
	switch {
	case p.released() && other.grew():
		verdicts = verdicts[1:]
	case p.grew() && other.released():
		verdicts = verdicts[:1]
	}
	if other.grew() && !p.grew() {
		p.Gained = nil // of requests that stopped
	}
	if p.Gained == nil {
		p.Gained, p.GainedWhat, p.GainedWhen = other.Gained, other.GainedWhat, other.GainedWhen
	}
	if p.Lost == nil {
		p.Lost, p.LostWhen = other.Lost, other.LostWhen
		p.LostWhat = cmp.Or(other.LostWhat, p.LostWhat)
	}
	p.grown, p.Unstopped = p.grown || other.grown, p.Unstopped || other.Unstopped
	if p.Verdict == proof.Equal {
		p.stops = other.stops
	}
	p.stops = p.stops && (other.stops || other.Verdict == proof.Equal)
	p.Reason = cmp.Or(p.Reason, other.Reason)
	p.Assumed = append(p.Assumed, other.Assumed...)
	slices.Sort(p.Assumed)
	p.Assumed = slices.Compact(p.Assumed)
	p.Verdict = proof.Overall(verdicts)
}

// released reports whether the only difference is that requests which stopped in the base
// no longer stop.
func (p *Proof) released() bool {
	return p.Verdict == proof.Shrank && p.Unstopped && p.LostWhat == ""
}

func (p *Proof) grew() bool { return p.Verdict == proof.Grew || p.Verdict == proof.Incomparable }

// class is the class that a proof alone gives; ok is false where it decides
// nothing.
func (p *Proof) class() (c Class, ok bool) {
	switch p.Verdict {
	case proof.Equal:
		return Patch, true
	case proof.Shrank:
		return Minor, true
	case proof.Grew, proof.Incomparable:
		return Major, true
	}
	return None, false
}

// words says what is proved, as the reason of a class.
func (p *Proof) words() string {
	switch p.Verdict {
	case proof.Equal:
		return "proved: the same is permitted" + p.taking()
	case proof.Shrank:
		if p.Unstopped && p.LostWhat == "" {
			return "proved: no more is permitted, and requests that stopped are not stopped any more: " + p.GainedWhat + p.taking()
		}
		if p.LostWhat == "" {
			return "proved: no more is permitted" + p.taking()
		}
		return "proved: less is permitted: " + p.LostWhat + p.taking()
	case proof.Grew:
		return "proved: more is permitted: " + p.GainedWhat
	case proof.Incomparable:
		if p.stops {
			return "proved: a denial became a stop, or a stop a denial: " + joined("; ", p.GainedWhat, p.LostWhat)
		}
		return "proved: more is permitted: " + p.GainedWhat + "; and less: " + p.LostWhat
	}
	return "not proved: " + strings.Replace(p.Reason, " is not proved: ", ": ", 1)
}

// taking names what a claim about all requests takes for granted.
func (p *Proof) taking() string {
	if len(p.Assumed) == 0 {
		return ""
	}
	return fmt.Sprintf(", if %s is a single value", strings.Join(p.Assumed, " and "))
}

func joined(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), between)
}
