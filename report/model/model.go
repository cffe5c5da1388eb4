// Package model holds what packgate reports, as plain data: about a run, each of its
// packs, and versions in a registry. The JSON form is the versioned contract;
// everything that a person reads is rendered from the same model. The package reads,
// merges and seals reports, and decides nothing.
package model

import (
	"encoding/json"

	"github.com/contextosai/packgate/finding"
)

// Version is the version of the JSON form. It is raised when a member is
// removed or changes its meaning; new members may come at any time. Read reads the version before
// it too.
const Version = 2

// Result is a verdict.
type Result string

// The verdicts. Failed means that there are findings, Rejected that the class
// of a change is reject, Broken that packgate could not do its work.
const (
	Passed   Result = "pass"
	Failed   Result = "fail"
	Rejected Result = "reject"
	Broken   Result = "error"
)

// Report is what one run of packgate says.
type Report struct {
	Version  int       `json:"version"`
	Tool     Tool      `json:"tool"`
	Command  string    `json:"command"`
	Result   Result    `json:"result"`
	ExitCode int       `json:"exit_code"`
	Base     *Revision `json:"base,omitempty"`
	Head     *Revision `json:"head,omitempty"`
	// Shard is the part of the packs that the run was about, as i/N; "" for all of them.
	Shard string `json:"shard,omitempty"`
	// Tree is the digest of the config, the catalogs and the packs that were divided into shards,
	// if the run is about a shard: it is the same in all parts of one run.
	Tree  string `json:"tree,omitempty"`
	Packs Packs  `json:"packs"`
	// Partial is what a summary says of the packs that it has not; nil in a report, which has all.
	Partial *Partial `json:"partial,omitempty"`
	// Reviews are whose approval the change needs, and who has given it; nil where the config
	// names no role, or nothing is compared.
	Reviews *Reviews `json:"reviews,omitempty"`
	// Published is what became of versions in a registry, if any was to be published.
	Published []Publication `json:"published,omitempty"`
	// Origin is the run that the report was taken from by another one; nil where the run that
	// shows it has made it.
	Origin *Origin `json:"origin,omitempty"`
	// Errors are what kept packgate from doing its work.
	Errors []Problem `json:"errors"`
	// Loosened are sentences about what the change takes away from what later changes are held to: the
	// config, and the workflows that run packgate.
	Loosened []string `json:"loosened,omitempty"`
	// Notices are sentences about the run that do not affect a verdict.
	Notices []string `json:"notices"`
	Summary Summary  `json:"summary"`
	// Frame ends the JSON form of the report of a shard; nil in all others, and once it was read.
	Frame *Frame `json:"frame,omitempty"`
	// File is where the report was read from; "" for one of this run.
	File string `json:"-"`
}

// Tool names the program and the rule set that made the report.
type Tool struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	RulesVersion string `json:"rules_version"`
}

// Revision is a commit. A file's name behind BlobURL, where that is known, leads to the file.
type Revision struct {
	Ref     string `json:"ref,omitempty"`
	SHA     string `json:"sha"`
	BlobURL string `json:"blob_url,omitempty"`
}

