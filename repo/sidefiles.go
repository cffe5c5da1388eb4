package repo

import (
	"github.com/contextosai/packgate/pack"
)

// SideFile is a JSON file that belongs to a pack. Kind is the name of its
// schema: case, overlay, scorecard, tool-surface, replay-packet, replay-meta
// or decision-record. Document has no Root where Faults ended the reading.
type SideFile struct {
	Kind     string
	Name     string // relative to the repository's root
	Document *pack.Document
	Faults   []pack.Fault
}

// decode reads the file's members, and notes the names that cannot be read.
func (s *SideFile) decode(into any) {
	s.Faults = append(s.Faults, pack.Decode(s.Document.Root, into)...)
}

// Case is a golden case: an invocation with all that it needs, and what is
// expected of it.
type Case struct {
	*SideFile `json:"-"`
	CaseFields
	// Snapshot is the stored CompiledContext, nil where there is none.
	Snapshot *Snapshot
}

// CaseFields are the members of a golden case. Invoke is an invokeAgent v1
// envelope and RunContext a RunContext v1, as they stand.
type CaseFields struct {
	pack.Part
	Case        pack.Text               `json:"case"`
	Family      pack.Text               `json:"family"`
	Description pack.Text               `json:"description" text:"prose"`
	Environment pack.Text               `json:"environment"`
	Overlay     pack.Text               `json:"overlay"`
	Invoke      *pack.Node              `json:"invoke"`
	RunContext  *pack.Node              `json:"run_context"`
	Evidence    pack.List[EvidenceItem] `json:"evidence"`
	Memory      pack.List[MemoryItem]   `json:"memory"`
	Expect      Expectation             `json:"expect"`
}

// EvidenceItem is one evidence reference that the caller supplies.
type EvidenceItem struct {
	pack.Part
	EvidenceRef pack.Text `json:"evidence_ref"`
	Content     pack.Text `json:"content" text:"prose"`
	Priority    pack.Num  `json:"priority"`
}

// MemoryItem is one memory recall that the caller supplies.
type MemoryItem struct {
	pack.Part
	MemoryRef pack.Text `json:"memory_ref"`
	Content   pack.Text `json:"content" text:"prose"`
	Promoted  pack.Flag `json:"promoted"`
	Priority  pack.Num  `json:"priority"`
}

// Expectation is what a golden case expects. The lists are complete and in
// canonical order; a list that is absent expects nothing. Assertions are
// JsonLogic over the CompiledContext.
type Expectation struct {
	pack.Part
	Outcome    pack.Text             `json:"outcome"`
	Tools      pack.List[pack.Text]  `json:"tools"`
	Gates      pack.List[pack.Text]  `json:"gates"`
	Denied     pack.List[pack.Text]  `json:"denied"`
	Rules      pack.List[pack.Text]  `json:"rules"`
	Assertions pack.List[*pack.Node] `json:"assertions"`
}

// Snapshot is a stored compile: its name and bytes.
type Snapshot struct {
	Name   string // relative to the repository's root
	File   string // as messages show it
	Source []byte
}

// SnapshotName returns the name of the snapshot that belongs to a case file:
// NAME.case.json has NAME.compiled.json.
func SnapshotName(caseFile string) string {
	return caseFile[:len(caseFile)-len(caseSuffix)] + ".compiled.json"
}

const caseSuffix = ".case.json"
