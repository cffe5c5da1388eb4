package statement

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
)

// Subject is a document of which a statement speaks that is about no one version.
type Subject struct {
	Name   string // the registry path whose packs the document is about
	Digest string // of the document's bytes
}

// Status says what a publisher has said of all its packs in a registry: the document that
// is the subject, which is a [Ledger].
type Status struct {
	Subject
	Publisher string // who has to have signed the packs, and signs this
	Sequence  int    // from 1 on, raised by each change
	Time      time.Time
}

func (s Status) check() error {
	c := &checker{}
	c.subject(s.Subject)
	c.text("the publisher", s.Publisher)
	c.sequence(s.Sequence)
	c.time("the time", s.Time)
	return c.err
}

// Statement returns the in-toto Statement of the status in its canonical bytes. It fails
// where a member is missing or malformed.
func (s Status) Statement() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return encodeAbout([]Subject{s.Subject}, TypeStatus, object{"publisher": s.Publisher, "sequence": s.Sequence, "time": s.Time.Format(timeForm)})
}

// Status reads the predicate of a statement of TypeStatus. It fails for one of another
// type, and where a member is missing or malformed.
func (s *Statement) Status() (*Status, error) {
	p, r := s.predicate(TypeStatus)
	out := &Status{Subject: s.Subject(), Publisher: r.text(p, "publisher"), Sequence: r.sequence(p, "sequence"), Time: r.time(p, "time")}
	return checked(out, r.err)
}

// Timestamp says that the status that is the subject is the newest one at a time, and
// until when that may be relied on at most.
type Timestamp struct {
	Subject
	Sequence int // of the status
	Issued   time.Time
	Expires  time.Time
}

func (t Timestamp) check() error {
	c := &checker{}
	c.subject(t.Subject)
	c.sequence(t.Sequence)
	c.time("the time of issue", t.Issued)
	c.time("the time of expiry", t.Expires)
	c.that(t.Expires.After(t.Issued), "it expires at %q, wanted a time after that of its issue, %q", t.Expires.Format(timeForm), t.Issued.Format(timeForm))
	return c.err
}

// Statement returns the in-toto Statement of the timestamp in its canonical bytes. It
// fails where a member is missing or malformed.
func (t Timestamp) Statement() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return encodeAbout([]Subject{t.Subject}, TypeTimestamp,
		object{"sequence": t.Sequence, "issued": t.Issued.Format(timeForm), "expires": t.Expires.Format(timeForm)})
}

// Timestamp reads the predicate of a statement of TypeTimestamp. It fails for one of
// another type, and where a member is missing or malformed.
func (s *Statement) Timestamp() (*Timestamp, error) {
	p, r := s.predicate(TypeTimestamp)
	out := &Timestamp{Subject: s.Subject(), Sequence: r.sequence(p, "sequence"), Issued: r.time(p, "issued"), Expires: r.time(p, "expires")}
	return checked(out, r.err)
}

// maxName bounds the name of a place that packs are kept in, which may be a path.
const maxName = 1024

func (c *checker) subject(s Subject) {
	ok := s.Name != "" && len(s.Name) <= maxName && s.Name == strings.TrimSpace(s.Name) && utf8.ValidString(s.Name) && !strings.ContainsFunc(s.Name, func(r rune) bool { return unicode.In(r, unicode.C) })
	c.that(ok, "the name is %s, wanted the path of a registry", pack.Clip(fmt.Sprintf("%q", s.Name), 80))
	c.digest("the document's digest", s.Digest)
}

func (c *checker) sequence(n int) {
	c.that(n >= 1 && float64(n) < 1<<53, "the sequence is %d, wanted a number from 1 on", n)
}

// subject reads the only subject of a statement about a document.
func (r *reader) subject(root *pack.Node) Subject {
	items := r.array(root, "subject")
	if r.err == nil && len(items) != 1 {
		r.fail(root, "subject", "has %s, wanted 1: the document", pack.Counted(len(items), "item"))
	}
	if r.err != nil {
		return Subject{}
	}
	return Subject{r.text(items[0], "name"), r.digest(items[0], "digest")}
}

// sequence reads a whole number as canonical JSON writes it.
func (r *reader) sequence(parent *pack.Node, name string) int {
	n := r.member(parent, name, pack.Number, true)
	if n == nil {
		return 0
	}
	number, err := strconv.Atoi(n.Text)
	if err != nil || strconv.Itoa(number) != n.Text {
		r.fail(parent, name, "is %s, wanted a whole number", pack.Clip(n.Text, 32))
	}
	return number
}
