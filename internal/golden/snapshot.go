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
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
)

// Difference is one place at which a compile differs from its snapshot. Path
// leads through the compiled context by identities: blocks by their id, tools by
// adapter. Stored and Now are JSON on one line, "" where there is nothing.
type Difference struct {
	Path        string
	Stored, Now string
}

// compareSnapshot compares the compile with the stored snapshot.
func (t *trial) compareSnapshot() {
	expected := t.Expected == string(compiler.Compiled)
	switch {
	case !expected && t.Case.Snapshot != nil:
		t.report(finding.Location{File: t.Case.Snapshot.File}, finding.Warning, "delete it",
			fmt.Sprintf("this snapshot belongs to case %q, which is not expected to compile", t.Result.Case))
	case !expected || t.Outcome != compiler.Compiled:
	case t.Case.Snapshot == nil:
		t.Result.Snapshot = Missing
		t.report(t.Location, finding.Warning, fmt.Sprintf("packgate compile %s --update", t.unit.Document.File), "the case has no snapshot")
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

// drift says where the compile begins to differ from the snapshot, and how.
func (t *trial) drift() {
	stored := t.Case.Snapshot
	at := finding.Location{File: stored.File}
	hint := fmt.Sprintf("packgate compile %s --update, and review what changes", t.unit.Document.File)
	doc, faults := pack.Read(stored.File, stored.Source, t.config.Limits)
	if doc.Root == nil || len(faults) > 0 {
		t.report(at, finding.Error, hint, "the snapshot is not valid JSON")
		return
	}
	t.Differences = compare("", doc.Root.Any(), t.context)
	if len(t.Differences) == 0 {
		t.report(at, finding.Error, hint, "the snapshot was reformatted; its content is that of the compile")
		return
	}
	stage := sortByStage(t.Differences)
	first := t.Differences[0]
	t.Stage = compiler.Stages()[stage]
	t.report(nearest(doc.Root, first.Path).Location(), finding.Error, hint,
		fmt.Sprintf("the compile differs from its snapshot; drift starts at stage %d, %s: %s", stage+1, t.Stage, first.words()))
}

// nearest returns the value of the snapshot that a difference's path names, or
// the innermost one around it.
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
func clip(s string) string {
	if runes := []rune(s); len(runes) > mostShown {
		return string(runes[:mostShown]) + "…"
	}
	return s
}

// sections leads from members of the compiled context to the stage, counted from
// 0, whose output they show, the most telling ones of a stage first. Members
// with a bucket belong to the assembly where the bucket is truncated otherwise
// than before.
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

// sortByStage puts differences into the order of the stages that they show, and
// returns the stage of the first.
func sortByStage(differences []Difference) int {
	rank := func(d Difference) (stage, row int) {
		for i, s := range sections() {
			if !strings.HasPrefix(d.Path, s.prefix) {
				continue
			}
			if s.bucket != "" && truncatedOtherwise(differences, s.bucket) {
				return assembly, i
			}
			return s.stage, i
		}
		return 0, 0 // the last section is a prefix of every path
	}
	slices.SortStableFunc(differences, func(a, b Difference) int {
		stageA, rowA := rank(a)
		stageB, rowB := rank(b)
		return cmp.Or(cmp.Compare(stageA, stageB), cmp.Compare(rowA, rowB))
	})
	stage, _ := rank(differences[0])
	return stage
}

// truncatedOtherwise reports whether other blocks of a bucket were dropped.
func truncatedOtherwise(differences []Difference, b compiler.Bucket) bool {
	return slices.ContainsFunc(differences, func(d Difference) bool {
		const dropped = "/budget_report/dropped_block_ids"
		return d.Path == dropped || d.Path == dropped+"/"+string(b)
	})
}

// compare returns the differences of two values, names sorted.
func compare(path string, stored, now any) []Difference {
	if reflect.DeepEqual(stored, now) {
		return nil
	}
	a, b := named(stored), named(now)
	if a == nil || b == nil {
		return []Difference{{path, pack.CompactJSON(stored), pack.CompactJSON(now)}}
	}
	var differences []Difference
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
	if len(differences) == 0 { // the same items in another order
		return []Difference{{path, pack.CompactJSON(stored), pack.CompactJSON(now)}}
	}
	return differences
}

// named returns the members of an object, or the items of a list of objects by
// their identity; nil for anything else.
func named(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return nil
	}
	byName := make(map[string]any, len(items))
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		byName[identity(m, i)] = item
	}
	if len(byName) < len(items) {
		return nil
	}
	return byName
}

func identity(m map[string]any, i int) string {
	for _, member := range []string{"block_id", "bundle_id", "adapter_id", "evidence_ref"} {
		if id, ok := m[member].(string); ok {
			return id
		}
	}
	return strconv.Itoa(i)
}
