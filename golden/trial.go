package golden

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// trial is one case while it runs.
type trial struct {
	*suite
	file *repo.SideFile
	*repo.Case
	Result
	subject *subject     // what is compiled
	packs   []*repo.Unit // those that it names, where there are several
	context any          // the compiled context as decoded JSON, once it was asked for
}

// settle derives the status from the problems.
func (t *trial) settle() {
	t.Status = Pass
	for _, p := range t.Problems {
		if p.Severity == finding.Error {
			t.Status = Fail
		} else if t.Status == Pass {
			t.Status = Warning
		}
	}
}

// read takes the case in. Where it cannot be compiled it says why, and reports false.
func (t *trial) read() bool {
	if t.Case = t.cases[t.file]; t.Case != nil {
		t.Result.Case = cmp.Or(t.Case.Case.Value, t.file.Name)
		t.Result.Family, t.Expected = t.Case.Family.Value, t.Expect.Outcome.Value
		t.Location = t.place(t.Case.Case.Node, t.Case.Node)
		t.Input, t.Result.Overlay = t.Case, t.Case.Overlay.Value
		if intent := t.Invoke.Get("input").Get("intent"); intent != nil {
			t.Intent = intent.Text
		}
	}
	t.faults()
	if len(t.Problems) > 0 {
		t.Reason = "the case is not valid"
		return false
	}
	if t.unit.Pack == nil {
		t.Reason = "the pack could not be read"
		t.report(KindInvalid, t.Location, finding.Error, "fix the pack first", "not compiled: "+t.Reason)
		return false
	}
	t.prepare()
	t.findCatalog()
	t.findTogether()
	if t.noTokenizer != nil {
		t.report(KindOutcome, t.place(t.config.Compile.Tokenizer.Node, t.Case.Node), finding.Error,
			"use one of "+strings.Join(tokens.Names(), ", "), t.noTokenizer.Error())
	}
	t.unite()
	if len(t.Problems) > 0 {
		t.Reason = t.Problems[0].Message
		return false
	}
	t.checkReference()
	return true
}

// faults reports what the reader and the schema find in the case.
func (t *trial) faults() {
	for _, f := range t.file.Faults {
		t.report(KindInvalid, f.Location, finding.Error, f.Hint, f.Message)
	}
	doc := t.file.Document
	if doc.Root == nil {
		return
	}
	violations, err := t.file.Violations()
	if err != nil {
		t.report(KindInvalid, t.Location, finding.Error, "", err.Error())
	}
	for _, v := range violations {
		location, message := repo.Describe(doc, v)
		t.report(KindInvalid, location, finding.Error, "see packgate schema case", message)
	}
}

// prepare finds the pack that the case is about, with its overlay applied.
func (t *trial) prepare() {
	t.subject = t.suite.subject(t.Result.Overlay)
	if t.subject.fault == nil {
		return
	}
	kind, hint := KindOutcome, "fix the overlay, or set overlay to null"
	var refusal *overlay.Refusal
	if errors.As(t.subject.fault, &refusal) {
		hint = cmp.Or(refusal.Hint, hint)
		if refusal.At != nil {
			kind = KindInvalid
		}
	}
	t.problem(kind, t.Case.Overlay.Node, hint, "the case cannot be compiled: "+t.subject.fault.Error())
}

// findCatalog finds the catalog of the environment: for the case of an overlay, that of the overlay.
func (t *trial) findCatalog() {
	named := t.Case.Environment
	if of := t.subject.environment; of != "" {
		if named.OK && named.Value != of {
			t.problem(KindReference, named.Node, fmt.Sprintf("write %q, or remove environment", of),
				fmt.Sprintf("the case is about environment %q, and its overlay %q is for %q", named.Value, t.Result.Overlay, of))
			return
		}
		named.Value = of
	}
	for _, e := range t.environments {
		if e.Name() == named.Value {
			t.Result.Catalog, t.Result.Environment = e, named.Value
			return
		}
	}
	if named.OK {
		t.problem(KindOutcome, named.Node, t.knownEnvironments(), fmt.Sprintf("there is no environment catalog %q", named.Value))
	}
}

// knownEnvironments is the hint for a catalog that is not there.
func (t *trial) knownEnvironments() string {
	if len(t.environments) == 0 {
		return "there is no environment catalog in this repository; remove environment, or add environments/" + t.Case.Environment.Value + ".json"
	}
	var known []string
	for _, e := range t.environments {
		known = append(known, e.Name())
	}
	slices.Sort(known)
	return "name one of " + strings.Join(known, ", ")
}

