package render

import (
	"cmp"
	"path"
	"slices"

	"github.com/contextosai/packgate/report/model"
)

// todo is the one thing to do next where a pack does not pass: raise its version,
// or act on a finding. Its words are those of a pack, and not escaped.
type todo struct {
	version string // to raise it to, "" where it is a finding
	bump    string // the command that does that
	others  int    // errors besides the version
	message string // of the finding
	rule    string
	file    string
	line    int
}

// todoOf returns what to do next: raise the version, else act on the first error
// that says how or, where warnings fail, on the first of those. It is nil for a
// pack that passes, or in which nothing was found.
func todoOf(p *model.Pack) *todo {
	if p.Result == model.Passed {
		return nil
	}
	if d := p.Diff; d != nil && d.RequiredVersion != "" {
		return raise(p)
	}
	for _, severity := range []string{"error", "warning"} {
		if found := p.BySeverity(severity); len(found) > 0 {
			f := found[max(0, slices.IndexFunc(found, func(f model.Finding) bool { return f.Hint != "" }))]
			return &todo{message: cmp.Or(f.Hint, f.Message), rule: f.Rule, file: f.File, line: f.Line}
		}
	}
	return nil
}

// brokenTodo returns what to do next where the run could not finish, "" where nobody
// knows.
func brokenTodo(r *model.Report) string {
	if len(r.Errors) > 0 {
		return r.Errors[0].Hint
	}
	return publishTodo(published(r))
}

// raise asks for the version that the changes need, and reminds of what else is
// wrong.
func raise(p *model.Pack) *todo {
	next := &todo{version: p.Diff.RequiredVersion, bump: "packgate bump " + path.Dir(p.Path), file: p.Path}
	for _, f := range p.BySeverity("error") {
		if f.Pointer != model.VersionPointer || f.Fix == nil {
			next.others++
			continue
		}
		next.file, next.line = f.File, f.Line
	}
	return next
}
