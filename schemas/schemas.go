// Package schemas holds the JSON Schemas (draft 2020-12) of every document that
// packgate reads or writes, and checks documents against them.
//
// Two families live here. The contracts (Context Pack, CompiledContext,
// RunContext, invokeAgent, ReplayPacket, DecisionRecord) carry the identifiers
// under which ContextOS publishes them; their text is ours, written from the
// published tables. The rest describes packgate's own files: config,
// environment catalog, golden case, overlay, scorecard, tool surface, replay
// side file and report.
//
// The Context Pack schema is deliberately narrow. A fault has one rule id, so
// the schema checks shapes (types, required members, closed word lists that no
// rule owns) and leaves limits of meaning, such as ranges, durations and
// approval modes, to the rules that can explain them. It is open, as the
// published one is; unknown members are found by asking [KnownMembers]. Our own
// formats are closed: a misspelled key in a config must never be ignored.
//
// Schemas are embedded, parsed and compiled on first use, each at most once.
// Nothing is ever loaded from disk or network: a reference to a schema that is
// not in this package is an error. The validator's error tree is turned into
// flat violations in plain words, so that no caller depends on the validator.
package schemas

import (
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrUnknownName is wrapped by the errors of [Source] and [Validate] when no
// schema has the given name.
var ErrUnknownName = errors.New("unknown schema")

// Violation is one cause for which a document does not fit its schema.
type Violation struct {
	// Pointer is the JSON pointer (RFC 6901) of the value at fault, "" for the
	// document itself. For a missing or unknown member it is the object that
	// lacks or holds the member.
	Pointer string
	// Keyword is the JSON Schema keyword that failed, such as "type".
	Keyword string
	// Message says what was wanted and what is there, in lower case and without
	// a final period. It includes the suggestion in Nearest.
	Message string
	// Property is the member concerned, for "required" and
	// "additionalProperties"; else "".
	Property string
	// Nearest is the known member or word that was probably meant, or "".
	Nearest string
}

// Names returns the names of all schemas, sorted.
func Names() []string {
	return slices.Clone(shared().names)
}

// Source returns the text of the schema with the given name, as embedded. The
// error wraps [ErrUnknownName] and lists the known names.
func Source(name string) ([]byte, error) {
	if _, err := shared().entry(name); err != nil {
		return nil, err
	}
	return files.ReadFile(name + fileSuffix)
}

// Validate checks doc against the schema with the given name and returns one
// violation per cause, sorted by pointer and without repetitions; none means
// that the document fits. Doc is decoded JSON: map[string]any, []any, string,
// float64, bool and nil, with finite numbers. The error is for what is no fault
// of the document: an unknown name (wrapping [ErrUnknownName]), a value that is
// not JSON, or a failure of the validator.
func Validate(name string, doc any) (violations []Violation, err error) {
	lib := shared()
	entry, err := lib.entry(name)
	if err != nil {
		return nil, err
	}
	schema, err := entry.compiled()
	if err != nil {
		return nil, err
	}
	// The validator has panicked on hostile numbers before. A document must
	// not be able to end the process, whatever it holds.
	defer func() {
		if r := recover(); r != nil {
			violations, err = nil, fmt.Errorf("schema %s: the validator failed: %v", name, r)
		}
	}()
	failure := schema.Validate(doc)
	if failure == nil {
		return nil, nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(failure, &tree) {
		return nil, fmt.Errorf("schema %s: %w", name, failure)
	}
	flat := flattener{library: lib, document: doc, known: map[string][]string{}}
	if err := flat.walk(tree); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	flat.unknown(flat.closed)
	return tidy(flat.violations), nil
}

// tidy sorts violations, removes repetitions, and drops "missing" where an
// unknown member beside it was recognised as the missing one's misspelling:
// that is one mistake, and the suggestion says both.
func tidy(all []Violation) []Violation {
	misspelled := map[[2]string]bool{}
	for _, v := range all {
		if v.Keyword == "additionalProperties" && v.Nearest != "" {
			misspelled[[2]string{v.Pointer, v.Nearest}] = true
		}
	}
	all = slices.DeleteFunc(all, func(v Violation) bool {
		return v.Keyword == "required" && misspelled[[2]string{v.Pointer, v.Property}]
	})
	slices.SortFunc(all, func(a, b Violation) int {
		if c := comparePointers(a.Pointer, b.Pointer); c != 0 {
			return c
		}
		return slices.Compare(
			[]string{a.Property, a.Keyword, a.Message},
			[]string{b.Property, b.Keyword, b.Message})
	})
	return slices.Compact(all)
}
