package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/internal/pack"
)

// ErrNotOneRun is wrapped by the errors of Merge: the reports are not parts of one run.
var ErrNotOneRun = errors.New("the reports do not belong together")

// Merge puts the reports of several runs over parts of one repository together: the
// packs of all of them, sorted by path, what became of versions in a registry, and
// their errors and notices, each once. A pack may be in several reports if all say the
// same of it. All have to be about the same commits. Reports of different versions of
// packgate or its rules are merged with a notice. Result, summary and exit code are
// left to the caller.
func Merge(reports []*Report) (*Report, error) {
	if len(reports) == 0 {
		return nil, fmt.Errorf("%w: there is none", ErrNotOneRun)
	}
	first := reports[0]
	out := &Report{
		Version: ModelVersion, Tool: first.Tool, Command: "merge", Base: first.Base, Head: first.Head,
		Packs: []Pack{}, Errors: []Problem{}, Notices: []string{},
	}
	var tools []string
	var publications []string // as JSON
	for _, r := range reports {
		if err := cmp.Or(sameRevision("base", first.Base, r.Base), sameRevision("head", first.Head, r.Head)); err != nil {
			return nil, err
		}
		for _, p := range r.Errors {
			if !slices.Contains(out.Errors, p) {
				out.Errors = append(out.Errors, p)
			}
		}
		for _, n := range r.Notices {
			if !slices.Contains(out.Notices, n) {
				out.Notices = append(out.Notices, n)
			}
		}
		for _, p := range r.Published {
			if form := pack.CompactJSON(p); !slices.Contains(publications, form) {
				publications, out.Published = append(publications, form), append(out.Published, p)
			}
		}
		tools = append(tools, r.Tool.Name+" "+r.Tool.Version+" (rules "+r.Tool.RulesVersion+")")
		out.Packs = append(out.Packs, r.Packs...)
	}
	slices.Sort(tools)
	if tools = slices.Compact(tools); len(tools) > 1 {
		out.Notices = append(out.Notices, fmt.Sprintf("the merged reports are of different versions: %s", commas(tools)))
	}
	var err error
	out.Packs, err = onePerPath(out.Packs)
	return out, err
}

// maxVersions is how many versions a notice names.
const maxVersions = 5

func commas(words []string) string {
	var b bytes.Buffer
	for i, w := range words[:min(maxVersions, len(words))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(w)
	}
	if left := len(words) - maxVersions; left > 0 {
		b.WriteString(" and " + more(left, "version"))
	}
	return b.String()
}

// sameRevision compares the commits of two reports.
func sameRevision(what string, a, b *Revision) error {
	if a, b := shaOf(a), shaOf(b); a != b {
		return fmt.Errorf("%w: one has the %s %q and another %q", ErrNotOneRun, what, a, b)
	}
	return nil
}

func shaOf(r *Revision) string {
	if r == nil {
		return ""
	}
	return r.SHA
}

// onePerPath sorts packs by path and leaves each of them once.
func onePerPath(packs []Pack) ([]Pack, error) {
	slices.SortStableFunc(packs, func(a, b Pack) int { return cmp.Compare(a.Path, b.Path) })
	out := packs[:0]
	for _, p := range packs {
		last := len(out) - 1
		if last < 0 || out[last].Path != p.Path {
			out = append(out, p)
			continue
		}
		if same, err := samePack(&out[last], &p); err != nil || !same {
			return nil, cmp.Or(err, fmt.Errorf("%w: two of them say different things of %q", ErrNotOneRun, p.Path))
		}
	}
	return out, nil
}

// samePack compares packs by what a reader of the JSON form sees.
func samePack(a, b *Pack) (bool, error) {
	var texts [2]bytes.Buffer
	for i, p := range []*Pack{a, b} {
		if err := WriteJSON(&texts[i], p); err != nil {
			return false, err
		}
	}
	return bytes.Equal(texts[0].Bytes(), texts[1].Bytes()), nil
}
