// Package statement writes and reads what packgate signs about a version of a
// pack: in-toto v1 Statements (https://in-toto.io/Statement/v1) of three types.
// A Summary says that the version passed the gates, a State that it is
// deprecated or revoked, a Pin that an environment runs it.
//
// All three speak of the same two subjects in the same order: the OCI manifest,
// whose digest a registry serves the version under, and the bytes of the pack.
// So one signature serves who pulled an image and who holds a file.
//
// Writing is a pure function: equal values give equal bytes, in the canonical
// form of RFC 8785. Reading holds every member to the same rules as writing, so
// that a statement that can be read could have been written. Members that this
// version does not know are passed over, as the parsing rules of in-toto and
// SLSA want it; a member that is there twice is refused, because readers differ
// in which of the two they believe.
package statement

import (
	"encoding/json"
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// PayloadType is the type of a statement inside a DSSE envelope (in-toto
// attestation framework, envelope layer).
const PayloadType = "application/vnd.in-toto+json"

// Type is the type of the statement itself (in-toto Statement v1).
const Type = "https://in-toto.io/Statement/v1"

// The types of predicates, and so of statements.
const (
	TypeSummary = "https://slsa.dev/verification_summary/v1"         // a version passed the gates (SLSA VSA v1)
	TypeState   = "https://github.com/contextosai/packgate/state/v1" // a version is deprecated or revoked
	TypePin     = "https://github.com/contextosai/packgate/pin/v1"   // an environment runs a version
)

// MaxBytes bounds the size of a statement.
const MaxBytes = 1 << 20

// Version names of what a statement speaks.
type Version struct {
	Pack     string // pack_id@version, the name of both subjects
	Manifest string // digest of the OCI manifest, the first subject
	Content  string // digest of the pack's bytes, the second subject
}

// Statement is a statement as read. Predicate is valid JSON; Summary, State and
// Pin read it.
type Statement struct {
	Type      string // the predicate's type
	Predicate json.RawMessage
	about     Version
}

// Version returns of what the statement speaks.
func (s *Statement) Version() Version { return s.about }

// Parse reads the JSON of an in-toto v1 Statement. It fails where the document
// is larger than MaxBytes, is no strict JSON, names a member twice, is of
// another statement type, or has other subjects than the manifest and the bytes
// of one version. The predicate's own members are read by Summary, State and
// Pin; of its type only that there is one is checked.
func Parse(src []byte) (*Statement, error) {
	root, err := tree(src)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	r.constant(root, "_type", Type)
	s := &Statement{Type: r.text(root, "predicateType")}
	predicate := r.object(root, "predicate")
	items := r.array(root, "subject")
	if r.err == nil && len(items) != 2 {
		r.fail(root, "subject", "has %s, wanted 2: the manifest and the pack", pack.Counted(len(items), "item"))
	}
	if r.err != nil {
		return nil, r.err
	}
	s.about.Pack, s.about.Manifest = r.text(items[0], "name"), r.digest(items[0], "digest")
	again := r.text(items[1], "name")
	s.about.Content = r.digest(items[1], "digest")
	c := &checker{r.err}
	c.that(s.about.Pack == again, "the subjects have two names, %q and %q, wanted one", s.about.Pack, again)
	c.version("", s.about)
	if c.err != nil {
		return nil, c.err
	}
	s.Predicate = json.RawMessage(predicate.Raw())
	return s, nil
}

// predicate returns the predicate's tree, for a statement of the wanted type, and what
// reads it.
func (s *Statement) predicate(wanted string) (*pack.Node, *reader) {
	if s.Type != wanted {
		return nil, &reader{fmt.Errorf("the statement is of type %q, wanted %q", s.Type, wanted)}
	}
	root, err := tree(s.Predicate)
	return root, &reader{err}
}

// tree reads a JSON object strictly.
func tree(src []byte) (*pack.Node, error) {
	limits := pack.Limits{MaxBytes: MaxBytes, MaxDepth: 32, MaxValues: 1 << 16}
	d, faults := pack.Read("statement", src, limits)
	if len(faults) > 0 {
		at := faults[0].Location.Start
		return nil, fmt.Errorf("line %d, column %d of the statement: %s", at.Line, at.Column, faults[0].Message)
	}
	if d.Root == nil || d.Root.Kind != pack.Object {
		return nil, fmt.Errorf("the statement is no JSON object")
	}
	return d.Root, nil
}

// encode returns the canonical bytes of a statement.
func encode(v Version, kind string, predicate object) ([]byte, error) {
	src, err := json.Marshal(object{
		"_type":         Type,
		"subject":       []object{object{"name": v.Pack}.withDigest("digest", v.Manifest), object{"name": v.Pack}.withDigest("digest", v.Content)},
		"predicateType": kind,
		"predicate":     predicate,
	})
	if err != nil {
		return nil, err
	}
	if src, err = pack.Canonical(src); err != nil {
		return nil, err
	}
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("the statement has %d bytes, wanted at most %d", len(src), MaxBytes)
	}
	return src, nil
}
