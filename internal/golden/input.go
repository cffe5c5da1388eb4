package golden

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/schemas"
)

// read takes the case in. It reports false where the case cannot be compiled;
// then it has said why.
func (t *trial) read() bool {
	if i := slices.IndexFunc(t.unit.Cases, func(c *repo.Case) bool { return c.SideFile == t.file }); i >= 0 {
		t.Case = t.unit.Cases[i]
		t.Result.Case = cmp.Or(t.Case.Case.Value, t.file.Name)
		t.Family, t.Expected = t.Case.Family.Value, t.Expect.Outcome.Value
		t.Location = t.place(t.Case.Case.Node, t.Case.Node)
	}
	t.faults()
	if len(t.Problems) > 0 {
		t.Reason = "the case is not valid"
		return false
	}
	if t.program == nil {
		t.Reason = "the pack could not be read"
		t.report(t.Location, finding.Error, "mend the pack first", "not compiled: "+t.Reason)
		return false
	}
	if t.checkOverlay(); len(t.Problems) > 0 {
		t.Reason = t.Problems[0].Message
		return false
	}
	t.checkReference()
	return true
}

// faults reports what the reader and the schema find in the case.
func (t *trial) faults() {
	for _, f := range t.file.Faults {
		t.report(f.Location, finding.Error, f.Hint, f.Message)
	}
	doc := t.file.Document
	if doc.Root == nil {
		return
	}
	violations, err := schemas.Validate("case", doc.Root.Any())
	if err != nil {
		t.report(t.Location, finding.Error, "", err.Error())
	}
	for _, v := range violations {
		location, message := repo.Describe(doc, v)
		t.report(location, finding.Error, "see packgate schema case", message)
	}
}

// checkOverlay refuses what would make the compile another one than the case
// asks for.
func (t *trial) checkOverlay() {
	if o := t.Overlay; o.OK && o.Value != "" {
		t.problem(o.Node, "remove overlay, or set it to null",
			fmt.Sprintf("overlay %q cannot be applied: golden cases are compiled against the pack as it stands", o.Value))
	}
	if e := t.Environment; e.OK && t.environment() == nil {
		known := make([]string, 0, len(t.environments))
		for _, have := range t.environments {
			known = append(known, have.Name())
		}
		slices.Sort(known)
		hint := "there is no environment catalog in this repository; remove environment, or add environments/" + e.Value + ".json"
		if len(known) > 0 {
			hint = "known environments: " + strings.Join(known, ", ")
		}
		t.problem(e.Node, hint, fmt.Sprintf("there is no environment catalog %q", e.Value))
	}
	if name := t.config.Compile.Tokenizer; name.OK && name.Value != (compiler.Estimate{}).Name() {
		t.problem(name.Node, `use "estimate"`, fmt.Sprintf("tokenizer %q is not built in", name.Value))
	}
}

// environment returns the catalog that the case names, nil where it names none
// that is there.
func (t *trial) environment() *repo.Environment {
	for _, e := range t.environments {
		if t.Environment.OK && e.Name() == t.Environment.Value {
			return e
		}
	}
	return nil
}

// checkReference reports a case that is about another pack or another version
// of it: references of golden cases move with pack_version.
func (t *trial) checkReference() {
	meta := &t.unit.Pack.PackMeta
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
		t.problem(refs, "name "+own, fmt.Sprintf("the case is about another pack: context_pack_refs has no reference to %q", id))
		return
	}
	t.problem(other, "set it to "+own+"; references of golden cases move with pack_version",
		fmt.Sprintf("the case names %q and the pack is %q", other.Text, own))
}

// request returns what the case is compiled for.
func (t *trial) request() compiler.Request {
	invoke, _ := t.Invoke.Any().(map[string]any)
	runContext, _ := t.RunContext.Any().(map[string]any)
	request := compiler.Request{Invoke: invoke, RunContext: runContext, Catalog: Catalog(t.environment())}
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
