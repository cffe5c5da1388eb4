package cli

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// mostForcing is how many changes bump names; packgate check lists all.
const mostForcing = 3

// versionPath is where a pack has its version. What changes there is no change of
// the pack's content.
const versionPath = "/pack_meta/pack_version"

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
func (b *bumping) nothing(target string) {
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
	b.say("%s@%s: nothing to do, %s", b.unit.Pack.PackMeta.PackID.Value, target, words)
	b.remarks(b.diff, nil)
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
func (b *bumping) why(target string) {
	id := b.unit.Pack.PackMeta.PackID.Value
	if target == b.current() {
		b.say("%s@%s: the version stays, and what names the pack follows it", id, target)
		return
	}
	line := fmt.Sprintf("%s: pack_version %q → %q", id, b.current(), target)
	switch {
	case b.diff == nil && b.unknown != "":
		b.say("%s, as --to asks; %s", line, b.unknown)
		return
	case b.diff == nil || b.diff.Base.Digest == b.diff.Head.Digest:
		b.say("%s, as --to asks", line)
		return
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
		b.say("%s, because %s %s", line, because, b.baseName())
		return
	}
	b.say("%s, because the changes since %s are %s", line, b.baseName(), class)
	shown, _ := build.NewComparison(build.Comparison{Diff: b.diff})
	forcing := changesOf(shown, class.String())
	for _, c := range forcing[:min(len(forcing), mostForcing)] {
		b.forcedBy(c)
	}
	if more := len(forcing) - mostForcing; more > 0 {
		b.say("  and %d more", more)
	}
}

// forcedBy words a change that decides the version. What was removed stood in the baseline.
func (b *bumping) forcedBy(c model.Change) {
	at := fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Column)
	if c.Kind == diffing.Removed.String() {
		b.say("  removed %s, which was at %s: %s", pack.ThingAt(c.Path), at, c.Reason)
		return
	}
	b.say("  %s: %s %s: %s", at, c.Kind, pack.ThingAt(c.Path), c.Reason)
}

// did says what was written, or would be.
func (b *bumping) did(edits []gating.Edit) {
	wrote, removed := "wrote", "removed"
	if b.options.dryRun {
		wrote, removed = "would write", "would remove"
	}
	for _, e := range edits {
		b.say("%s %s", e.Verb(wrote, removed), b.Files.Show(e.Name))
	}
	if b.options.dryRun {
		b.say("nothing was written")
	}
}

// history says what keeps the version that it names, because it tells of that one.
func (b *bumping) history() {
	for _, kept := range []struct {
		count      int
		noun, also string
	}{
		{len(b.unit.Scorecards), "scorecard", "measured the version that is named there; measure the new one"},
		{len(b.unit.Packets), "replay packet", "tells what ran"},
		{len(b.unit.Records), "decision record", "tells what was decided"},
	} {
		each := ""
		if kept.count > 1 {
			each = "each of "
		}
		if kept.count > 0 {
			b.say("left %s, %swhich %s", pack.Counted(kept.count, kept.noun), each, kept.also)
		}
	}
}

// remarks says what the version rules still find, and how many golden cases do not
// hold for another reason than their snapshot.
func (b *bumping) remarks(final *diffing.Diff, results []golden.Result) {
	if final != nil {
		_, findings := build.NewComparison(build.Comparison{Diff: final})
		for _, f := range findings {
			b.remark(f)
		}
	}
	if b.base.Alone && b.options.to == "" {
		b.say("note: no default branch is known here, so the last commit is the baseline; name another one with --base")
	}
	if final != nil && b.unknown != "" {
		b.say("note: %s", b.unknown)
	}
	failing := 0
	for _, r := range results {
		if broken(r) != nil {
			failing++
		}
	}
	if failing > 0 {
		b.say("note: %d of %d golden cases do not hold; packgate compile %s says why", failing, len(results), b.unit.Document.File)
	}
}

// broken returns why a golden case does not hold, its snapshot aside; nil where it does.
func broken(r golden.Result) *golden.Problem {
	i := slices.IndexFunc(r.Problems, func(p golden.Problem) bool { return p.Kind != golden.KindSnapshot })
	if r.Status != golden.Fail || i < 0 {
		return nil
	}
	return &r.Problems[i]
}

// remark words a finding.
func (b *bumping) remark(f model.Finding) {
	b.say("%s:%d:%d: %s %s: %s", f.File, f.Line, f.Column, f.Severity, f.Rule, f.Message)
	if f.Hint != "" {
		b.say("  → %s", f.Hint)
	}
}
