package compiles

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Case is one golden case in both versions.
type Case struct {
	Name    string // of the case
	File    string // as messages show it
	Intent  string // of the invocation, "" where it could not be read
	Overlay string // overlay_id of the overlay that the case names, "" for none
	// Together says that the case names other packs too: each side is one version of the pack
	// with these, as they are in the head.
	Together bool
	// Request is what both versions were compiled for. Its references are those of
	// the head; the base was compiled for references to itself.
	Request    compiler.Request
	Base, Head Side
	// Stage is the first stage of the compiler whose output differs, "resolve" for
	// what comes before them; "" where the compiles are the same to the hash.
	Stage string
	// Causes are the changes of the pack for which a side ended early, as far as the
	// reason lies in the pack.
	Causes []Cause
	// Sections are the parts of the compiled context that differ, in the order of
	// the stages. There are none where a side was not compiled.
	Sections []Section
	// Tokens are the buckets of which more or less is used, in the contract's order.
	Tokens []BucketChange
	// Added and Removed are the tools, as "adapter.capability", that only one side
	// has, in registry order; Changed are those that both have, with another mode,
	// other gates or other bounds.
	Added, Removed, Changed []string
}

// Side is one of the two versions in a case.
type Side struct {
	Outcome compiler.Outcome // "" where the case could not be compiled
	Reason  string           // why it was not compiled, "" if it was
	Hash    string           // compiled_context_hash, "" unless it was compiled
	Tools   []Tool           // what is surfaced, in registry order
	// Program is what was compiled, with the overlay of the case, and Result the
	// compile itself with its trace; nil where there was none.
	Program *compiler.Program
	Result  *compiler.Result
}

// BucketChange is how many tokens of a bucket are used.
type BucketChange struct {
	Bucket     compiler.Bucket
	Base, Head int
}

// Compare compares the golden cases of a pack. Base is the pack that the unit's
// is compared with; head is what became of the unit's cases. Changes are what
// differs between the two packs. There is one Case for each result, in their order.
// Once the context has ended no more are compiled, and their reason says so.
func Compare(ctx context.Context, base *pack.Pack, u *repo.Unit, head []golden.Result, changes []diffing.Change) []Case {
	m := &comparison{base: base, unit: u, versions: map[*compiler.Program]*version{}, changes: newChangeIndex(changes)}
	cases := make([]Case, len(head))
	for i := range head {
		cases[i] = m.compare(ctx, &head[i])
	}
	return cases
}

// Trial compiles golden cases with another pack in the place of the head's.
type Trial struct{ comparison }

// NewTrial returns the trial of a pack, with the files beside it that a unit has.
func NewTrial(p *pack.Pack, u *repo.Unit) *Trial {
	return &Trial{comparison{base: p, unit: u, versions: map[*compiler.Program]*version{}}}
}

// AsBase reports whether a case that was compared comes to what it came to in the base.
func (t *Trial) AsBase(c *Case) bool {
	if c.Base.Result == nil || c.Head.Program == nil {
		return false
	}
	v := t.version(c.Head.Program, c.Overlay)
	if v.fault != "" {
		return false
	}
	result, err := v.Compile(c.Request)
	if err != nil || firstDifference(c.Base.Result, result) != "" {
		return false
	}
	var is Side
	is.take(v.Program, result)
	return is.Hash == c.Base.Hash && slices.Equal(result.Trace.Denied, c.Base.Result.Trace.Denied)
}

// comparison is what the cases of one pack share.
type comparison struct {
	base     *pack.Pack
	unit     *repo.Unit
	versions map[*compiler.Program]*version // of the base, by what the head is compiled with
	changes  *changeIndex
}

// version is the base with an overlay, or why it cannot be applied.
type version struct {
	*compiler.Program
	fault string
}

