// Package notice finds what somebody has to be told of published packs: a version was revoked, the
// audit fails, a waiver ends soon, a version has been pinned for long enough to be promoted. It makes
// of each cause the text of an issue and an event for a webhook.
//
// Nothing is kept anywhere but in the issues themselves. A cause follows from what is: from the signed
// records in the registry, from the config and the catalogs. What is known of it has a digest, the fact,
// by which whoever keeps the issue tells whether anything has changed. An event's id is made of the
// cause, of its fact and of how often that changed, so that the same news has the same id however often
// it is sent.
//
// What could not be looked at is not gone: Known says whether a cause that is not there could have been
// seen.
package notice

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is a kind of cause.
type Kind string

// The kinds, the most urgent first.
const (
	Revocation   Kind = "revocation"
	AuditFailure Kind = "audit-failure"
	SoakDone     Kind = "soak-done"
	WaiverEnds   Kind = "waiver-ends"
)

// Ahead is how long before its end a waiver is a cause, and how long a revocation stays one that no
// environment runs any more.
const Ahead = 14 * 24 * time.Hour

// Finding is one thing that an audit found.
type Finding struct {
	Check   string `json:"check"`
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`

	message, hint string
}

// Data is what an event says of a cause: ids, digests and links, and no text of a pack.
type Data struct {
	Notice       Kind      `json:"notice"`
	State        string    `json:"state"` // standing or ended
	Registry     string    `json:"registry,omitempty"`
	Pack         string    `json:"pack,omitempty"`
	Version      string    `json:"version,omitempty"`
	Digest       string    `json:"digest,omitempty"`  // of the manifest
	Content      string    `json:"content,omitempty"` // digest of the pack's bytes
	Statement    string    `json:"statement,omitempty"`
	Environment  string    `json:"environment,omitempty"`
	From         string    `json:"from,omitempty"`
	Environments []string  `json:"environments,omitempty"`
	Rule         string    `json:"rule,omitempty"`
	Waiver       string    `json:"waiver,omitempty"` // digest of what the waiver excuses
	Since        string    `json:"since,omitempty"`
	Expires      string    `json:"expires,omitempty"`
	Findings     []Finding `json:"findings,omitempty"`
	More         int       `json:"more,omitempty"`  // findings that are left out
	Issue        string    `json:"issue,omitempty"` // its address
}

// The states of a cause in an event.
const (
	Standing = "standing"
	Ended    = "ended"
)

// Cause is something that somebody has to be told.
type Cause struct {
	Data
	Time  time.Time // when it came to be, zero where nothing says so
	Title string    // of its issue
	Body  string    // of its issue, in Markdown, in which nothing from elsewhere acts
	key   []string
}

// Key returns the name of the cause, which stays as long as the cause is the same one: its kind, the
// pack, and what else tells it from others, each escaped and with a slash between them.
func (c *Cause) Key() string { return keyOf(c.Notice, c.Pack, c.key...) }

func keyOf(kind Kind, pack string, more ...string) string {
	parts := []string{string(kind), url.PathEscape(pack)}
	for _, one := range more {
		parts = append(parts, url.PathEscape(one))
	}
	return strings.Join(parts, "/")
}

// readKey returns the kind and the pack of a key; ok is false for one that is of no kind here.
func readKey(key string) (kind Kind, packID string, more []string, ok bool) {
	parts := strings.Split(key, "/")
	for i, one := range parts {
		var err error
		if parts[i], err = url.PathUnescape(one); err != nil {
			return "", "", nil, false
		}
	}
	kind = Kind(parts[0])
	switch kind {
	case Revocation, AuditFailure, SoakDone, WaiverEnds:
		return kind, append(parts, "")[1], parts[min(2, len(parts)):], len(parts) > 1
	}
	return "", "", nil, false
}

// KindOf returns the kind of the cause of a key; "" for a key of none here.
func KindOf(key string) Kind {
	kind, _, _, _ := readKey(key)
	return kind
}

// Fact returns a digest of what is known of the cause, in letters and digits.
func (c *Cause) Fact() string { return digestOf(32, c.Data) }

// digestOf returns the beginning of the SHA-256 of values as JSON, in hex: no two lists of values look
// the same.
func digestOf(length int, values ...any) string {
	src, err := json.Marshal(values)
	if err != nil {
		panic(err) // values of this package alone, all of which can be written
	}
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])[:length]
}

// HookID returns by what an issue remembers the address of a webhook.
func HookID(address string) string { return digestOf(16, address) }

// Told is what is known of a cause by its issue.
type Told struct {
	Key      string
	Standing bool
	Fact     string // "" where it has ended
	Seq      int    // how often what is known of it has changed
	Issue    string // the address of the issue
}

// mostFindings bounds the findings in an event.
const mostFindings = 50

// Event is an event of CloudEvents 1.0, as its JSON format has it.
type Event struct {
	SpecVersion     string `json:"specversion"`
	ID              string `json:"id"`
	Source          string `json:"source"` // the address of the repository
	Type            string `json:"type"`
	Subject         string `json:"subject"` // the key of the cause
	Time            string `json:"time,omitempty"`
	DataContentType string `json:"datacontenttype"`
	Data            Data   `json:"data"`
}

// EventID returns the id of the event about what a cause has come to.
func EventID(source string, t Told) string {
	return digestOf(32, source, t.Key, t.Seq, t.Standing, t.Fact)
}

// EventOf returns the event about what a cause has come to; c is nil where it has ended. The error is for
// a key that is of no cause here.
func EventOf(source string, t Told, c *Cause) (*Event, error) {
	kind, packID, more, ok := readKey(t.Key)
	if !ok {
		return nil, fmt.Errorf("no cause has the key %q", t.Key)
	}
	e := &Event{
		SpecVersion: "1.0", ID: EventID(source, t), Source: source, Type: "com.contextosai.packgate." + string(kind), Subject: t.Key, DataContentType: "application/json",
		Data: Data{Notice: kind, State: Ended, Pack: packID},
	}
	switch {
	case c != nil:
		e.Data = c.Data
		if !c.Time.IsZero() {
			e.Time = c.Time.UTC().Format(time.RFC3339)
		}
	case kind == Revocation && len(more) == 2:
		e.Data.Version, e.Data.Digest = more[0], more[1]
	case kind == SoakDone && len(more) == 1:
		e.Data.Environment = more[0]
	case kind == WaiverEnds && len(more) == 1:
		e.Data.Waiver = more[0]
	}
	e.Data.Issue = t.Issue
	e.Data.bound()
	return e, nil
}

// bound keeps the data to a size, and its names to names.
func (d *Data) bound() {
	if len(d.Findings) > mostFindings {
		d.More, d.Findings = len(d.Findings)-mostFindings, d.Findings[:mostFindings]
	}
	for _, one := range []*string{&d.Registry, &d.Pack, &d.Version, &d.Digest, &d.Content, &d.Statement, &d.Environment, &d.From, &d.Rule} {
		*one = name(*one)
	}
	d.Environments = slices.Clone(d.Environments)
	for i := range d.Environments {
		d.Environments[i] = name(d.Environments[i])
	}
}

// nameForm is that of ids: nothing in it could be a sentence.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[A-Za-z0-9_.:@/*+-]{0,255}\z`) })

// name returns an id as it is, and any other text as its digest.
func name(s string) string {
	if nameForm().MatchString(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}
