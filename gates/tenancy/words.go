package tenancy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/schemas"
)

const (
	// few is how many names a hint lists in full.
	few = 8
	// mostShown is how many characters of a pack's own text a message repeats.
	mostShown = 64
	// comparisons bounds the search for near names in one check. A real pack
	// needs some hundred; one that is made to be slow must not succeed.
	comparisons = 50_000
)

// budget is how many comparisons of names a check may still make.
type budget struct{ left int }

func newBudget() *budget { return &budget{comparisons} }

// quote quotes text of a document for a message, shortened.
func quote(text string) string {
	count := 0
	for i := range text {
		if count == mostShown {
			return fmt.Sprintf("%q", text[:i]+"…")
		}
		count++
	}
	return fmt.Sprintf("%q", text)
}

// called returns what messages call a thing: its kind and, if it has one, its name.
func called(kind string, name pack.Text) string {
	if !name.OK {
		return "the " + kind
	}
	return kind + " " + quote(name.Value)
}

func isObject(part pack.Part) bool { return part.Node != nil && part.Node.Kind == pack.Object }

// eachCatalog calls check for every environment that has a section, and notes
// which have none. It returns how many have it.
func eachCatalog(p *gate.Pass, what string, section func(*repo.Environment) *pack.Node, check func(*repo.Environment)) int {
	var without []*repo.Environment
	for _, e := range p.Environments {
		if section(e) == nil {
			without = append(without, e)
			continue
		}
		check(e)
	}
	if len(without) == len(p.Environments) {
		p.NotChecked("no environment catalog lists " + what)
		return 0
	}
	for _, e := range without {
		p.NotChecked(fmt.Sprintf("the catalog of environment %q lists no %s", e.Name(), what))
	}
	return len(p.Environments) - len(without)
}

// choose returns a hint for a name that a catalog does not list: the nearest
// name that it lists or all of them where they are few, or how to list it.
func (b *budget) choose(name string, names []string, otherwise string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) <= b.left {
		b.left -= len(names)
		if near := schemas.Nearest(name, names); near != "" {
			return fmt.Sprintf("write %q, or %s", near, otherwise)
		}
	}
	switch {
	case len(names) == 0:
		return otherwise
	case len(names) == 1:
		return fmt.Sprintf("choose %q, the only one there is, or %s", names[0], otherwise)
	case len(names) > few:
		return fmt.Sprintf("choose one of the %d that there are, or %s", len(names), otherwise)
	}
	return fmt.Sprintf("choose one of %s, or %s", list(names), otherwise)
}

func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}

func also(at *pack.Node, message string) []finding.Related {
	if at == nil {
		return nil
	}
	return []finding.Related{gate.Also(at, message)}
}

// isWildcard reports whether a name stands for more than one thing.
func isWildcard(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "any", "all":
		return true
	}
	return strings.ContainsAny(name, "*?")
}

// isShared reports whether the config lists the pack as one that several
// tenants use.
func isShared(p *gate.Pass) bool {
	return slices.Contains(pack.Values(p.Config.SharedPacks), p.Pack.PackMeta.PackID.Value)
}