// version returns the base as a case compiles the head: with its overlay, and together with
// the other packs that it names. It shares conditions with the program of the case.
func (m *comparison) version(head *compiler.Program, overlayID string) *version {
	if have := m.versions[head]; have != nil {
		return have
	}
	made, resolved := &version{}, m.base
	m.versions[head] = made
	if overlayID != "" {
		unit := *m.unit
		unit.Pack, unit.Document, unit.Published = m.base, m.base.Node.Document(), nil
		view, err := overlay.ForCase(&unit, overlayID)
		if err != nil {
			made.fault = err.Error()
			return made
		}
		resolved = view.Unit.Pack
	}
	base := head.Beside(resolved)
	if len(head.Pack.United) > 0 {
		models := []*policy.Model{}
		for _, part := range head.Pack.Parts() {
			if part.PackMeta.PackID.Value == m.unit.Pack.PackMeta.PackID.Value {
				models = append(models, base)
			} else {
				models = append(models, head.Beside(part))
			}
		}
		var conflicts []pack.Conflict
		if base, conflicts = policy.Unite(models...); base == nil {
			made.fault = conflicts[0].Message
			return made
		}
	}
	made.Program = compiler.For(base)
	return made
}

// compare compares one case.
func (m *comparison) compare(ctx context.Context, r *golden.Result) Case {
	c := Case{Name: r.Case, File: r.File, Intent: r.Intent, Overlay: r.Overlay, Together: len(r.Together) > 0}
	c.Base.Reason, c.Head.Reason = r.Reason, r.Reason
	if r.Detail == nil || m.base == nil {
		return c
	}
	if err := ctx.Err(); err != nil {
		c.Base.Reason, c.Head.Reason = err.Error(), err.Error()
		return c
	}
	c.Request = r.Request
	c.Head.take(r.Program, r.Detail)
	b := m.version(r.Program, r.Overlay)
	if b.fault != "" {
		c.Base.Reason = "the base cannot be resolved: " + b.fault
		return c
	}
	result, err := b.Compile(addressed(c.Request, m.unit.Pack, m.base))
	if err != nil { // of content that has no JSON form, which a case that was read has not
		c.Base.Reason = err.Error()
		return c
	}
	c.Base.take(b.Program, result)
	c.Stage = firstDifference(result, r.Detail)
	if c.Stage != "" {
		c.differ(m.changes)
	}
	return c
}

// take fills a side in.
func (s *Side) take(p *compiler.Program, r *compiler.Result) {
	s.Program, s.Result = p, r
	s.Outcome, s.Reason = r.Outcome, r.Reason()
	if r.Context != nil {
		s.Hash = r.Context.ContextLedger.CompiledContextHash
		s.Tools = Tools(r)
	}
}

// firstDifference returns the stage at which two compiles begin to differ, ""
// where they do not. Stages that are alike may have ended for other reasons.
func firstDifference(a, b *compiler.Result) string {
	for i, name := range compiler.Stages() {
		if i >= len(a.Stages) || i >= len(b.Stages) {
			break
		}
		if a.Stages[i].Hash != b.Stages[i].Hash {
			return name
		}
	}
	if a.Outcome == b.Outcome && a.Reason() == b.Reason() && len(a.Stages) == len(b.Stages) {
		return ""
	}
	for _, r := range []*compiler.Result{a, b} {
		if r.Stop != nil && len(r.Stages) == min(len(a.Stages), len(b.Stages)) {
			return r.Stop.Stage
		}
	}
	return ""
}

// differ lists what differs between two compiles.
func (c *Case) differ(changes *changeIndex) {
	c.compareTools()
	b, h := c.Base.Result.Context, c.Head.Result.Context
	if b == nil || h == nil {
		var stops []string // the values for which a side ended early
		for _, r := range []*compiler.Result{c.Base.Result, c.Head.Result} {
			if r.Stop != nil && r.Stop.At != nil {
				stops = append(stops, r.Stop.At.KeyedPath())
			}
		}
		c.Causes = changes.causes([]*level{at(stops...)})
		return
	}
	for _, bucket := range compiler.Buckets() {
		was, is := b.BudgetReport.TokensUsedByBucket.Of(bucket), h.BudgetReport.TokensUsedByBucket.Of(bucket)
		if was != is {
			c.Tokens = append(c.Tokens, BucketChange{bucket, was, is})
		}
	}
	c.Sections = sections(c.Base.Result, c.Head.Result, changes)
}

// compareTools lists the tools that differ.
func (c *Case) compareTools() {
	for _, t := range c.Head.Tools {
		i := slices.IndexFunc(c.Base.Tools, func(was Tool) bool { return was.Capability == t.Capability })
		switch {
		case i < 0:
			c.Added = append(c.Added, t.Capability)
		case !reflect.DeepEqual(c.Base.Tools[i], t):
			c.Changed = append(c.Changed, t.Capability)
		}
	}
	for _, t := range c.Base.Tools {
		if !slices.ContainsFunc(c.Head.Tools, func(is Tool) bool { return is.Capability == t.Capability }) {
			c.Removed = append(c.Removed, t.Capability)
		}
	}
}

