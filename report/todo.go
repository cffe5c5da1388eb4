package report

import (
	"cmp"
	"fmt"
	"slices"
)

// versionPointer is where a pack states its version (Context Pack contract,
// pack_meta).
const versionPointer = "/pack_meta/pack_version"

// todo says the one thing to do next where a pack does not pass: raise the
// version, else act on the first error that says how or, where warnings fail, on
// the first of those. It is "" for a pack that passes.
func (m *markdown) todo(p *Pack) string {
	if p.Result == Passed {
		return ""
	}
	if d := p.Diff; d != nil && d.RequiredVersion != "" {
		return m.raise(p)
	}
	for _, severity := range []string{"error", "warning"} {
		if found := bySeverity(p, severity); len(found) > 0 {
			f := found[max(0, slices.IndexFunc(found, func(f Finding) bool { return f.Hint != "" }))]
			return fmt.Sprintf("%s (%s, %s)", Message(cmp.Or(f.Hint, f.Message)), Markdown(f.Rule), m.link(f.File, f.Line))
		}
	}
	return ""
}

// raise asks for the version that the changes need, and reminds of what else is
// wrong.
func (m *markdown) raise(p *Pack) string {
	file, line, others := p.Path, 0, 0
	for _, f := range bySeverity(p, "error") {
		if f.Pointer != versionPointer || f.Fix == nil {
			others++
			continue
		}
		file, line = f.File, f.Line
	}
	todo := fmt.Sprintf("set `pack_version` to %s (%s)", Markdown(p.Diff.RequiredVersion), m.link(file, line))
	if others > 0 {
		todo += ", and mend " + plural(others, "other error")
	}
	return todo
}
