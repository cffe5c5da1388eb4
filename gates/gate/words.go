package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

const (
	// MostShown is how many characters of a pack's own text a message repeats.
	MostShown = 64
	// MostListed is how many names a hint lists in full.
	MostListed = 8
	// comparisons bounds the search for near names in one check. A real pack
	// needs some hundred; one that is made to be slow must not succeed.
	comparisons = 50_000
)

// Quote quotes text of a document for a message, cut after MostShown characters.
func Quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, MostShown)) }

// QuoteDigest quotes a digest whole, because it is to be compared with another one or copied.
func QuoteDigest(digest string) string {
	return fmt.Sprintf("%q", pack.Clip(digest, len("sha256:")+64))
}

// Called returns what messages call a thing: its kind and, if it has one, its
// name in full.
func Called(kind string, name pack.Text) string {
	if !name.OK {
		return "the " + kind
	}
	return fmt.Sprintf("%s %q", kind, name.Value)
}

// CalledBriefly is Called with the name as Quote gives it.
func CalledBriefly(kind string, name pack.Text) string {
	name.Value = pack.Clip(name.Value, MostShown)
	return Called(kind, name)
}

// See returns the related place of a diagnostic and what it is in a few words;
// nothing where there is no such place.
func See(at *pack.Node, format string, args ...any) []finding.Related {
	if at == nil {
		return nil
	}
	return []finding.Related{Also(at, fmt.Sprintf(format, args...))}
}

// Wildcard reports whether a name stands for more than one thing: it holds a * or a ?,
// or is one of the words.
func Wildcard(name string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(name))) || strings.ContainsAny(name, "*?")
}

// IsObject reports whether there is a value, and it is an object.
func IsObject(n *pack.Node) bool { return n != nil && n.Kind == pack.Object }

// Budget is how many comparisons of names a check may still make.
type Budget struct{ left int }

// NewBudget returns the budget of one check.
func NewBudget() *Budget { return &Budget{comparisons} }

// Nearest returns the one of the names that was probably meant; "" where none is
// near, or where the budget does not suffice to tell.
func (b *Budget) Nearest(name string, names []string) string {
	if len(names) > b.left {
		return ""
	}
	b.left -= len(names)
	return schemas.Nearest(name, names)
}

// Choose returns the hint for a name that does not exist: to write the nearest
// one, where there is one, or to choose one of the names that exist, or to do
// otherwise, which is said in the imperative. The names are listed by list.
func Choose(near string, names []string, otherwise string, list func([]string) string) string {
	switch {
	case near != "":
		return fmt.Sprintf("write %q, or %s", near, otherwise)
	case len(names) == 0:
		return otherwise
	case len(names) == 1:
		return fmt.Sprintf("choose %q, the only one there is, or %s", names[0], otherwise)
	case len(names) > MostListed:
		return fmt.Sprintf("choose one of the %d that there are, or %s", len(names), otherwise)
	}
	return fmt.Sprintf("choose one of %s, or %s", list(names), otherwise)
}

// List lists names in full for a message.
func List(names []string) string {
	return listed(names, func(name string) string { return fmt.Sprintf("%q", name) })
}

// ListBriefly lists names for a message as Quote gives them.
func ListBriefly(names []string) string { return listed(names, Quote) }

func listed(names []string, quote func(string) string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}

// Fold brings the spellings of a word of the contract together: "Read-only" and "read only" mean
// read_only.
func Fold(word string) string {
	return wordBreaks.Replace(strings.ToLower(strings.TrimSpace(word)))
}

// wordBreaks writes what separates words as the contract does.
var wordBreaks = strings.NewReplacer("-", "_", " ", "_")
