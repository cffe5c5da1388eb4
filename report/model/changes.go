package model

import "slices"

// SurfaceRow is one tool that some request of an intent can have (tool surface; compiler, C4).
type SurfaceRow struct {
	Intent       string         `json:"intent"`
	Capability   string         `json:"capability"` // adapter.capability
	ApprovalMode string         `json:"approval_mode"`
	Gates        []string       `json:"gates"`
	Bounds       map[string]any `json:"arg_constraints"`
	// SafetyMode is the weakest one of a session that can have the tool.
	SafetyMode string `json:"safety_mode"`
	// Ungated is the smallest request that has the tool with no gate active, if there is one.
	Ungated map[string]any `json:"ungated,omitempty"`
	// Available are the requests that have the tool, and Open those that have it with no gate
	// active; both are said of the first version of a pack alone.
	Available *When  `json:"available,omitempty"`
	Open      *When  `json:"open,omitempty"`
	NotProved string `json:"not_proved,omitempty"` // what is open about the row
}

// SurfaceChange is one row that differs between two versions.
type SurfaceChange struct {
	Intent     string          `json:"intent"`
	Capability string          `json:"capability"`
	Kind       string          `json:"kind"`    // added, removed or changed
	Verdict    string          `json:"verdict"` // grew, shrank, equal, incomparable or undecided
	Old        *SurfaceRow     `json:"old,omitempty"`
	New        *SurfaceRow     `json:"new,omitempty"`
	Aspects    []SurfaceAspect `json:"aspects,omitempty"` // in what the row differs
	Witness    map[string]any  `json:"witness,omitempty"` // a request that shows what grew
	// Open says that requests have the tool with no gate active, and none had before.
	Open bool `json:"open,omitempty"`
	// Gained, Lost and Moved are the golden cases that have the tool now, no more, or otherwise.
	Gained    []string `json:"gained,omitempty"`
	Lost      []string `json:"lost,omitempty"`
	Moved     []string `json:"moved,omitempty"`
	NotProved string   `json:"not_proved,omitempty"`
}

// SurfaceAspect is one thing in which a row differs. Old and New are what the row
// says of it; both are the same where only conditions of rules or gates differ.
type SurfaceAspect struct {
	What      string         `json:"what"`           // requests, mode, sessions, gate, ungated or bound
	Name      string         `json:"name,omitempty"` // of the gate or the argument
	Old       string         `json:"old,omitempty"`
	New       string         `json:"new,omitempty"`
	Verdict   string         `json:"verdict"`
	Words     string         `json:"words,omitempty"`
	Witness   map[string]any `json:"witness,omitempty"`
	NotProved string         `json:"not_proved,omitempty"`
}

// Loosened is a change that weakens a guardrail.
type Loosened struct {
	What    string         `json:"what"`
	Verdict string         `json:"verdict"` // grew, incomparable, or undecided where it is not proved
	Witness map[string]any `json:"witness,omitempty"`
	Change  Change         `json:"change"`
}

// Environment is what a change brings to one environment of a pack: by its overlays and its
// catalog, and beside what the pack itself brings to all.
type Environment struct {
	Environment string `json:"environment"`
	// Class is that of all that changes there, of the pack too. No version is held against
	// it: it says who has to look at the change.
	Class string `json:"class"`
	// Changes are those of the pack with its overlays that the pack itself does not have,
	// and those of the catalog, whose rows begin with "catalog.".
	Changes  []Change   `json:"changes,omitempty"`
	Loosened []Loosened `json:"loosened,omitempty"`
	Effects  []Effect   `json:"effects,omitempty"`
	// NotCompared says why the pack with its overlays was not compared.
	NotCompared string `json:"not_compared,omitempty"`
}

// EnvironmentVerdict is how the pack comes out in one environment: with the overlays of it, held
// against its catalog.
type EnvironmentVerdict struct {
	Environment string `json:"environment"`
	Result      Result `json:"result"` // pass or fail, with what is wrong with the pack itself
	// Counts says that its errors are errors of the pack: it is pinned there, or nobody said
	// where it runs.
	Counts  bool   `json:"counts"`
	Version string `json:"version,omitempty"` // that is pinned there
	Errors  int    `json:"errors"`            // of the environment alone
}

// classes are the classes of changes, from the weakest to the strongest.
var classes = []string{"none", "patch", "minor", ClassInitial, "major", "reject"}

// ClassRank orders the classes of changes, the weakest first; an unknown one is before all.
func ClassRank(class string) int { return slices.Index(classes, class) }

// Changes returns the changes of all layers, in their order; none of no comparison.
func (d *Diff) Changes() (all []*Change) {
	if d == nil {
		return nil
	}
	for i := range d.Layers {
		for j := range d.Layers[i].Changes {
			all = append(all, &d.Layers[i].Changes[j])
		}
	}
	return all
}

// Changes returns what differs in the pack, and in its environments besides.
func (p *Pack) Changes() []*Change {
	all := p.Diff.Changes()
	for i := range p.Environments {
		for j := range p.Environments[i].Changes {
			all = append(all, &p.Environments[i].Changes[j])
		}
	}
	return all
}

// ChangeClass returns the class of the change that people have to look at: the highest of
// that of the pack and those of its environments; "" where nothing is compared.
func (p *Pack) ChangeClass() (class string) {
	class = p.Class
	if p.Diff != nil && (class == "" || ClassRank(p.Diff.Class) > ClassRank(class)) {
		class = p.Diff.Class
	}
	for _, e := range p.Environments {
		if ClassRank(e.Class) > ClassRank(class) {
			class = e.Class
		}
	}
	return class
}

