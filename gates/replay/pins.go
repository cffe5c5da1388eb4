package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// RPL007: what a case refers to stays what it was.
var RPL007 = &gate.Rule{
	ID: "RPL007", Name: "unpinned-case", Severity: finding.Error,
	Title: "Cases and packets refer to this version, and to a fixed snapshot of the graph",
	Doc: "A case that refers to whatever is current shows something else tomorrow. So a golden case names this pack in its " +
		"present version, and its references change with `pack_version`. Every reference into the knowledge graph (`kg:…`) " +
		"ends in `#snapshot_ID`, with the snapshot that `snapshot_pin_rule` selects: for an alias, the snapshot that the " +
		"catalog of the case's environment assigns to it. A case that names several packs is compiled with all of them " +
		"(RPL020); another artifact that it names, such as `decision-catalog.support@2.1.0`, is listed as not checked. Two " +
		"versions of this pack are an error. A replay packet and a decision record name a pack version and, if they name a " +
		"snapshot, a fixed one; they may name an earlier one, because they are about the past. Neither a case nor a packet ever " +
		"causes a live call.\n\n" +
		"Write the pinned reference that the hint shows. If the alias now refers to another snapshot, write the evidence of the " +
		"cases again from that snapshot.",
	Bad:   `"evidence": [{"evidence_ref": "kg:order:ord_881#latest", "content": "…"}]`,
	Good:  `"evidence": [{"evidence_ref": "kg:order:ord_881#snapshot_kg_2026_05_03_T0930", "content": "…"}]`,
	Check: checkPins,
}

func checkPins(p *gate.Pass) {
	results := p.Golden()
	if len(results) == 0 && len(p.Unit.Packets) == 0 && len(p.Unit.Records) == 0 {
		p.NotChecked("there is no golden or replay case")
		return
	}
	tell(p, results, golden.KindReference)
	tellVersions(p, results)
	n, unknown := &notes{Pass: p}, &together{cases: map[string][]string{}}
	for i := range results {
		if results[i].Input != nil {
			unknown.note(n.Unit.Within(results[i].Input.Name), n.pinnedCase(&results[i]))
			n.alone(&results[i])
		}
	}
	for _, why := range unknown.reasons {
		n.unchecked("%s: %s", unknown.named(why), why)
	}
	for _, packet := range p.Unit.Packets {
		n.pinnedVersion(packet.SideFile, packet.ContextPackRef)
		n.fixedSnapshot(packet.SideFile, packet.KnowledgeSnapshotRef)
	}
	for _, record := range p.Unit.Records {
		n.pinnedVersion(record.SideFile, record.Lineage.PackVersion)
		n.fixedSnapshot(record.SideFile, record.Lineage.SnapshotVersion)
	}
}

// together are reasons of which each is that of many cases.
type together struct {
	reasons []string // in the order of their first cases
	cases   map[string][]string
}

func (t *together) note(name, why string) {
	if why == "" {
		return
	}
	if t.cases[why] == nil {
		t.reasons = append(t.reasons, why)
	}
	t.cases[why] = append(t.cases[why], name)
}

// named returns the first case of a reason, and how many more there are.
func (t *together) named(why string) string {
	if all := t.cases[why]; len(all) > 1 {
		return fmt.Sprintf("%s and %s", all[0], pack.Counted(len(all)-1, "more case"))
	}
	return t.cases[why][0]
}

// tellVersions reports cases that are about another version of the pack: one as it
// is, and several, which were forgotten together, as one finding.
func tellVersions(p *gate.Pass, results []golden.Result) {
	var of []*golden.Result
	var problems []golden.Problem
	for i := range results {
		for _, problem := range results[i].Problems {
			if problem.Kind == golden.KindVersion {
				of, problems = append(of, &results[i]), append(problems, problem)
			}
		}
	}
	if len(problems) == 0 {
		return
	}
	first := problems[0]
	if len(problems) == 1 {
		report(p, of[0], first)
		return
	}
	d := gate.Diagnostic{
		Location: &first.Location, Hint: first.Hint, Key: "versions",
		Message: fmt.Sprintf("%d golden cases are about another version of the pack; of the first, %s", len(problems), first.Message),
	}
	for _, other := range problems[1:min(len(problems), gate.MostListed)] {
		d.Related = append(d.Related, finding.Related{Location: other.Location, Message: "another one"})
	}
	p.Report(d)
}

// graphScheme begins references into the knowledge graph, and snapshotMark their
// pin.
const (
	graphScheme  = "kg:"
	snapshotMark = "#snapshot_"
)

// snapshotOf returns the id of the snapshot that a reference ends in, and whether
// it ends in one.
func snapshotOf(ref string) (id string, pinned bool) {
	_, fragment, _ := strings.Cut(ref, "#")
	id, pinned = strings.CutPrefix("#"+fragment, snapshotMark)
	return id, pinned && id != "" && !strings.Contains(id, "#")
}

