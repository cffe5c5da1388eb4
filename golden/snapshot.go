package golden

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
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
			"the snapshot has CRLF line ends, which git wrote, and otherwise is that of the compile")
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
	ofOther := func(p Problem) bool { return p.Kind == KindVersion }
	if len(t.Differences) == 1 && first.Path == "/context_ledger/pack_ref" && slices.ContainsFunc(t.Problems, ofOther) {
		return // that the case is about another version is said
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

// madeWith returns the tokenizer of a snapshot: the budget report names it unless it is the estimate.
func madeWith(root *pack.Node) string {
	if name := root.Get("budget_report").Get("tokenizer"); name != nil && name.Kind == pack.String {
		return name.Text
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

// summary words the first differences, count of them of the first stage, and counts the others.
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

// Difference is one place at which a compile differs from its snapshot. Path leads through the compiled
// context by identities: blocks by their id, tools by adapter. Stored and Now are JSON on one line, ""
// where there is nothing. Of items in another order they are the lists of the ids.
type Difference struct {
	Path        string
	Stored, Now string
}

// nearest returns the value that a path of the snapshot names, or the innermost one around it.
func nearest(n *pack.Node, path string) *pack.Node {
	segments, _ := pack.SplitPointer(path)
	for _, s := range segments {
		next := n.Get(s)
		for i, item := range n.Items {
			if m, ok := item.Any().(map[string]any); ok && identity(m, i) == s {
				next = item
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// words says a difference in a few words.
func (d Difference) words() string {
	switch {
	case d.Stored == "":
		return fmt.Sprintf("%s is new: %s", d.Path, clip(d.Now))
	case d.Now == "":
		return fmt.Sprintf("%s is gone: it was %s", d.Path, clip(d.Stored))
	}
	stored, now := fromDifference(d.Stored, d.Now)
	return fmt.Sprintf("%s was %s and is %s", d.Path, clip(stored), clip(now))
}

// fromDifference cuts off what two texts have in common at their beginning, but
// for a few characters, so that what is shown of long ones is what differs.
func fromDifference(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	same := 0
	for same < len(x) && same < len(y) && x[same] == y[same] {
		same++
	}
	const context = 20
	if max(len(x), len(y)) <= mostShown || same <= context {
		return a, b
	}
	return "…" + string(x[same-context:]), "…" + string(y[same-context:])
}

// mostShown is how many characters of a value a message shows.
const mostShown = 80

// clip shortens what is shown in a message.
func clip(s string) string { return pack.Clip(s, mostShown) }

// sections maps members of the compiled context to the stage, counted from 0, whose output they
// show, the most telling of a stage first. Members with a bucket belong to the assembly where its
// truncation differs. The last section is a prefix of every path.
func sections() []section {
	return []section{
		{"/compiled_prompt/task", 0, ""},
		{"/manifests/policy_manifest", 1, ""},
		{"/context_ledger/policy_bundles", 1, ""},
		{"/compiled_prompt/context_blocks/pol_", 1, compiler.BucketPolicy},
		{"/manifests/tool_manifest", 2, ""},
		{"/context_ledger/tools", 2, ""},
		{"/compiled_prompt/context_blocks/tool_", 2, compiler.BucketTool},
		{"/budget_report/dropped_block_ids", assembly, ""},
		{"/manifests/evidence_manifest", 3, compiler.BucketEvidence},
		{"/context_ledger/evidence_refs", 3, compiler.BucketEvidence},
		{"/compiled_prompt/context_blocks/ev_", 3, compiler.BucketEvidence},
		{"/context_ledger/memory_refs", 4, compiler.BucketMemory},
		{"/compiled_prompt/context_blocks/mem_", 4, compiler.BucketMemory},
		{"/budget_report/tokens_allocated", 5, ""},
		{"/budget_report/warnings", 7, ""}, // they come from all stages
		{"/compiled_prompt", assembly, ""},
		{"/budget_report", assembly, ""},
		{"/context_ledger/budget", assembly, ""},
		{"/runtime_controls", 7, ""},
		{"", 7, ""},
	}
}

// section is a part of the compiled context, see sections.
type section struct {
	prefix string
	stage  int
	bucket compiler.Bucket
}

// assembly is the stage that drops blocks.
const assembly = 6

// sortByStage sorts differences by the stages that they show, and returns the first and its count.
func sortByStage(differences []Difference) (stage, count int) {
	var otherwise []compiler.Bucket
	for _, b := range compiler.Buckets() {
		const dropped = "/budget_report/dropped_block_ids"
		if slices.ContainsFunc(differences, func(d Difference) bool { return d.Path == dropped || d.Path == dropped+"/"+string(b) }) {
			otherwise = append(otherwise, b)
		}
	}
	table := sections()
	rank := func(d Difference) (stage, row int) {
		row = slices.IndexFunc(table, func(s section) bool { return strings.HasPrefix(d.Path, s.prefix) })
		if slices.Contains(otherwise, table[row].bucket) || table[row].bucket == compiler.BucketPolicy && d.sameHead() {
			return assembly, row
		}
		return table[row].stage, row
	}
	slices.SortStableFunc(differences, func(a, b Difference) int {
		stageA, rowA := rank(a)
		stageB, rowB := rank(b)
		return cmp.Or(cmp.Compare(stageA, stageB), cmp.Compare(rowA, rowB))
	})
	stage, _ = rank(differences[0])
	for _, d := range differences {
		if of, _ := rank(d); of == stage {
			count++
		}
	}
	return stage, count
}

// sameHead reports whether two contents of a block have the same first line. In the block of a rule
// stage 2 decides it, allow or deny; the rest is written by the assembly.
func (d Difference) sameHead() bool {
	a, _, _ := strings.Cut(d.Stored, `\n`)
	b, _, _ := strings.Cut(d.Now, `\n`)
	return strings.Trim(a, `"`) == strings.Trim(b, `"`)
}

// compare returns the differences of two values, names sorted.
func compare(path string, stored, now any) []Difference {
	if reflect.DeepEqual(stored, now) {
		return nil
	}
	a, namesA := named(stored)
	b, namesB := named(now)
	if a == nil || b == nil {
		return []Difference{{path, pack.CompactJSON(stored), pack.CompactJSON(now)}}
	}
	var differences []Difference
	if !slices.Equal(common(namesA, namesB), common(namesB, namesA)) {
		differences = []Difference{{path, pack.CompactJSON(namesA), pack.CompactJSON(namesB)}}
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := path + "/" + pack.EscapeSegment(name)
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case !inA:
			differences = append(differences, Difference{Path: at, Now: pack.CompactJSON(y)})
		case !inB:
			differences = append(differences, Difference{Path: at, Stored: pack.CompactJSON(x)})
		default:
			differences = append(differences, compare(at, x, y)...)
		}
	}
	return differences
}

// common returns the items of a that b has too, in a's order.
func common(a, b []string) []string {
	there := make(map[string]bool, len(b))
	for _, item := range b {
		there[item] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(item string) bool { return !there[item] })
}

// named returns the unordered members of an object, or the items of a list of objects by their
// identity, with the identities in order; nil for anything else.
func named(v any) (byName map[string]any, order []string) {
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return nil, nil
	}
	byName = make(map[string]any, len(items))
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, nil
		}
		id := identity(m, i)
		byName[id], order = item, append(order, id)
	}
	if len(byName) < len(items) {
		return nil, nil
	}
	return byName, order
}

func identity(m map[string]any, i int) string {
	for _, member := range []string{"block_id", "bundle_id", "adapter_id", "evidence_ref"} {
		if id, ok := m[member].(string); ok {
			return id
		}
	}
	return strconv.Itoa(i)
}
