package statement

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
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

func isDigest(s string) bool { return digestForm().MatchString(s) }

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

// id returns the pack_id of pack_id@version.
func (v Version) id() string {
	id, _, _ := strings.Cut(v.Pack, "@")
	return id
}

func (v Version) check() error {
	c := &checker{}
	c.version("", v)
	return c.err
}

// version checks a version; prefix says whose it is.
func (c *checker) version(prefix string, v Version) {
	c.that(nameForm().MatchString(v.Pack), "the %sname is %q, wanted a pack_id, @ and a version such as 1.2.0", prefix, v.Pack)
	c.digest("the "+prefix+"manifest's digest", v.Manifest)
	c.digest("the "+prefix+"content's digest", v.Content)
}
