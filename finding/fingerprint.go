package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Fingerprint identifies the finding across versions of a pack: it depends on
// the rule, the keyed path and the key, neither on the line nor on the prose.
// Places in arrays whose items have no identity count for nothing, since every
// item that is put before them moves them; what is alike then is told apart by
// its order. It is 32 hexadecimal digits, the first half of a SHA-256.
func (f Finding) Fingerprint() string {
	parts := []string{f.Rule, unnumbered(f.Location.Path), f.Key}
	if f.Ordinal > 0 {
		parts = append(parts, strconv.Itoa(f.Ordinal))
	}
	return digest(parts...)
}

// ChangeFingerprint identifies a change between two versions of a pack, as
// Fingerprint does a finding: by the row of the class table that it is of, its
// keyed path, and what happened ("added", "removed", …).
func ChangeFingerprint(row, path, kind string) string {
	return digest("change", row, unnumbered(path), kind)
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		// With its length before each part, no two lists write the same.
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// unnumbered returns a keyed path in which every place in an array without
// identities is the same one. Such places are written as a number, and as [i] for
// an item that should have an identity.
func unnumbered(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		digits := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

// number sets the ordinals of findings in their order.
func number(fs []Finding) {
	seen := make(map[string]int, len(fs))
	for i := range fs {
		fs[i].Ordinal = 0
		same := fs[i].Fingerprint()
		fs[i].Ordinal = seen[same]
		seen[same]++
	}
}

// State says how a finding stands to the version before.
type State string

// The states. A finding that is there no more is fixed, and no finding any more.
const (
	New      State = "new"
	Existing State = "existing"
)

// Since compares findings with those of the version before, both as Sort leaves
// them. It returns the findings with their states, and those of the version before
// that are fixed, in their order. Neither argument is changed.
//
// Of a rule whose list is cut it is not known what is missing in it: then nothing is
// said to be fixed that may only have left the list, and nothing has a state that may
// have been there before.
func Since(before, now []Finding) (standing, fixed []Finding) {
	open := make(map[string]bool, len(before))
	for _, f := range before {
		open[f.Fingerprint()] = true
	}
	cutBefore, cutNow := cut(before), cut(now)
	standing = make([]Finding, len(now))
	for i, f := range now {
		fingerprint := f.Fingerprint()
		switch {
		case open[fingerprint]:
			f.State = Existing
		case cutBefore[f.Rule] && !f.IsRest():
			f.State = ""
		default:
			f.State = New
		}
		delete(open, fingerprint)
		standing[i] = f
	}
	for _, f := range before {
		if open[f.Fingerprint()] && (!cutNow[f.Rule] || f.IsRest()) {
			fixed = append(fixed, f)
		}
	}
	return standing, fixed
}

// restKey is the key of the finding that stands for those which are not listed. No
// rule has another one at the path "", that of a whole document, with this key.
const restKey = "… more"

// AsRest returns a finding that stands for those of its rule which are not listed.
// It has the path of a whole document, so that no waiver of a part of it covers it,
// and the same fingerprint however many there are.
func AsRest(f Finding) Finding {
	f.Key, f.Location.Path, f.Location.Pointer = restKey, "", ""
	return f
}

// IsRest reports whether the finding stands for those of its rule which are not
// listed.
func (f Finding) IsRest() bool { return f.Key == restKey && f.Location.Path == "" }

// cut returns the rules of which not all findings are listed.
func cut(list []Finding) map[string]bool {
	rules := map[string]bool{}
	for i := range list {
		if list[i].IsRest() {
			rules[list[i].Rule] = true
		}
	}
	return rules
}
