package repo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// AcceptedName is the name of the baseline file, which lists findings that a repository had when the
// gate was introduced, and that do not count until a given day.
const AcceptedName = ".packgate-baseline.json"

// Accepted are the entries of a baseline file.
type Accepted struct {
	Document *pack.Document
	Entries  []Acceptance
}

// Acceptance is an entry of a baseline file: a finding of a pack that does not count, or several
// equal ones.
type Acceptance struct {
	Pack     string `json:"pack"`
	Rule     string `json:"rule"`
	Path     string `json:"path"`
	Finding  string `json:"finding"`         // finding.Kin
	Content  string `json:"content"`         // digest of what the finding is about
	Count    int    `json:"count,omitempty"` // absent for one: see Most
	Recorded string `json:"recorded"`        // calendar day, YYYY-MM-DD, as Expires
	Expires  string `json:"expires"`
	Owner    string `json:"owner"`
	Reason   string `json:"reason"`
	Seal     string `json:"seal"`

	Location finding.Location `json:"-"`
}

// Most returns how many equal findings the entry is for.
func (a *Acceptance) Most() int { return max(a.Count, 1) }

// Words returns the rule, pack and path of the entry, for messages.
func (a *Acceptance) Words() string {
	return strings.TrimSpace(fmt.Sprintf("%s for %q %s", a.Rule, a.Pack, a.Path))
}

// Sealed returns the entry with its seal: half of the SHA-256 of its other members, in hexadecimal.
func (a Acceptance) Sealed() Acceptance {
	h := sha256.New()
	for _, text := range []string{a.Pack, a.Rule, a.Path, a.Finding, a.Content, strconv.Itoa(a.Count), a.Recorded, a.Expires, a.Owner, a.Reason} {
		fmt.Fprintf(h, "%d:%s", len(text), text) // no two lists write the same
	}
	a.Seal = hex.EncodeToString(h.Sum(nil)[:16])
	return a
}

// CoversNoMore reports whether the entry is the old one, possibly for fewer findings or until an earlier
// day. An entry that differs in anything else, such as its reason, is a new one.
func (a *Acceptance) CoversNoMore(old *Acceptance) bool {
	fewer := *old
	fewer.Count, fewer.Expires = a.Count, min(a.Expires, old.Expires)
	return a.Most() <= old.Most() && fewer.Sealed().Seal == a.Sealed().Seal
}

// SameFinding reports whether two entries are for the same finding of the same pack.
func (a *Acceptance) SameFinding(other *Acceptance) bool { return a.is() == other.is() }

// acceptedFinding is what identifies an entry.
type acceptedFinding struct{ pack, rule, finding, content string }

func (a *Acceptance) is() acceptedFinding {
	return acceptedFinding{a.Pack, a.Rule, a.Finding, a.Content}
}

// The bounds of a baseline file.
const (
	maxAccepted       = 8 << 20
	maxAcceptedValues = 150_000
)

const (
	acceptedHint = "write it again with packgate baseline write"
	tooMuchHint  = "fix some of what it holds, and " + acceptedHint
)

// Accepted reads the baseline file of a repository; nil if it has none. The error is a *Problem or
// Problems if the file is not valid, was edited by hand, or is a symbolic link.
func (f *Files) Accepted() (*Accepted, error) {
	there, err := f.Exists(AcceptedName)
	if err != nil || !there {
		return nil, err
	}
	if info, err := fs.Lstat(f.tree, AcceptedName); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return nil, errors.Join(err, fileProblem(f.Show(AcceptedName), "the baseline is a symbolic link", "put the file itself there"))
	}
	src, err := f.within(AcceptedName, maxAccepted, "baseline", tooMuchHint)
	if err != nil {
		return nil, err
	}
	return ParseAccepted(f.Show(AcceptedName), src)
}

// ParseAccepted reads a baseline file from its bytes; file is its name in messages. The error is
// a *Problem or Problems where it is not valid or was edited by hand.
func ParseAccepted(file string, src []byte) (*Accepted, error) {
	limits := pack.DefaultLimits()
	limits.MaxBytes, limits.MaxValues = maxAccepted, maxAcceptedValues
	doc, faults := pack.Read(file, src, limits)
	for i := range faults {
		if faults[i].Kind == pack.Limit {
			faults[i].Hint = tooMuchHint
		}
	}
	if err := Unreadable(faults); err != nil {
		return nil, err
	}
	if err := validate("baseline", doc); err != nil {
		return nil, err
	}
	a := &Accepted{Document: doc}
	return a, a.read().Err()
}

// read reads the entries with their places, and returns problems for those that were edited.
func (a *Accepted) read() (problems Problems) {
	known := map[acceptedFinding]bool{}
	items := a.Document.Root.Get("entries").Items
	a.Entries = make([]Acceptance, len(items))
	for i, n := range items {
		e := &a.Entries[i]
		err := json.Unmarshal([]byte(n.Raw()), e)
		e.Location = n.Location()
		switch {
		case err != nil: // a number that the schema takes for a whole one
			problems = append(problems, Problemf(acceptedHint, "the entry %s cannot be read: %v", e.Words(), err).placed(n))
		case e.Sealed().Seal != e.Seal:
			problems = append(problems, Problemf("put back what it was, or remove the entry and "+acceptedHint,
				"the entry %s was edited by hand: its seal is of something else", e.Words()).placed(n))
		case known[e.is()]:
			problems = append(problems, Problemf("remove one of them", "the entry %s is there twice", e.Words()).placed(n))
		case e.Expires < e.Recorded:
			problems = append(problems, Problemf(acceptedHint, "the entry %s ends before the day on which it was recorded", e.Words()).placed(n))
		}
		known[e.is()] = true
	}
	return problems
}

// AcceptedBytes returns the content of a baseline file with the given entries, sealed and sorted, one per
// line. The error is that of ParseAccepted for the result.
func AcceptedBytes(entries []Acceptance) ([]byte, error) {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Acceptance) int {
		return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Finding, b.Finding), cmp.Compare(a.Content, b.Content))
	})
	var out strings.Builder
	out.WriteString("{\n  \"version\": 1,\n  \"entries\": [")
	for i, e := range entries {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    " + pack.CompactJSON(e.Sealed()))
	}
	if len(entries) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	src := []byte(out.String())
	_, err := ParseAccepted(AcceptedName, src)
	return src, err
}
