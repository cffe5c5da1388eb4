package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

const (
	// maxRepairs bounds the repairs that are worked out for a review, each of which
	// reads its pack again. Not all have a place in the pull request.
	maxRepairs = 5 * github.MaxSuggestions
	// maxBesideSuggestions is how many findings there may be where repairs are
	// suggested. Beyond it a suggestion is lost among the rest, and the check run
	// needs the requests.
	maxBesideSuggestions = 50
)

// repairs works out what the mechanical fixes of the findings make of their lines,
// while the packs can be read.
func (a *actionRun) repairs(w *gating.Workspace) {
	if a.event.Name != github.EventPullRequest || len(annotationsOf(a.Report)) > maxBesideSuggestions {
		return
	}
	for _, p := range a.Report.Packs.All() {
		i := slices.IndexFunc(w.Packs, func(name string) bool { return w.Files.Show(name) == p.Path })
		if i < 0 || !slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return f.Fix != nil }) {
			continue
		}
		doc, _, err := w.Files.Document(w.Packs[i], w.Config.Limits)
		if err != nil || doc.Root == nil {
			continue // the gates have said so
		}
		for _, f := range p.Open() {
			if f.Fix == nil || f.File != p.Path || len(a.suggestions) == maxRepairs {
				continue
			}
			if s, ok := suggestionOf(doc, f); ok {
				a.suggestions = append(a.suggestions, s)
			}
		}
	}
}

// suggestionOf returns what the fix of one finding makes of the lines of a pack; ok
// is false where it cannot be made, and where lines hold a secret: a suggestion
// shows them as they are.
func suggestionOf(doc *pack.Document, f model.Finding) (s github.Suggestion, ok bool) {
	fixed, err := pack.Edit(doc, operationsOf(f.Fix.Patch))
	if err != nil || string(fixed) == string(doc.Source) {
		return s, false
	}
	s = github.Suggestion{Path: f.File, Fingerprint: f.Fingerprint}
	s.Line, s.Before, s.After = changedLines(string(doc.Source), string(fixed))
	lines := strings.Join(slices.Concat(s.Before, s.After), "\n")
	if shown, err := build.Masked(lines, []*pack.Document{doc}); err != nil || shown != lines {
		return s, false
	}
	s.Text = fmt.Sprintf("**%s** %s\n\nThis would fix it: %s.", render.Markdown(f.Rule+" "+f.Name), render.Message(f.Message), render.Message(f.Fix.Description))
	return s, true
}

// changedLines returns the lines, from a number on, that differ between two texts,
// and what they became. Lines that were only added or taken away come with a
// neighbour, since GitHub replaces lines and puts none between two.
func changedLines(before, after string) (line int, old, fixed []string) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	start, end, shorter := 0, 0, min(len(a), len(b))
	for start < shorter && a[start] == b[start] {
		start++
	}
	for end < shorter-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if start+end == shorter {
		if start > 0 {
			start--
		} else if end > 0 {
			end--
		}
	}
	return start + 1, a[start : len(a)-end], b[start : len(b)-end]
}

// suggest posts the repairs at their lines of the pull request. Where the token
// could not comment it cannot suggest either, and one notice says it.
func (a *actionRun) suggest(ctx context.Context, client *github.Client, commented error) error {
	switch {
	case client == nil || a.event.Name != github.EventPullRequest || a.inputs.comment == string(github.CommentNever):
		return nil
	case errors.Is(commented, github.ErrForbidden) || len(a.suggestions) == 0:
		return nil
	}
	_, err := client.Suggest(ctx, a.event.PullRequest, a.event.HeadSHA, a.suggestions)
	return err
}

func operationsOf(patch []model.Operation) []finding.Operation {
	out := make([]finding.Operation, len(patch))
	for i, op := range patch {
		out[i] = finding.Operation{Op: op.Op, Path: op.Path, Value: string(op.Value)}
	}
	return out
}
