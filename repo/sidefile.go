package repo

import (
	"sync"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// SideFile is a JSON file that belongs to a pack. Kind is the name of its
// schema: case, overlay, scorecard, tool-surface, replay-packet, replay-meta
// or decision-record. Document has no Root where Faults ended the reading.
type SideFile struct {
	Kind     string
	Name     string // relative to the repository's root
	Document *pack.Document
	Faults   []pack.Fault

	validated  sync.Once
	violations []schemas.Violation
	invalid    error
}

// Violations returns where the file does not fit its schema, as schemas.Validate does; it is
// looked at once. It is asked of files that have a Root.
func (s *SideFile) Violations() ([]schemas.Violation, error) {
	s.validated.Do(func() { s.violations, s.invalid = schemas.Validate(s.Kind, s.Document.Root.Any()) })
	return s.violations, s.invalid
}

// decoded reads the members of a side file, and notes the names that cannot be read.
func decoded[T any](s *SideFile, into T) T {
	s.Faults = append(s.Faults, pack.Decode(s.Document.Root, into)...)
	return into
}