// Effects returns what the change of the pack comes to: in every environment, and then in single ones.
func (p *Pack) Effects() (all []Effect) {
	if p.Diff != nil {
		all = p.Diff.Effects
	}
	for _, e := range p.Environments {
		all = slices.Concat(all, e.Effects)
	}
	return all
}

// Effect is one thing that is permitted otherwise for the requests of an intent.
type Effect struct {
	Intent  string `json:"intent"`
	Kind    string `json:"kind"` // decision, tool, gate, bounds, mode, stop or whole
	Subject string `json:"subject,omitempty"`
	Arg     string `json:"arg,omitempty"`
	Holder  string `json:"holder,omitempty"` // what is gated: decision or tool
	Verdict string `json:"verdict"`
	// Gained is what is permitted now and was not, Lost the other way round.
	Gained    *Shown   `json:"gained,omitempty"`
	Lost      *Shown   `json:"lost,omitempty"`
	Assumed   []string `json:"assumed,omitempty"` // variables taken to be single values
	NotProved string   `json:"not_proved,omitempty"`
}

// Proof is what is proved about what a change permits.
type Proof struct {
	Verdict   string   `json:"verdict"` // grew, shrank, equal, incomparable or undecided
	Gained    *Shown   `json:"gained,omitempty"`
	Lost      *Shown   `json:"lost,omitempty"`
	Assumed   []string `json:"assumed,omitempty"`
	NotProved string   `json:"not_proved,omitempty"`
}

// Flip is a request that the two versions decide otherwise.
type Flip struct {
	Intent  string         `json:"intent"`
	Kind    string         `json:"kind"` // decision or tool
	Subject string         `json:"subject"`
	Old     string         `json:"old"`
	New     string         `json:"new"`
	Verdict string         `json:"verdict"`
	Request map[string]any `json:"request"`
	From    string         `json:"from"` // where the request comes from
	Overlay string         `json:"overlay,omitempty"`
	Cases   []string       `json:"cases,omitempty"` // golden cases that flip so
}

// Shown is what is so in the new version, a request that shows it, and all requests for which
// it is so.
type Shown struct {
	What    string         `json:"what"`
	Request map[string]any `json:"request,omitempty"`
	When    *When          `json:"when,omitempty"`
	// Stopped says that the other of the two versions stops at these requests with an error, and
	// would decide them alike if it could.
	Stopped bool `json:"stopped,omitempty"`
}

// When is a set of requests of one intent as a condition: those for which one of the
// alternatives holds. The intent itself, the pack's own tenant and a sufficient safety mode are
// not said. An alternative without terms is every request; no alternative is none.
type When struct {
	Any [][]Term `json:"any"`
	// More says that there are requests beside these.
	More bool `json:"more,omitempty"`
	// NotProved says what is open: then the alternatives are examples.
	NotProved string `json:"not_proved,omitempty"`
}

// Every reports whether the condition is known, and holds for every request.
func (w *When) Every() bool { return w != nil && len(w.Any) == 1 && len(w.Any[0]) == 0 }

// Joint is something that is permitted more together with other packs, and not by the pack itself.
type Joint struct {
	With    []string       `json:"with"` // the others, as golden cases name them
	What    string         `json:"what"`
	Request map[string]any `json:"request,omitempty"`
}

// Guardrails are what a pack has agents refuse, hand over to people, and not show.
type Guardrails struct {
	Refuses   []string `json:"refuses,omitempty"`
	Escalates []string `json:"escalates,omitempty"`
	Redacts   []string `json:"redacts,omitempty"`
}

// Term is one condition on one variable, or on an expression that is taken as a whole: Code, in
// the notation of the rulebook, and Is, which follows it in plain words, where Code is no
// condition by itself: "5000 < refund_amount <= 8000" and "", or "identity_verified" and "is true".
type Term struct {
	Code string `json:"code"`
	Is   string `json:"is,omitempty"`
}

// GoldenBase is what a golden case came to in the version before.
type GoldenBase struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Hash    string `json:"hash,omitempty"`
	// Stage is the first stage of the compiler whose output differs, absent for none.
	Stage    string          `json:"stage,omitempty"`
	Tools    *ToolStep       `json:"tools,omitempty"`
	Tokens   []TokenStep     `json:"tokens,omitempty"`
	Sections []SectionChange `json:"sections,omitempty"`
}

// ToolStep lists the tools of a case that differ, as "adapter.capability".
type ToolStep struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
}

// TokenStep is how many tokens of a bucket are used before and now.
type TokenStep struct {
	Bucket string `json:"bucket"`
	Base   int    `json:"base"`
	Head   int    `json:"head"`
}

// SectionChange is one part of a compiled context that differs, and the changes of
// the pack that it came from. Old and New are the text of a block, and of any other
// part JSON; one of them is absent where there is nothing.
type SectionChange struct {
	Path    string  `json:"path"`
	Stage   string  `json:"stage"`
	Subject string  `json:"subject,omitempty"`
	Old     string  `json:"old,omitempty"`
	New     string  `json:"new,omitempty"`
	Causes  []Cause `json:"causes,omitempty"`
}

// FollowsFrom is what a finding would not be there without: another finding of the entry, by its
// fingerprint, or changes of the diff, by theirs.
type FollowsFrom struct {
	Finding string   `json:"finding,omitempty"`
	Changes []string `json:"changes,omitempty"`
}

// Cause is a change of the pack. Its place is in the new version, or with Gone in the old one.
type Cause struct {
	Path string `json:"path"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Gone bool   `json:"gone,omitempty"`
}
