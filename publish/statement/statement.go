// Package statement writes and reads what packgate signs about a version of a
// pack: in-toto v1 Statements (https://in-toto.io/Statement/v1).
// A Summary says that the version passed the gates, a State that it is
// deprecated or revoked, a Pin that an environment runs it, a Stop that one does so no
// more, and a Record that one of these was signed, and after which.
//
// All of these speak of the same two subjects in the same order: the OCI manifest,
// whose digest a registry serves the version under, and the bytes of the pack.
// So one signature serves who pulled an image and who holds a file.
//
// Two more speak of what a publisher has said of all its packs, and have that
// document as their only subject: a Status is the publisher's own word for it, and a
// Timestamp says that it is still the newest.
//
// Writing is a pure function: equal values give equal bytes, in the canonical
// form of RFC 8785. Reading holds every member to the same rules as writing, so
// that a statement that can be read could have been written. Members that this
// version does not know are passed over, as the parsing rules of in-toto and
// SLSA want it; a member that is listed twice is refused, because readers differ
// in which of the two they believe.
package statement

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
)

// PayloadType is the type of a statement inside a DSSE envelope (in-toto
// attestation framework, envelope layer).
const PayloadType = "application/vnd.in-toto+json"

// Type is the type of the statement itself (in-toto Statement v1).
const Type = "https://in-toto.io/Statement/v1"

// The types of predicates, and so of statements.
const (
	TypeSummary = "https://slsa.dev/verification_summary/v1"          // a version passed the gates (SLSA VSA v1)
	TypeState   = "https://github.com/contextosai/packgate/state/v1"  // a version is deprecated or revoked
	TypePin     = "https://github.com/contextosai/packgate/pin/v1"    // an environment runs a version
	TypeStop    = "https://github.com/contextosai/packgate/stop/v1"   // an environment runs no version any more
	TypeRecord  = "https://github.com/contextosai/packgate/record/v1" // one of these was signed, and after which

	TypeBundle = "https://github.com/contextosai/packgate/bundle/v1" // what a version is in an environment passed the gates

	TypeStatus    = "https://github.com/contextosai/packgate/status/v1"    // what a publisher has said of all its packs
	TypeTimestamp = "https://github.com/contextosai/packgate/timestamp/v1" // a status is still the newest
)

// MaxBytes bounds the size of a statement.
const MaxBytes = 1 << 20

// Version names of what a statement speaks.
type Version struct {
	Pack     string // pack_id@version, or a BuildName, the name of both subjects
	Manifest string // digest of the OCI manifest, the first subject
	Content  string // digest of the pack's bytes, the second subject
}

// Statement is a statement as read. Predicate is valid JSON, which the method reads that
// is named like its type.
type Statement struct {
	Type      string // the predicate's type
	Predicate json.RawMessage
	about     Version
	subject   Subject
}

// Version returns of what version the statement speaks; nothing for one that has a
// Subject.
func (s *Statement) Version() Version { return s.about }

// Subject returns of what document the statement speaks; nothing for one that is about a
// Version.
func (s *Statement) Subject() Subject { return s.subject }

