package golden

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// compareSnapshot compares the compile with the stored snapshot.
func (t *trial) compareSnapshot() {
	expected := t.Expected == string(compiler.Compiled)
	switch {
	case !expected && t.Case.Snapshot != nil:
		t.report(KindSnapshot, t.snapshotPlace(nil), finding.Warning, "delete it",
			fmt.Sprintf("this snapshot belongs to case %q, which is not expected to compile", t.Result.Case))
	case !expected || t.Outcome != compiler.Compiled:
	case t.Case.Snapshot == nil:
		t.Result.Snapshot = Missing
		t.report(KindSnapshot, t.Location, finding.Warning, fmt.Sprintf("run packgate compile %s --update", t.unit.Document.File), "the case has no snapshot")
	case bytes.Equal(t.Case.Snapshot.Source, t.Compiled):
		t.Result.Snapshot = Equal
	default:
		t.Result.Snapshot = Drifted
		t.drift()
	}
	if !expected || t.Outcome != compiler.Compiled {
		t.Compiled = nil
	}
}

// snapshotPlace is a place in the snapshot, its beginning where the value is nil.
func (t *trial) snapshotPlace(at *pack.Node) finding.Location {
	if at != nil {
		return at.Location()
	}
	stored := t.Case.Snapshot
	return pack.NewDocument(stored.File, stored.Source, nil).Range(0, min(1, len(stored.Source)))
}

// drift says where the compile begins to differ from the snapshot, and how.
func (t *trial) drift() {
	source := t.Case.Snapshot.Source
	update := fmt.Sprintf("run packgate compile %s --update, and review what changes", t.unit.Document.File)
	if bytes.Equal(bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")), t.Compiled) {
		t.report(KindSnapshot, t.snapshotPlace(nil), finding.Error, `write "*.json text eol=lf" into .gitattributes and check the file out again`,
			"the snapshot has CRLF line ends, and is that of the compile otherwise; git has changed them")
		return
	}
	doc, faults := pack.Read(t.Case.Snapshot.File, source, t.config.Limits)
	switch {
	case doc.Root == nil || len(faults) > 0:
		t.unreadable(faults, update)
		return
	case doc.Root.Kind != pack.Object:
		t.report(KindSnapshot, t.snapshotPlace(doc.Root), finding.Error, update, fmt.Sprintf("the snapshot is %s, wanted a compiled context", doc.Root.Kind))
		return
	}
	t.Differences = compare("", doc.Root.Any(), t.decoded())
	if len(t.Differences) == 0 {
		t.report(KindSnapshot, t.snapshotPlace(nil), finding.Error, update, "the snapshot was reformatted; its content is that of the compile")
		return
	}
	stage, count := sortByStage(t.Differences)
	first := t.Differences[0]
	t.Stage = compiler.Stages()[stage]
	if t.onlyOfAnotherVersion() {
		return
	}
	if made := madeWith(doc.Root); made != t.tokenizer.Name() {
		t.report(KindSnapshot, t.snapshotPlace(nearest(doc.Root, first.Path)), finding.Error,
			fmt.Sprintf("run packgate compile %s --update, or set compile.tokenizer to %q in the config", t.unit.Document.File, made),
			fmt.Sprintf("the snapshot was made with tokenizer %q, and the config says %q", made, t.tokenizer.Name()))
		return
	}
	t.report(KindSnapshot, t.snapshotPlace(nearest(doc.Root, first.Path)), finding.Error, update,
		fmt.Sprintf("the compile differs from its snapshot; drift starts at stage %d, %s: %s", stage+1, t.Stage, summary(t.Differences, count)))
}

// onlyOfAnotherVersion reports whether nothing differs but the reference to the
// pack, in a case that is known to be about another version of it.
func (t *trial) onlyOfAnotherVersion() bool {
	return len(t.Differences) == 1 && t.Differences[0].Path == "/context_ledger/pack_ref" &&
		slices.ContainsFunc(t.Problems, func(p Problem) bool { return p.Kind == KindVersion })
}

// madeWith returns the name of the tokenizer that a snapshot was made with. The
// budget report names it unless it is the estimate.
func madeWith(root *pack.Node) string {
	if report := root.Get("budget_report"); report != nil {
		if name := report.Get("tokenizer"); name != nil && name.Kind == pack.String {
			return name.Text
		}
	}
	return compiler.Estimate{}.Name()
}

// unreadable says what is wrong with a snapshot that is no JSON.
func (t *trial) unreadable(faults []pack.Fault, hint string) {
	source := t.Case.Snapshot.Source
	end := len(bytes.TrimSpace(source))
	switch {
	case end == 0:
		t.report(KindSnapshot, t.snapshotPlace(nil), finding.Error, hint, "the snapshot is empty")
	case len(faults) == 0:
		t.report(KindSnapshot, t.snapshotPlace(nil), finding.Error, hint, "the snapshot is not valid JSON")
	case bytes.HasPrefix(source, []byte(conflictMark)) || bytes.Contains(source, []byte("\n"+conflictMark)):
		t.report(KindSnapshot, faults[0].Location, finding.Error, hint, "the snapshot holds a merge conflict that was not resolved")
	case faults[0].Kind == pack.Syntax && faults[0].Location.End.Offset >= end:
		t.report(KindSnapshot, faults[0].Location, finding.Error, hint, fmt.Sprintf("the snapshot is cut off: it ends after %d bytes, in the middle of the document", len(source)))
	default:
		t.report(KindSnapshot, faults[0].Location, finding.Error, hint, "the snapshot is not valid JSON: "+faults[0].Message)
	}
}

// conflictMark is what git writes before the first side of a conflict.
const conflictMark = "<<<<<<< "

// mostSummed is how many differences a message shows; the result lists all.
const mostSummed = 3

// summary words the first differences, count of which show the first stage that
// drifted, and says how many more there are.
func summary(differences []Difference, count int) string {
	var parts []string
	for _, d := range differences[:min(count, mostSummed)] {
		parts = append(parts, d.words())
	}
	text := strings.Join(parts, "; ")
	switch more := len(differences) - len(parts); {
	case more == 1:
		text += "; and 1 more difference"
	case more > 1:
		text += fmt.Sprintf("; and %d more differences", more)
	}
	return text
}
