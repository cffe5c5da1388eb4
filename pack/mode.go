package pack

import "slices"

// ApprovalMode is the contract's risk tier of an effect, from read_only to
// destructive.
type ApprovalMode string

// The five approval modes of the contract, from weak to strong.
const (
	ReadOnly    ApprovalMode = "read_only"
	LocalWrite  ApprovalMode = "local_write"
	Network     ApprovalMode = "network"
	Delegated   ApprovalMode = "delegated"
	Destructive ApprovalMode = "destructive"
)

// ApprovalModes returns the five modes from weak to strong.
func ApprovalModes() []ApprovalMode {
	return []ApprovalMode{ReadOnly, LocalWrite, Network, Delegated, Destructive}
}

// Rank returns 0 for read_only up to 4 for destructive. A mode that is missing
// or unknown ranks as destructive, so that what is not known is never taken
// for harmless.
func (m ApprovalMode) Rank() int {
	switch m {
	case ReadOnly:
		return 0
	case LocalWrite:
		return 1
	case Network:
		return 2
	case Delegated:
		return 3
	}
	return 4
}

// Known reports whether m is one of the five modes.
func (m ApprovalMode) Known() bool { return slices.Contains(ApprovalModes(), m) }

// Mode returns the approval mode that the field states; missing and unknown
// ones compare as destructive (see Rank).
func Mode(f Text) ApprovalMode { return ApprovalMode(f.Value) }