// Parse reads the JSON of an in-toto v1 Statement. It fails where the document
// is larger than MaxBytes, is no strict JSON, names a member twice, is of
// another statement type, or has other subjects than its type wants: one document for
// TypeStatus and TypeTimestamp, the manifest and the resolved pack of one bundle for
// TypeBundle, and for any other the manifest and the bytes of one version. The predicate's own members are read by the method that is named like its
// type; of its type only that there is one is checked.
func Parse(src []byte) (*Statement, error) {
	root, err := tree(src)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	r.constant(root, "_type", Type)
	s := &Statement{Type: r.text(root, "predicateType")}
	predicate := r.object(root, "predicate")
	var c *checker
	if s.Type == TypeStatus || s.Type == TypeTimestamp {
		s.subject = r.subject(root)
		c = &checker{r.err}
		c.subject(s.subject)
	} else {
		var again string
		s.about, again = r.version(root)
		c = &checker{r.err}
		c.that(s.about.Pack == again, "the subjects have two names, %q and %q, wanted one", s.about.Pack, again)
		if s.Type == TypeBundle {
			c.build("", s.about)
		} else {
			c.version("", s.about)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	s.Predicate = json.RawMessage(predicate.Raw())
	return s, nil
}

// version reads the two subjects of a statement about a version, and the name of the second.
func (r *reader) version(root *pack.Node) (v Version, again string) {
	items := r.array(root, "subject")
	if r.err == nil && len(items) != 2 {
		r.fail(root, "subject", "has %s, wanted 2: the manifest and the pack", pack.Counted(len(items), "item"))
	}
	if r.err != nil {
		return v, ""
	}
	v.Pack, v.Manifest = r.text(items[0], "name"), r.digest(items[0], "digest")
	again = r.text(items[1], "name")
	v.Content = r.digest(items[1], "digest")
	return v, again
}

// predicate returns the predicate's tree, for a statement of the wanted type, and what
// reads it.
func (s *Statement) predicate(wanted string) (*pack.Node, *reader) {
	if s.Type != wanted {
		return nil, &reader{err: fmt.Errorf("the statement is of type %q, wanted %q", s.Type, wanted)}
	}
	root, err := tree(s.Predicate)
	return root, &reader{err: err}
}

// tree reads a statement as a JSON object, strictly.
func tree(src []byte) (*pack.Node, error) {
	return treeOf("statement", src, pack.Limits{MaxBytes: MaxBytes, MaxDepth: 32, MaxValues: 1 << 16})
}

// treeOf reads a JSON object strictly; what is how messages name it.
func treeOf(what string, src []byte, limits pack.Limits) (*pack.Node, error) {
	d, faults := pack.Read(what, src, limits)
	if len(faults) > 0 {
		at := faults[0].Location.Start
		return nil, fmt.Errorf("line %d, column %d of the %s: %s", at.Line, at.Column, what, faults[0].Message)
	}
	if d.Root == nil || d.Root.Kind != pack.Object {
		return nil, fmt.Errorf("the %s is not a JSON object", what)
	}
	return d.Root, nil
}

// encode returns the canonical bytes of a statement about a version.
func encode(v Version, kind string, predicate object) ([]byte, error) {
	return encodeAbout([]Subject{{v.Pack, v.Manifest}, {v.Pack, v.Content}}, kind, predicate)
}

// encodeAbout returns the canonical bytes of a statement.
func encodeAbout(subjects []Subject, kind string, predicate object) ([]byte, error) {
	var list []object
	for _, s := range subjects {
		list = append(list, object{"name": s.Name}.withDigest("digest", s.Digest))
	}
	src, err := json.Marshal(object{
		"_type":         Type,
		"subject":       list,
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

// maxText bounds every single text of a statement.
const maxText = 4096

var (
	commitForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A([0-9a-f]{40}|[0-9a-f]{64})\z`) })
	// nameForm is pack_id@version: the characters that a pack_id may have, and
	// MAJOR.MINOR.PATCH without leading zeros (Semantic Versioning 2.0.0, 2).
	nameForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A([A-Za-z0-9_.:-]{1,255})@(0|[1-9][0-9]{0,17})(\.(0|[1-9][0-9]{0,17})){2}\z`)
	})
	// environmentForm is what may follow "env-" in an OCI tag of 128 characters
	// (OCI distribution specification, pulling manifests).
	environmentForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,124}\z`) })
)

// isText holds for text without characters that act on what shows it; line
// breaks and tabs are part of a reason.
func isText(s string) bool {
	return len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	})
}

// isDigest holds for what names a SHA-256. A ledger has tens of thousands of them.
func isDigest(s string) bool {
	const prefix = "sha256:"
	if len(s) != len(prefix)+64 || s[:len(prefix)] != prefix {
		return false
	}
	for _, c := range []byte(s[len(prefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && isText(s)
}

// checker keeps the first rule that a value breaks.
type checker struct{ err error }

func (c *checker) that(ok bool, format string, args ...any) {
	if c.err == nil && !ok {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) digest(what, s string) {
	c.that(isDigest(s), "%s is %q, wanted sha256: and 64 hex digits in lower case", what, s)
}

// text wants a value that is there and that one can read aloud.
func (c *checker) text(what, s string) {
	c.that(strings.TrimSpace(s) != "", "%s is %q, wanted some text", what, s)
	c.optional(what, s)
}

func (c *checker) optional(what, s string) {
	c.that(isText(s), "%s is %s, wanted text of at most %d bytes without control characters", what, pack.Clip(fmt.Sprintf("%q", s), 80), maxText)
}

func (c *checker) time(what string, t time.Time) {
	ok := !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999 && t.Location() == time.UTC && t.Nanosecond() == 0
	c.that(ok, "%s is %q, wanted a time in UTC and whole seconds", what, t.Format(time.RFC3339Nano))
}

func (c *checker) address(what, s string) {
	c.that(s == "" || isAddress(s), "%s is %q, wanted an address that begins with https://", what, s)
}

// version checks a version; prefix says whose it is.
func (c *checker) version(prefix string, v Version) {
	c.that(nameForm().MatchString(v.Pack), "the %sname is %q, wanted a pack_id, @ and a version such as 1.2.0", prefix, v.Pack)
	c.digests(prefix, v)
}

func (c *checker) digests(prefix string, v Version) {
	c.digest("the "+prefix+"manifest's digest", v.Manifest)
	c.digest("the "+prefix+"content's digest", v.Content)
}

func (c *checker) environment(name string) {
	c.that(environmentForm().MatchString(name), "the environment is %q, wanted up to 124 letters, digits and . _ -", name)
}

// reader takes members out of a tree and keeps the first thing that was wrong;
// what it returns counts only while err is nil.
type reader struct {
	err  error
	what string // that is read, "" for a statement
}

func (r *reader) fail(parent *pack.Node, name, format string, args ...any) {
	if r.err == nil {
		at := name
		if parent != nil {
			at = parent.Pointer() + "/" + pack.EscapeSegment(name)
		}
		r.err = fmt.Errorf("member %q of the %s %s", at, cmp.Or(r.what, "statement"), fmt.Sprintf(format, args...))
	}
}

// member returns the member of the wanted kind, nil where there is none.
func (r *reader) member(parent *pack.Node, name string, kind pack.Kind, required bool) *pack.Node {
	n := parent.Get(name)
	switch {
	case n == nil && required:
		r.fail(parent, name, "is missing")
		return nil
	case n != nil && n.Kind != kind:
		r.fail(parent, name, "is %s, wanted %s", n.Kind, kind)
		return nil
	}
	return n
}

func (r *reader) object(parent *pack.Node, name string) *pack.Node {
	return r.member(parent, name, pack.Object, true)
}

func (r *reader) optionalObject(parent *pack.Node, name string) *pack.Node {
	return r.member(parent, name, pack.Object, false)
}

// array returns the items, all of which are objects.
func (r *reader) array(parent *pack.Node, name string) []*pack.Node {
	n := r.member(parent, name, pack.Array, true)
	if n == nil {
		return nil
	}
	for i, item := range n.Items {
		if item.Kind != pack.Object {
			r.fail(n, fmt.Sprint(i), "is %s, wanted %s", item.Kind, pack.Object)
		}
	}
	return n.Items
}

func (r *reader) text(parent *pack.Node, name string) string {
	if n := r.member(parent, name, pack.String, true); n != nil {
		return n.Text
	}
	return ""
}

// optional returns the text of a member that may be absent.
func (r *reader) optional(parent *pack.Node, name string) string {
	if n := r.member(parent, name, pack.String, false); n != nil {
		return n.Text
	}
	return ""
}

// constant reports a text that is not the one wanted.
func (r *reader) constant(parent *pack.Node, name, wanted string) {
	if got := r.text(parent, name); r.err == nil && got != wanted {
		r.fail(parent, name, "is %q, wanted %q", got, wanted)
	}
}

func (r *reader) flag(parent *pack.Node, name string) bool {
	n := r.member(parent, name, pack.Bool, true)
	return n != nil && n.Bool
}

// digest returns the SHA-256 of a DigestSet with its prefix.
func (r *reader) digest(parent *pack.Node, name string) string {
	set := r.object(parent, name)
	if set == nil {
		return ""
	}
	return "sha256:" + r.text(set, "sha256")
}

// optionalDigest returns the empty string for a DigestSet that is absent.
func (r *reader) optionalDigest(parent *pack.Node, name string) string {
	if r.optionalObject(parent, name) == nil {
		return ""
	}
	return r.digest(parent, name)
}

// timeForm is RFC 3339 in UTC and whole seconds, as in-toto's Timestamp wants.
const timeForm = "2006-01-02T15:04:05Z"

func (r *reader) time(parent *pack.Node, name string) time.Time {
	text := r.text(parent, name)
	t, err := time.Parse(timeForm, text)
	// Parse also takes fractions of a second, which would not be written again.
	if r.err == nil && (err != nil || t.Format(timeForm) != text) {
		r.fail(parent, name, "is %q, wanted a time such as %q", text, timeForm)
	}
	return t
}