// Problem is an error of the run or of a golden case, with its place.
type Problem struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// Summary counts over all packs. Findings that are excused are in neither count.
type Summary struct {
	Packs    int `json:"packs"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Waived   int `json:"waived"`
	// Approved counts what an approval excuses, whether or not a waiver does too.
	Approved int `json:"approved,omitempty"`
	// Accepted counts what the baseline file has.
	Accepted int `json:"accepted,omitempty"`
	// Old counts the errors and warnings that are old.
	Old int `json:"old,omitempty"`
	// NotChecked counts what could not run, and not what is not applicable.
	NotChecked int `json:"not_checked"`
}

// Pack is what is said of one pack.
type Pack struct {
	Pack string `json:"pack"`           // id@version; empty where they could not be read
	Path string `json:"path"`           // file
	Kind string `json:"kind,omitempty"` // what else it is about; absent for a pack of the head
	// Pinned is what an environment is to run, for an entry of KindPromotion.
	Pinned *Pinned `json:"pinned,omitempty"`
	// MovedFrom is the file of the base that the pack was compared with, where that has
	// another name.
	MovedFrom string `json:"moved_from,omitempty"`
	// Class is ClassInitial for a pack of which the base has no version. That of every other step is
	// in the diff, which a pack has too that was there before, and comes back.
	Class    string    `json:"class,omitempty"`
	Digest   string    `json:"digest,omitempty"`
	Result   Result    `json:"result"`
	Gates    []Gate    `json:"gates"`
	Findings []Finding `json:"findings"`
	// Fixed are findings of the baseline that the pack no longer has.
	Fixed  []Finding `json:"fixed,omitempty"`
	Golden []Golden  `json:"golden"`
	// Coverage is what golden cases exercise of the policy, absent for a pack that cannot be read.
	Coverage *Coverage `json:"coverage,omitempty"`
	Diff     *Diff     `json:"diff,omitempty"`
	// Environments are those to which the change brings something that the diff does not show.
	Environments []Environment `json:"environments,omitempty"`
	// Verdicts are how the pack comes out in each environment.
	Verdicts []EnvironmentVerdict `json:"verdicts,omitempty"`
	// Roles are those whose approval the change of the pack needs.
	Roles []string `json:"roles,omitempty"`
	// Evaluation are the targets of the pack and what was measured.
	Evaluation []Measurement `json:"evaluation,omitempty"`
	// Operations are the operational figures of the contract.
	Operations *Figures  `json:"operations,omitempty"`
	Overlays   []Overlay `json:"overlays,omitempty"`
	// Evidence counts what the pack proves, now and in the version before.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Intents are those that the pack names, sorted.
	Intents []string `json:"intents,omitempty"`
	// ToolSurface is what agents can reach, absent where it was not asked for.
	ToolSurface []SurfaceRow `json:"tool_surface,omitempty"`
	// Guardrails are those of the first version of a pack.
	Guardrails *Guardrails `json:"guardrails,omitempty"`
	// Graph is what in the pack leads to what, absent where nothing does.
	Graph *Graph `json:"graph,omitempty"`
	// Triggers are the changes outside of the pack for which it was gated again.
	Triggers []Trigger `json:"triggers,omitempty"`
	// Files are the files that the pack is gated with, beside its own, whose content differs from
	// the base.
	Files      []FileChange `json:"files,omitempty"`
	NotChecked []NotChecked `json:"not_checked"`
	// Cut is what a summary leaves out of the pack; nil in a report.
	Cut *Cut `json:"cut,omitempty"`
	// Playground is what the HTML report compiles the pack from; no other form has it.
	Playground *Playground `json:"-"`
}

// ClassInitial is the class of a pack that is new to agents: a first version, or one that comes back.
const ClassInitial = "initial"

// The kinds of entries that are about something else than a pack of the head.
const (
	// KindRemoved is a pack that the head no longer has: Pack and Path are the base's.
	KindRemoved = "removed"
	// KindRepository is the repository as a whole: what no single pack is about.
	KindRepository = "repository"
	// KindPromotion is a line of a pins file that changed: Pack is what an environment is to run,
	// and Path the pins file.
	KindPromotion = "promotion"
)

// Pinned is what a change makes an environment run of a pack, as id@version: now, and
// afterwards; "" for no version.
type Pinned struct {
	Environment string `json:"environment"`
	Now         string `json:"now,omitempty"`
	Wanted      string `json:"wanted,omitempty"`
	// ByPins says that Now is what the pins of the base name, since no record could be asked.
	ByPins bool `json:"by_pins,omitempty"`
	// Elsewhere says that the head has another version, so that places in files of the one that is
	// wanted are those of another commit.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Gate is the result of one gate.
type Gate struct {
	Gate     string `json:"gate"`
	Title    string `json:"title"`
	Status   string `json:"status"` // one of finding.Statuses
	Reason   string `json:"reason,omitempty"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
}

// Coverage counts the parts of the policy that golden cases exercise, and lists the others.
type Coverage struct {
	Percent int    `json:"percent"` // of all parts; 100 only where none is left out
	Rules   Tally  `json:"rules"`
	Else    Tally  `json:"else"`
	Gates   Tally  `json:"gates"`
	Missing []Part `json:"missing"`
}

// Tally counts how many of some things are as they should be.
type Tally struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// Ratio returns a tally of something as a share.
func (t Tally) Ratio() float64 { return float64(t.Count) / float64(t.Of) }