// pinnedCase checks the evidence and memory of a case. It returns why nobody knows of which
// snapshot they have to be, "" where that is known or nobody asks.
func (n *notes) pinnedCase(r *golden.Result) string {
	var refs []pack.Text
	for _, e := range r.Input.Evidence.Items {
		refs = append(refs, e.EvidenceRef)
	}
	for _, m := range r.Input.Memory.Items {
		refs = append(refs, m.MemoryRef)
	}
	refs = slices.DeleteFunc(refs, func(ref pack.Text) bool { return !strings.HasPrefix(ref.Value, graphScheme) })
	if len(refs) == 0 {
		return ""
	}
	want, source, why := meaning(n.Pass, r)
	for _, ref := range refs {
		n.pinnedRef(r.Input.SideFile, ref, want, source)
	}
	return why
}

// alone notes what a case names that is not a pack: it is compiled without.
func (n *notes) alone(r *golden.Result) {
	for _, ref := range r.Beside[:min(len(r.Beside), mostItems)] {
		n.unchecked("%s: the case also names %s, which is not a pack, and is compiled without it",
			n.Unit.Within(r.Input.Name), gate.Quote(ref.Text))
	}
}

// meaning returns the snapshot that the pack's pin rule means for a case, and what
// says so; or why that is not known.
func meaning(p *gate.Pass, r *golden.Result) (id, source, why string) {
	rule := p.Pack.IntelligenceRefs.KnowledgeGraph.SnapshotPinRule
	if id, ok := strings.CutPrefix(rule.Value, "snapshot:"); ok && id != "" {
		return id, "the pack's snapshot_pin_rule", ""
	}
	alias, ok := strings.CutPrefix(rule.Value, "alias:")
	if !ok || alias == "" {
		return "", "", "the pack's snapshot_pin_rule names no snapshot"
	}
	if r.Catalog == nil && r.Detail == nil {
		return "", "", "the case cannot be compiled"
	}
	if r.Catalog == nil {
		return "", "", fmt.Sprintf("the case has no environment whose catalog says which snapshot %s is", gate.Quote(rule.Value))
	}
	if id, ok := r.Catalog.Snapshots.Get(alias); ok && id.OK {
		return id.Value, fmt.Sprintf("%s in environment %q", gate.Quote(rule.Value), r.Environment), ""
	}
	return "", "", r.Catalog.Lacks("does not say which snapshot " + gate.Quote(rule.Value) + " is")
}

// pinnedRef checks one reference into the graph; want is "" where it is not known
// which snapshot it has to be of.
func (n *notes) pinnedRef(file *repo.SideFile, ref pack.Text, want, source string) {
	hint := fmt.Sprintf("let it end in %q and the id of the snapshot that the content is of", snapshotMark)
	if want != "" {
		hint = fmt.Sprintf("let it end in %q, with the content that this snapshot has", snapshotMark+pack.Clip(want, gate.MostShown))
	}
	id, pinned := snapshotOf(ref.Value)
	switch {
	case !pinned:
		n.Report(gate.Faultf(ref.Node, hint,
			"reference %s is not pinned to a snapshot of the graph", gate.Quote(ref.Value)).Keyed(n.Unit.Within(file.Name)))
	case want != "" && id != want:
		n.Report(gate.Faultf(ref.Node, hint,
			"reference %s is of snapshot %s, and %s is %s", gate.Quote(ref.Value), gate.Quote(id), source, gate.Quote(want)).
			Keyed(n.Unit.Within(file.Name)).See(n.Pack.IntelligenceRefs.KnowledgeGraph.SnapshotPinRule.Node, "the pin rule of the pack"))
	}
}

// pinnedVersion checks the pack reference of a packet or record, where it has one.
func (n *notes) pinnedVersion(file *repo.SideFile, ref pack.Text) {
	if _, _, pinned := pack.ParseRef(ref.Value); pinned || !ref.OK {
		return
	}
	hint := "write pack_id@MAJOR.MINOR.PATCH"
	if own := ownRef(n.Pass); own != "" {
		hint = fmt.Sprintf("write the version that it was made with, such as %q", own)
	}
	n.Report(gate.Faultf(ref.Node, hint,
		"pack reference %s is not pinned to a version", gate.Quote(ref.Value)).Keyed(n.Unit.Within(file.Name)))
}

// moving are names of snapshots that mean another one from time to time.
var moving = []string{"", "latest", "current", "head", "live"}

// fixedSnapshot checks the snapshot that a packet or record names, where it does.
func (n *notes) fixedSnapshot(file *repo.SideFile, ref pack.Text) {
	if !ref.OK || !strings.HasPrefix(ref.Value, "alias:") && !slices.Contains(moving, strings.ToLower(strings.TrimSpace(ref.Value))) {
		return
	}
	n.Report(gate.Faultf(ref.Node, "write the id of the snapshot that was read, such as \"kg_2026_05_03_T0930\"",
		"%s is not a fixed snapshot of the graph", gate.Quote(ref.Value)).Keyed(n.Unit.Within(file.Name)))
}