// checkReference reports a case about another pack, or another version of it, which bump would move.
func (t *trial) checkReference() {
	id, own := t.unit.Pack.PackMeta.PackID.Value, t.unit.Pack.Ref()
	refs := t.Invoke.Get("context_pack_refs")
	var other, is *pack.Node
	for _, ref := range refs.Items {
		switch name, _ := repo.Artifact(ref); {
		case ref.Text == own:
			is = ref
		case name == id && other == nil:
			other = ref
		}
	}
	switch {
	case is != nil && other != nil:
		t.problem(KindReference, other, "name one version of it", fmt.Sprintf("the case names %q and %q, two versions of one pack", own, other.Text))
		return
	case is != nil:
		return
	case other == nil:
		t.problem(KindReference, refs, t.unit.Pack.RefHint(), fmt.Sprintf("the case is about another pack: context_pack_refs has no reference to %q", id))
		return
	}
	hint := t.unit.Pack.RefHint()
	if _, _, valid := pack.ParseRef(own); valid {
		hint += ", or let packgate bump move the references of cases with pack_version"
	}
	t.problem(KindVersion, other, hint,
		fmt.Sprintf("the case names %q and the pack is %q", other.Text, own))
}

// request returns what the case is compiled for. The values are read by read.
func (t *trial) request(read func(*pack.Node) any) compiler.Request {
	invoke, _ := read(t.Invoke).(map[string]any)
	runContext, _ := read(t.RunContext).(map[string]any)
	request := compiler.Request{Invoke: invoke, RunContext: runContext, Catalog: Catalog(t.Result.Catalog), Tokenizer: t.tokenizer}
	for _, e := range t.Evidence.Items {
		request.Evidence = append(request.Evidence, compiler.Evidence{
			Ref: e.EvidenceRef.Value, Content: e.Content.Value, Priority: priority(e.Priority),
		})
	}
	for _, m := range t.Memory.Items {
		request.Memory = append(request.Memory, compiler.Memory{
			Ref: m.MemoryRef.Value, Content: m.Content.Value, Promoted: m.Promoted.Value, Priority: priority(m.Priority),
		})
	}
	return request
}

func priority(n pack.Num) *int {
	if !n.OK {
		return nil
	}
	v := int(n.Value)
	return &v
}

// Catalog returns what a compile asks of an environment catalog; nil for nil.
func Catalog(e *repo.Environment) *compiler.Catalog {
	if e == nil {
		return nil
	}
	c := &compiler.Catalog{Name: e.Name(), Runtime: e.Runtime.Value}
	if e.Intents.OK {
		c.Intents = pack.Values(e.Intents)
	}
	return c
}

// compile compiles the case, and once more to see that it comes out the same.
func (t *trial) compile() {
	request := t.request((*pack.Node).Any)
	detail, err := t.subject.Compile(request)
	if err == nil && detail.Context != nil {
		t.Compiled, err = detail.Context.Snapshot()
	}
	if err != nil {
		t.failed(err)
		return
	}
	if stop := detail.Stop; stop != nil && stop.Invalid {
		t.Reason = stop.Reason
		t.report(KindPack, t.place(stop.At), finding.Error, "fix the pack first", "not compiled: "+t.Reason)
		return
	}
	t.Request, t.Program, t.Detail, t.Outcome, t.Reason = request, t.subject.Program, detail, detail.Outcome, detail.Reason()
	t.NotChecked = detail.Trace.NotChecked
	if detail.Context != nil {
		t.Hash = detail.Context.ContextLedger.CompiledContextHash
	}
	repeated, err := repeat(t.subject.Program, t.request(backwards), detail, t.Compiled)
	if err != nil {
		t.failed(err)
		return
	}
	for _, p := range append(repeated, Audit(t.subject.Pack, request, detail)...) {
		p.Location = t.Location
		t.Problems = append(t.Problems, p)
	}
}

// failed says that a compile came to no result, which is a fault of packgate.
func (t *trial) failed(err error) {
	t.Detail, t.Outcome, t.Compiled = nil, "", nil
	t.Reason = err.Error()
	t.report(KindOutcome, t.Location, finding.Error, reportFault, t.Reason)
}