// Part is a part of the policy: a rule, the else of a rule, or an approval gate.
type Part struct {
	Kind string `json:"kind"` // rule, else or gate
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// Measurement is one metric of one intent: what is wanted, and what was measured. What is not
// known is absent. Delta is how much worse the value is than the baseline's.
type Measurement struct {
	Intent   string   `json:"intent"`
	Metric   string   `json:"metric"`
	Target   *float64 `json:"target,omitempty"`
	Value    *float64 `json:"value,omitempty"`
	Source   string   `json:"source,omitempty"` // a scorecard's file, or built-in
	Samples  int      `json:"samples,omitempty"`
	Baseline *float64 `json:"baseline,omitempty"`
	Delta    *float64 `json:"delta,omitempty"`
	MaxDelta *float64 `json:"max_delta,omitempty"`
	Status   string   `json:"status"` // met, missed, regressed, no_target or not_measured
}

// Overlay is one overlay, as far as it was applied.
type Overlay struct {
	Overlay     string `json:"overlay"`
	Environment string `json:"environment"`
	File        string `json:"file"`
	Settings    int    `json:"settings"` // how many it has
	Errors      int    `json:"errors"`   // findings in its file that count
	Cases       int    `json:"cases"`    // golden cases that name it
}

// Evidence is how much there is of one kind of what a pack proves: in the version before,
// absent where there is none, and now.
type Evidence struct {
	Kind   string `json:"kind"`
	Before *int   `json:"before,omitempty"`
	Now    int    `json:"now"`
}

// Trigger is one reason to gate a pack again although the pack itself may not have changed.
type Trigger struct {
	Kind string `json:"kind"` // POLICY_BUNDLE_UPDATED, ONTOLOGY_UPDATED, …
	What string `json:"what"`
	File string `json:"file"`
	Path string `json:"path,omitempty"`
}

// FileChange is a file that changed.
type FileChange struct {
	File string `json:"file"`
	Kind string `json:"kind"` // added, removed or changed
}

// Golden is the result of one golden case.
type Golden struct {
	Case   string `json:"case"`
	Family string `json:"family"`
	File   string `json:"file"`
	// Overlay is that with which it was compiled.
	Overlay  string `json:"overlay,omitempty"`
	Expected string `json:"expected"`
	Outcome  string `json:"outcome"`
	// Reason is why the case did not compile; absent where it did.
	Reason   string `json:"reason,omitempty"`
	Snapshot string `json:"snapshot"` // equal, drifted, missing or not_checked
	Hash     string `json:"hash,omitempty"`
	Stage    string `json:"stage,omitempty"` // first stage that drifted
	// Differences are where the compile differs from the snapshot.
	Differences []Difference `json:"differences,omitempty"`
	Problems    []Problem    `json:"problems"`
	Status      string       `json:"status"` // pass, warning or fail
	// Base is what the case came to in the version before, absent where there is none.
	Base *GoldenBase `json:"base,omitempty"`
}

// Difference is one place at which a compile differs from its snapshot. Stored
// and Now are values as JSON; one of them is absent where there is nothing.
type Difference struct {
	Path   string `json:"path"`
	Stored string `json:"stored,omitempty"`
	Now    string `json:"now,omitempty"`
}

// Diff is the comparison of two versions of a pack.
type Diff struct {
	Base            string `json:"base"` // id@version
	Head            string `json:"head"`
	Class           string `json:"class"`
	Declared        string `json:"declared"`
	RequiredVersion string `json:"required_version,omitempty"`
	// Contradictions are faults of packgate, which raise the class: more is permitted than it says.
	Contradictions []Contradiction `json:"contradictions,omitempty"`
	Layers         []Layer         `json:"layers"`
	// Loosened are the changes that weaken a guardrail, whatever their class.
	Loosened []Loosened `json:"loosened,omitempty"`
	// Surface are the rows of the tool surface that differ.
	Surface []SurfaceChange `json:"surface_changes,omitempty"`
	// Effects are what is permitted now and was not, and the other way round.
	Effects []Effect `json:"effects,omitempty"`
	// Joint is what is permitted more together with packs that golden cases name beside this one.
	Joint []Joint `json:"joint,omitempty"`
	// Flips are the smallest requests that the two versions decide otherwise.
	Flips []Flip `json:"flips,omitempty"`
}

// Contradiction is something above read_only that is permitted now and was not, although
// the class of the changes is below major. That is a fault of packgate.
type Contradiction struct {
	Class   string         `json:"class"` // that was found
	What    string         `json:"what"`  // what is permitted
	Request map[string]any `json:"request,omitempty"`
}

// Layer is one layer's part of a comparison.
type Layer struct {
	Layer   string   `json:"layer"`
	Class   string   `json:"class"`
	Changes []Change `json:"changes"`
}

// Change is one change between two versions. Old and New are JSON values; what was added has
// no old one and what was removed no new one. File, Line and Column are the place in the new
// version, or in the old one for what was removed.
type Change struct {
	Path            string          `json:"path"`
	Pointer         string          `json:"pointer"`
	Kind            string          `json:"kind"`
	Row             string          `json:"row"`
	Class           string          `json:"class"`
	Reason          string          `json:"reason"`
	NeedsHumanClass bool            `json:"needs_human_class,omitempty"`
	BeyondProof     bool            `json:"beyond_proof,omitempty"` // it may alter what agents can do in a way that no proof about requests sees
	Override        string          `json:"override,omitempty"`
	Old             json.RawMessage `json:"old,omitempty"`
	New             json.RawMessage `json:"new,omitempty"`
	File            string          `json:"file"`
	Line            int             `json:"line,omitempty"`
	Column          int             `json:"column,omitempty"`
	BaseLine        int             `json:"base_line,omitempty"` // in the old version
	// Proof is absent where what the change permits is not a matter of proof.
	Proof       *Proof `json:"proof,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// NotChecked is a check that did not run.
type NotChecked = finding.NotChecked

// VersionPointer is where a pack states its version (Context Pack contract, pack_meta).
const VersionPointer = "/pack_meta/pack_version"

// RulePage is the page of a rule, for those who read a finding of it.
type RulePage struct {
	ID, Name string
	Gate     string // whose rule it is
	Severity string // the default
	Title    string // one line: what holds where the rule is kept
	Doc      string // why it matters and what to do; Markdown paragraphs
	Bad      string // an example that breaks the rule, "" for none
	Good     string // the example, corrected
}
