package golden

import (
	"cmp"
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
	"github.com/contextosai/packgate/schemas"
)

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
	if t.noTokenizer != nil {
		t.report(KindOutcome, t.place(t.config.Compile.Tokenizer.Node, t.Case.Node), finding.Error,
			"use one of "+strings.Join(tokens.Names(), ", "), t.noTokenizer.Error())
	}
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
	violations, err := schemas.Validate("case", doc.Root.Any())
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

// checkReference reports a case that is about another pack or another version
// of it: references of golden cases move with pack_version.
func (t *trial) checkReference() {
	meta := &t.subject.Pack.PackMeta
	id, own := meta.PackID.Value, meta.PackID.Value+"@"+meta.PackVersion.Value
	refs := t.Invoke.Get("context_pack_refs")
	var other *pack.Node
	for _, ref := range refs.Items {
		if ref.Text == own {
			return
		}
		if name, _, _ := strings.Cut(ref.Text, "@"); name == id && other == nil {
			other = ref
		}
	}
	if other == nil {
		t.problem(KindReference, refs, "name "+own, fmt.Sprintf("the case is about another pack: context_pack_refs has no reference to %q", id))
		return
	}
	t.problem(KindVersion, other, "set it to "+own+", or let packgate bump move the references of cases with pack_version",
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