// addressed returns a request for one pack as one for another: references to
// the first are references to the second. The compile does not ask which version
// is intended, but which pack.
func addressed(request compiler.Request, from, to *pack.Pack) compiler.Request {
	refs, ok := request.Invoke["context_pack_refs"].([]any)
	if !ok {
		return request
	}
	refs = slices.Clone(refs)
	for i, ref := range refs {
		text, _ := ref.(string)
		if id, _, pinned := strings.Cut(text, "@"); pinned && id == from.PackMeta.PackID.Value {
			refs[i] = to.Ref()
		}
	}
	request.Invoke = maps.Clone(request.Invoke)
	request.Invoke["context_pack_refs"] = refs
	return request
}

// Tool is one tool that a request has, as the tool surface shows it.
type Tool struct {
	Capability string            // adapter.capability
	Mode       pack.ApprovalMode // the effective one (compiler, C4)
	// Gates are the active gates that hold the tool, in declaration order: those that
	// its permissions name or, where it may change something, a rule of the intent; of
	// one that only reads, a rule that is bound to no decision.
	Gates []string
	// Bounds maps an argument to the bound on it, as in the tool manifest.
	Bounds map[string]any
}

// Tools returns the tools that a compile surfaces, in registry order; none where it
// ended early.
func Tools(r *compiler.Result) []Tool {
	if r.Context == nil {
		return nil
	}
	var tools []Tool
	for i := range r.Trace.Tools {
		t := &r.Trace.Tools[i]
		if !t.Surfaced {
			continue
		}
		tool := Tool{Capability: t.Name(), Gates: holding(r, t)}
		for _, e := range r.Context.Manifests.ToolManifest {
			if e.AdapterID == t.Adapter.AdapterID.Value {
				tool.Mode = pack.ApprovalMode(e.CapabilityMetadata[t.Capability].ApprovalMode)
				tool.Bounds = e.Constraints[t.Capability]
			}
		}
		tools = append(tools, tool)
	}
	return tools
}

// holding returns the active gates that hold a surfaced tool. One that may change
// something is held by every gate that a rule of the intent names (decisions P10 and
// D7).
func holding(r *compiler.Result, t *compiler.ToolTrace) []string {
	writes := pack.Mode(t.Adapter.ApprovalMode).Rank() > 0
	return active(r, func(id string) bool {
		return raised(r, id, func(string) bool { return writes }) || slices.ContainsFunc(t.Permissions, func(p *pack.Permission) bool {
			return p.RequiresApprovalGate.OK && p.RequiresApprovalGate.Value == id
		})
	})
}

// DecisionGates returns the active gates that hold a decision in a compile, in
// declaration order: those that a rule names which is bound to it, or to none.
func DecisionGates(r *compiler.Result, decisionKey string) []string {
	return active(r, func(id string) bool {
		return raised(r, id, func(key string) bool { return key == decisionKey })
	})
}

// active returns the active gates that hold something, in declaration order.
func active(r *compiler.Result, holds func(gateID string) bool) (gates []string) {
	for _, g := range r.Trace.Gates {
		if id := g.Gate.GateID.Value; g.Active && holds(id) {
			gates = append(gates, id)
		}
	}
	return gates
}

// raised reports whether an enforced rule of the intent names a gate that is
// bound to no decision, or to one of those that are asked for.
func raised(r *compiler.Result, gateID string, of func(decisionKey string) bool) bool {
	return slices.ContainsFunc(r.Trace.Rules, func(t compiler.RuleTrace) bool {
		return t.Enforced && t.State != compiler.RuleOther && requires(t.Rule, gateID) &&
			(!t.Rule.DecisionBinding.OK || of(t.Rule.DecisionBinding.Value))
	})
}

// requires reports whether an outcome of a rule names a gate.
func requires(r *pack.Rule, gateID string) bool {
	return slices.ContainsFunc(r.Outcomes(), func(o *pack.Outcome) bool {
		return o.RequiresApprovalGate.OK && o.RequiresApprovalGate.Value == gateID
	})
}
