package statement

import (
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

// maxText bounds every single text of a statement.
const maxText = 4096

var (
	digestForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\Asha256:[0-9a-f]{64}\z`) })
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
	c.that(digestForm().MatchString(s), "%s is %q, wanted sha256: and 64 hex digits in lower case", what, s)
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
	c.digest("the "+prefix+"manifest's digest", v.Manifest)
	c.digest("the "+prefix+"content's digest", v.Content)
}
