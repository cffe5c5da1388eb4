package finding

import (
	"slices"
	"strings"
)

// Status is what one gate says of a pack. There is one word for each, everywhere.
type Status string

// The states of a gate. A gate has the worst of what it has, in this order; NotRun is
// that of one of which nothing ran.
const (
	Pass      Status = "pass"      // all of it ran, and nothing was found
	Warn      Status = "warn"      // there are warnings, or findings in the baseline file
	Partial   Status = "partial"   // something of it could not run
	Undecided Status = "undecided" // a claim is neither proved nor refuted (NPR001)
	Fail      Status = "fail"      // there are errors
	NotRun    Status = "not_run"   // the pack, or the layer that it judges, is not there
)

// NotProved is the rule of claims that are neither proved nor refuted.
const NotProved = "NPR001"

// Statuses returns the states of a gate, the best first.
func Statuses() []Status { return []Status{Pass, Warn, Partial, Undecided, Fail, NotRun} }

// Ran reports whether a gate ran as a whole and decided: no other counts as passed.
func (s Status) Ran() bool { return s == Pass || s == Warn }

// Tally is what there is against a gate: its status follows from it, and from nothing else.
type Tally struct {
	Errors, Warnings int  // that no waiver covers
	Accepted         bool // the baseline file has findings of it
	Missing          bool // the pack, or the layer that it judges, is not there
	Undecided        bool // a claim is neither proved nor refuted
	Partial          bool // something of it could not run
}

// Status returns the worst of what there is.
func (t Tally) Status() Status {
	switch {
	case t.Errors > 0:
		return Fail
	case t.Missing:
		return NotRun
	case t.Undecided:
		return Undecided
	case t.Partial:
		return Partial
	case t.Warnings > 0, t.Accepted:
		return Warn
	}
	return Pass
}

// InputKind is a kind of input beside a pack that a repository need not have.
type InputKind string

// The kinds of inputs. This is all of them, so that a check can be called not
// applicable for the want of one of these alone.
const (
	ToolSurface    InputKind = "tool-surface"
	ReplayPacket   InputKind = "replay-packet"
	DecisionRecord InputKind = "decision-record"
	Scorecard      InputKind = "scorecard"
	Baseline       InputKind = "baseline" // of a scorecard
	Registry       InputKind = "registry"
	Catalog        InputKind = "catalog" // or a section of one
)

// Inputs returns the kinds of inputs.
func Inputs() []InputKind {
	return []InputKind{ToolSurface, ReplayPacket, DecisionRecord, Scorecard, Baseline, Registry, Catalog}
}

// Input is an input beside a pack; the zero Input is none. As JSON it is its text.
type Input struct {
	Kind        InputKind
	Environment string // of a catalog; "" where it could be any
}

// CatalogOf returns the input that is the catalog of an environment.
func CatalogOf(environment string) Input { return Input{Catalog, environment} }

// String returns the input as the config names it, such as catalog:prod.
func (i Input) String() string {
	if i.Environment == "" {
		return string(i.Kind)
	}
	return string(i.Kind) + ":" + i.Environment
}

// MarshalText writes the text of an input.
func (i Input) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads the text of an input. A kind that is not known stays as it is: a
// later version may have more.
func (i *Input) UnmarshalText(text []byte) error {
	kind, environment, _ := strings.Cut(string(text), ":")
	i.Kind, i.Environment = InputKind(kind), environment
	return nil
}

// ParseInput reads an input as a config names it; ok is false for what is none.
func ParseInput(text string) (in Input, ok bool) {
	_ = in.UnmarshalText([]byte(text)) // which takes any text
	return in, in.String() == text && slices.Contains(Inputs(), in.Kind) && (in.Environment == "" || in.Kind == Catalog)
}

// Serves reports whether a check that needs an input has it where this one is there whole:
// a catalog that could be any is that of each environment.
func (i Input) Serves(needs Input) bool {
	return i.Kind != "" && i.Kind == needs.Kind && (needs.Environment == "" || needs.Environment == i.Environment)
}
