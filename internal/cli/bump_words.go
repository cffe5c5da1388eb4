package cli

import (
	"fmt"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// mostForcing is how many changes bump names; packgate check lists all.
const mostForcing = 3

// versionPath is where a pack has its version. What changes there is no change of
// the pack's content.
const versionPath = "/pack_meta/pack_version"

func isRejection(f finding.Finding) bool { return f.Rule == version.VER006.ID }

// changesOf returns the changes of a class, in the order of a comparison.
func changesOf(d *model.Diff, class string) []model.Change {
	var list []model.Change
	for _, l := range d.Layers {
		for _, c := range l.Changes {
			if c.Class == class && c.Path != versionPath {
				list = append(list, c)
			}
		}
	}
	return list
}

// baseName names the baseline for people, with the version that it has, if it does.
func (b *bumping) baseName() string {
	if b.diff != nil && b.diff.Base.Version != "" {
		return fmt.Sprintf("%s (%s, %.7s)", b.diff.Base.Version, b.base.Ref, b.base.Tree.SHA())
	}
	return fmt.Sprintf("%s (%.7s)", b.base.Ref, b.base.Tree.SHA())
}

// nothing says why there is nothing to do.
func (b *bumping) nothing(target string) []string {
	ref := b.unit.Pack.PackMeta.PackID.Value + "@" + target
	words := ""
	switch {
	case b.diff == nil && b.unknown != "":
		words = "it has this version already"
	case b.diff == nil:
		words = "the pack is not in " + b.baseName() + ", so any version will do"
	case b.diff.Base.Digest == b.diff.Head.Digest:
		words = "nothing changed since " + b.baseName()
	default:
		words = fmt.Sprintf("the changes since %s are %s", b.baseName(), contentClass(b.diff))
	}
	lines := []string{render.Visible(fmt.Sprintf("%s: nothing to do, %s", ref, words))}
	return append(lines, b.remarks(b.diff, nil)...)
}

// contentClass returns the highest class of the changes, pack_version's own aside.
func contentClass(d *diffing.Diff) diffing.Class {
	highest := diffing.None
	for _, c := range d.Changes() {
		if c.Path != versionPath {
			highest = max(highest, c.Class)
		}
	}
	return highest
}

// why says which version is set, and what forces it.
func (b *bumping) why(target string) []string {
	id := b.unit.Pack.PackMeta.PackID.Value
	if target == b.current() {
		return []string{render.Visible(fmt.Sprintf("%s@%s: the version stays, and what names the pack follows it", id, target))}
	}
	line := fmt.Sprintf("%s: pack_version %q → %q", id, b.current(), target)
	switch {
	case b.diff == nil && b.unknown != "":
		return []string{render.Visible(line + ", as --to says; " + b.unknown)}
	case b.diff == nil || b.diff.Base.Digest == b.diff.Head.Digest:
		return []string{render.Visible(line + ", as --to says")}
	}
	class := contentClass(b.diff)
	if class == diffing.None {
		because := "items are in another order than in"
		switch {
		case target == b.diff.Base.Version:
			because = "nothing else changed since"
		case b.diff.Head.Version != b.diff.Base.Version:
			because = "it has to be greater than"
		}
		return []string{render.Visible(fmt.Sprintf("%s, because %s %s", line, because, b.baseName()))}
	}
	lines := []string{render.Visible(fmt.Sprintf("%s, because the changes since %s are %s", line, b.baseName(), class))}
	shown, _ := build.NewComparison(build.Comparison{Diff: b.diff})
	forcing := changesOf(shown, class.String())
	for _, c := range forcing[:min(len(forcing), mostForcing)] {
		lines = append(lines, forcedBy(c))
	}
	if more := len(forcing) - mostForcing; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

// forcedBy words a change that decides the version. What was removed has its place
// in the baseline.
func forcedBy(c model.Change) string {
	at := fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Column)
	if c.Kind == diffing.Removed.String() {
		return render.Visible(fmt.Sprintf("  removed %s, which stood at %s: %s", c.Path, at, c.Reason))
	}
	return render.Visible(fmt.Sprintf("  %s: %s %s: %s", at, c.Kind, c.Path, c.Reason))
}

// did says what was written, or would be.
func (b *bumping) did(edits []gating.Edit) []string {
	var lines []string
	for _, e := range edits {
		verb := e.Verb("wrote", "removed")
		if b.options.dryRun {
			verb = e.Verb("would write", "would remove")
		}
		lines = append(lines, verb+" "+render.Visible(b.Files.Show(e.Name)))
	}
	if b.options.dryRun {
		lines = append(lines, "nothing was written")
	}
	return lines
}

// history says what keeps the version that it names, because it tells of that one.
func history(u *repo.Unit) []string {
	var lines []string
	for _, kept := range []struct {
		count      int
		noun, also string
	}{
		{len(u.Scorecards), "scorecard", "measured the version that is named there; measure the new one"},
		{len(u.Packets), "replay packet", "tells what ran"},
		{len(u.Records), "decision record", "tells what was decided"},
	} {
		switch {
		case kept.count == 1:
			lines = append(lines, fmt.Sprintf("left 1 %s, which %s", kept.noun, kept.also))
		case kept.count > 1:
			lines = append(lines, fmt.Sprintf("left %d %ss, each of which %s", kept.count, kept.noun, kept.also))
		}
	}
	return lines
}

// remarks returns what the version rules still find, and how many golden cases do
// not hold for another reason than their snapshot.
func (b *bumping) remarks(final *diffing.Diff, results []golden.Result) []string {
	var lines []string
	if final != nil {
		_, findings := build.NewComparison(build.Comparison{Diff: final})
		for _, f := range findings {
			lines = append(lines, remark(f)...)
		}
	}
	if b.base.Alone && b.options.to == "" {
		lines = append(lines, "note: no default branch is known here, so the last commit is the baseline; name another one with --base")
	}
	if final != nil && b.unknown != "" {
		lines = append(lines, render.Visible("note: "+b.unknown))
	}
	failing := 0
	for _, r := range results {
		for _, p := range r.Problems {
			if r.Status == golden.Fail && p.Kind != golden.KindSnapshot {
				failing++
				break
			}
		}
	}
	if failing > 0 {
		lines = append(lines, render.Visible(fmt.Sprintf("note: %d of %d golden cases do not hold; packgate compile %s says why", failing, len(results), b.unit.Document.File)))
	}
	return lines
}

// remark words a finding.
func remark(f model.Finding) []string {
	lines := []string{render.Visible(fmt.Sprintf("%s:%d:%d: %s %s: %s", f.File, f.Line, f.Column, f.Severity, f.Rule, f.Message))}
	if f.Hint != "" {
		lines = append(lines, "  → "+render.Visible(f.Hint))
	}
	return lines
}