// decoded returns the compiled context as decoded JSON.
func (t *trial) decoded() any {
	if t.context == nil {
		// What the compiler just wrote can be read; otherwise assertions find nothing and fail.
		_ = json.Unmarshal(t.Compiled, &t.context)
	}
	return t.context
}

// compareExpectation compares the compile with what the case expects.
func (t *trial) compareExpectation() {
	if t.Detail == nil {
		return
	}
	if t.Expected != string(t.Outcome) {
		t.wrongOutcome()
		return
	}
	e, tools, gates, rules := &t.Expect, []string(nil), []string(nil), []string(nil)
	if c := t.Detail.Context; c != nil {
		tools, gates, rules = c.ContextLedger.Tools, c.RuntimeControls.ApprovalGatesActive, Rules(c)
	}
	t.compareList(KindTools, "tools", e.Tools, tools)
	t.compareList(KindExpectation, "gates", e.Gates, gates)
	t.compareList(KindExpectation, "denied", e.Denied, t.Detail.Trace.Denied)
	t.compareList(KindExpectation, "rules", e.Rules, rules)
	for _, a := range e.Assertions.Items {
		t.assert(a)
	}
}

func (t *trial) wrongOutcome() {
	message := fmt.Sprintf("expected %s, but the outcome is %s", t.Expected, t.Outcome)
	if t.Reason != "" {
		message += ": " + t.Reason
	}
	hint := "correct expect.outcome, or fix what the reason names"
	switch stop := t.Detail.Stop; {
	case stop == nil:
		hint = "correct expect.outcome, or change the request or the pack so that it ends so"
	case stop.Variable != "":
		hint = fmt.Sprintf("give %s a value of the right type in the case, or let the rule ask for it first", stop.Variable)
	}
	t.report(KindOutcome, t.place(t.Expect.Outcome.Node), finding.Error, hint, message)
}

// Rules returns the rule_ids of the policy manifest, in its order.
func Rules(c *compiler.CompiledContext) []string {
	rules := []string{}
	for _, entry := range c.Manifests.PolicyManifest {
		rules = append(rules, entry.RuleIDs...)
	}
	return rules
}

// expectation is how a list of expect is put in words: what its items are, and what they do.
type expectation struct{ one, many, does, do, doesNot, doNot string }

var expectations = map[string]expectation{
	"tools":  {"tool", "tools", "is available", "are available", "is not available", "are not available"},
	"gates":  {"gate", "gates", "is active", "are active", "is not active", "are not active"},
	"denied": {"decision", "decisions", "is denied", "are denied", "is not denied", "are not denied"},
	"rules":  {"rule", "rules", "applies", "apply", "does not apply", "do not apply"},
}

// of puts items in words that the case expects and that are not there, or the reverse.
func (e expectation) of(items []string, expected bool) string {
	noun, state, it := e.one, e.does, "it"
	if expected {
		state = e.doesNot
	}
	if len(items) > 1 {
		noun, state, it = e.many, e.do, "them"
		if expected {
			state = e.doNot
		}
	}
	verb := "does not expect"
	if expected {
		verb = "expects"
	}
	return fmt.Sprintf("%s %s %s, the case %s %s", noun, quoteAll(items), state, verb, it)
}

// compareList compares a list of expect, which is complete and in canonical
// order, with what the compile gave. A list that is absent expects nothing.
func (t *trial) compareList(kind Kind, name string, want pack.List[pack.Text], got []string) {
	expected := pack.Values(want)
	if want.Node == nil || slices.Equal(expected, got) {
		return
	}
	words, parts := expectations[name], []string(nil)
	if missing := without(expected, got); len(missing) > 0 {
		parts = append(parts, words.of(missing, true))
	}
	if extra := without(got, expected); len(extra) > 0 {
		parts = append(parts, words.of(extra, false))
	}
	if len(parts) == 0 {
		parts = append(parts, "expect."+name+": the list is "+quoteAll(got)+", in this order")
	}
	t.problem(kind, want.Node, fmt.Sprintf("correct expect.%s if the change is intended; otherwise fix the pack", name), strings.Join(parts, "; "))
}

// without returns the items of a that b does not have.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(item string) bool { return slices.Contains(b, item) })
}

func quoteAll(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = fmt.Sprintf("%q", item)
	}
	return strings.Join(quoted, ", ")
}
