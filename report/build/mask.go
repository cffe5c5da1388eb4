package build

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/gates/security"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// A secret in a pack is found by SEC001, which does not print it. Any other rule may quote
// the value that holds it, a change shows it, a keyed path names it. So everything that is
// said of a pack is masked once, here, before anybody can write it anywhere.

// shownOfSecret is how many characters of a secret a report may show.
const shownOfSecret = 4

// telling is how much of a secret a cut text has to hold to be masked too.
const telling = 8

// Masked returns a value without the secrets of its documents. The value has to survive a round
// trip through JSON.
func Masked[T any](value T, documents []*pack.Document) (T, error) {
	m := maskOf(nil, documents)
	if m == nil {
		return value, nil
	}
	var out T
	err := json.Unmarshal([]byte(m.text(pack.CompactJSON(value))), &out)
	return out, err
}

// maskOf returns the mask of the secrets of documents, nil where there are none. What
// was found in their texts is taken from the memo, where there is one.
func maskOf(memo *detect.Memo, documents []*pack.Document) *mask {
	var secrets []string
	for _, d := range documents {
		secrets = append(secrets, security.Secrets(memo, d)...)
	}
	if len(secrets) == 0 {
		return nil
	}
	return newMask(secrets)
}

// masked returns what is said of a pack without the secrets of the documents. A
// repair that would carry one is left out: it could only be made by hand.
func masked(p model.Pack, memo *detect.Memo, documents []*pack.Document) model.Pack {
	m := maskOf(memo, documents)
	if m == nil {
		return p
	}
	for i := range p.Findings {
		if fix := p.Findings[i].Fix; fix != nil && m.text(pack.CompactJSON(fix)) != pack.CompactJSON(fix) {
			p.Findings[i].Fix = nil
		}
	}
	var out model.Pack
	if err := json.Unmarshal([]byte(m.text(pack.CompactJSON(p))), &out); err != nil {
		// Masking keeps JSON whole; if it ever did not, nothing is said at all.
		return model.Pack{Path: p.Path, Result: p.Result, Gates: p.Gates}
	}
	return out
}

// mask masks secrets in the JSON form of a report, looking at every place of a text once.
type mask struct {
	forms   map[string][]string // by their first telling bytes, or all of them
	lengths []int               // of the keys of forms, the longest first
}

// newMask prepares the forms in which secrets may be in the JSON form of a
// report: as they are, quoted in a message, as a segment of a path.
func newMask(secrets []string) *mask {
	m := &mask{forms: map[string][]string{}}
	for _, s := range secrets {
		quoted := strconv.Quote(s)
		for _, form := range []string{s, quoted[1 : len(quoted)-1], pack.EscapeSegment(s)} {
			text := pack.CompactJSON(form)
			m.add(text[1 : len(text)-1])
		}
	}
	slices.SortFunc(m.lengths, func(a, b int) int { return b - a })
	return m
}

func (m *mask) add(form string) {
	head := form[:min(telling, len(form))]
	if head == "" || slices.Contains(m.forms[head], form) {
		return
	}
	m.forms[head] = append(m.forms[head], form)
	if !slices.Contains(m.lengths, len(head)) {
		m.lengths = append(m.lengths, len(head))
	}
}

// text masks each secret in a text, and the beginning of one where the text was cut.
func (m *mask) text(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		n, secret := m.at(text[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(detect.Mask(secret, shownOfSecret))
		i += n
		done = i
	}
	return b.String() + text[done:]
}

// at returns how much of which secret a text begins with; of several that of which most is there.
func (m *mask) at(text string) (n int, secret string) {
	for _, length := range m.lengths {
		if length > len(text) {
			continue
		}
		for _, form := range m.forms[text[:length]] {
			if l := commonPrefix(text, form); l > n {
				n, secret = l, form
			}
		}
	}
	for n > 0 && text[n-1] == '\\' {
		n-- // an escape sequence stays whole
	}
	return n, secret
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
