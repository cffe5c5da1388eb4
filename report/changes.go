package report

import (
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/proof"
)

// Comparison is all that is known of the step from a pack's baseline. The zero
// value is for a pack that has none, apart from Surface, which it may have too.
type Comparison struct {
	Diff     *diffing.Diff
	Surface  *surface.Diff
	Loosened []surface.Loosening
	Compiles []compiles.Case
	Flips    flips.Result
	// Fixed are the findings of the baseline that the pack has no more, and Before
	// is what they were found in, nil where they are not known.
	Fixed  []finding.Finding
	Before *gate.Subject
	// Playground asks for what a page needs to compile the pack.
	Playground bool
}

// SurfaceRow is one row of a pack's tool surface: a tool that some request of an
// intent can have (tool surface; compiler, C4).
type SurfaceRow struct {
	Intent       string         `json:"intent"`
	Capability   string         `json:"capability"` // adapter.capability
	ApprovalMode string         `json:"approval_mode"`
	Gates        []string       `json:"gates"`
	Bounds       map[string]any `json:"arg_constraints"`
	// SafetyMode is the weakest one of a session that can have the tool.
	SafetyMode string `json:"safety_mode"`
	// Ungated is the smallest request that has the tool with no gate active, absent
	// where there is none.
	Ungated   map[string]any `json:"ungated,omitempty"`
	NotProved string         `json:"not_proved,omitempty"` // what is open about the row
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
	// Gained, Lost and Moved are the golden cases in which the tool appears, no
	// longer appears, and stands otherwise.
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

// Shown is what is so in the new version, and a request that shows it.
type Shown struct {
	What    string         `json:"what"`
	Request map[string]any `json:"request,omitempty"`
}

// GoldenBase is what a golden case came to in the version before.
type GoldenBase struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Hash    string `json:"hash,omitempty"`
	// Stage is the first stage of the compiler whose output differs, absent where
	// both versions compile to the same.
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

// Cause is a change of the pack. Its place is in the new version or, where Gone is
// set, in the old one.
type Cause struct {
	Path string `json:"path"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Gone bool   `json:"gone,omitempty"`
}

// compared puts what is known of a step into the report's form.
func (c Comparison) compared() *Diff {
	d := NewDiff(c.Diff)
	if d == nil {
		return nil
	}
	for _, l := range c.Loosened {
		d.Loosened = append(d.Loosened, Loosened{What: l.What, Verdict: l.Verdict.String(), Witness: l.Witness, Change: newChange(l.Change)})
	}
	for _, e := range c.Diff.Effects {
		d.Effects = append(d.Effects, newEffect(e))
	}
	if c.Surface != nil {
		for i := range c.Surface.Changes {
			d.Surface = append(d.Surface, newSurfaceChange(&c.Surface.Changes[i]))
		}
	}
	for _, f := range c.Flips.Flips {
		d.Flips = append(d.Flips, Flip{
			Intent: f.Intent, Kind: f.Kind.String(), Subject: f.Subject, Old: f.Old.String(), New: f.New.String(),
			Verdict: f.Verdict.String(), Request: f.Request, From: f.From, Overlay: f.Overlay, Cases: f.Cases,
		})
	}
	return d
}

// notChecked returns what of the step was not looked at.
func (c Comparison) notChecked() (list []NotChecked) {
	if c.Surface != nil && c.Surface.Reason != "" {
		list = append(list, NotChecked{Gate: "tool surface", Reason: c.Surface.Reason})
	}
	for _, reason := range c.Flips.NotChecked {
		list = append(list, NotChecked{Gate: "decision flips", Reason: reason})
	}
	return list
}

// surface returns the rows of the head's tool surface, nil where it was not asked
// for.
func (c Comparison) surface() []SurfaceRow {
	if c.Surface == nil {
		return nil
	}
	var rows []SurfaceRow
	for i := range c.Surface.Head {
		rows = append(rows, newSurfaceRow(&c.Surface.Head[i]))
	}
	return rows
}

func newSurfaceRow(r *surface.Row) SurfaceRow {
	row := SurfaceRow{
		Intent: r.Intent, Capability: r.Capability, ApprovalMode: string(r.Mode), SafetyMode: string(r.Sessions),
		Gates: append([]string{}, r.Gates...), Bounds: r.Bounds, Ungated: r.Ungated, NotProved: r.Reason,
	}
	if row.Bounds == nil {
		row.Bounds = map[string]any{}
	}
	return row
}

func newSurfaceChange(c *surface.Change) SurfaceChange {
	out := SurfaceChange{
		Intent: c.Intent, Capability: c.Capability, Kind: c.Kind.String(), Verdict: c.Verdict.String(), Witness: c.Witness,
		Open: c.Open, Gained: c.Gained, Lost: c.Lost, Moved: c.Moved, NotProved: c.Reason,
	}
	for _, side := range []struct {
		from *surface.Row
		to   **SurfaceRow
	}{{c.Base, &out.Old}, {c.Head, &out.New}} {
		if side.from != nil {
			row := newSurfaceRow(side.from)
			*side.to = &row
		}
	}
	for _, a := range c.Aspects {
		out.Aspects = append(out.Aspects, SurfaceAspect{
			What: string(a.What), Name: a.Name, Old: a.Old, New: a.New, Verdict: a.Verdict.String(), Words: a.Words, Witness: a.Witness, NotProved: a.Reason,
		})
	}
	return out
}

func newEffect(e proof.Change) Effect {
	out := Effect{
		Intent: e.Intent, Kind: e.Kind.String(), Subject: e.Subject, Arg: e.Arg, Verdict: e.Verdict.String(), Assumed: e.Assumed, NotProved: e.Reason,
	}
	if e.Kind == proof.Gate {
		out.Holder = e.Holder.String()
	}
	out.Gained, out.Lost = newShown(e.GainedWhat, e.Gained), newShown(e.LostWhat, e.Lost)
	return out
}

// newShown returns nil where there is nothing to show.
func newShown(what string, request map[string]any) *Shown {
	if what == "" {
		return nil
	}
	return &Shown{What: what, Request: request}
}

func newProof(p *diffing.Proof) *Proof {
	if p == nil {
		return nil
	}
	return &Proof{
		Verdict: p.Verdict.String(), Gained: newShown(p.GainedWhat, p.Gained), Lost: newShown(p.LostWhat, p.Lost),
		Assumed: p.Assumed, NotProved: p.Reason,
	}
}

// withBase adds to golden cases what they came to in the version before.
func withBase(cases []Golden, compared []compiles.Case) []Golden {
	for i := range cases {
		at := slices.IndexFunc(compared, func(c compiles.Case) bool { return c.File == cases[i].File })
		if at >= 0 {
			cases[i].Base = newGoldenBase(&compared[at])
		}
	}
	return cases
}

func newGoldenBase(c *compiles.Case) *GoldenBase {
	b := &GoldenBase{Outcome: string(c.Base.Outcome), Reason: c.Base.Reason, Hash: c.Base.Hash, Stage: c.Stage}
	if len(c.Added)+len(c.Removed)+len(c.Changed) > 0 {
		b.Tools = &ToolStep{Added: c.Added, Removed: c.Removed, Changed: c.Changed}
	}
	for _, t := range c.Tokens {
		b.Tokens = append(b.Tokens, TokenStep{Bucket: string(t.Bucket), Base: t.Base, Head: t.Head})
	}
	for _, s := range c.Sections {
		section := SectionChange{Path: s.Path, Stage: s.Stage, Subject: s.Subject, Old: s.Old, New: s.New}
		for _, cause := range s.Causes {
			out := Cause{Path: cause.Path, Gone: cause.Gone}
			if cause.At != nil {
				l := cause.At.Location()
				out.File, out.Line = l.File, l.Start.Line
			}
			section.Causes = append(section.Causes, out)
		}
		b.Sections = append(b.Sections, section)
	}
	return b
}
