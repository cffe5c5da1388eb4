package starter

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// surroundings are what all candidates of a pack have in common.
type surroundings struct {
	unit        *repo.Unit
	program     *compiler.Program
	environment *repo.Environment // nil where it cannot be told which one
	catalog     *compiler.Catalog
	tokenizer   compiler.Tokenizer
	mode        pack.ApprovalMode // that covers every tool
	snapshot    string            // the id that evidence is pinned to
	shapes      *shapes
}

func newSurroundings(p *compiler.Program, u *repo.Unit, environments []*repo.Environment, c *repo.Config) (surroundings, error) {
	s := surroundings{unit: u, program: p, shapes: &shapes{}, mode: pack.ReadOnly}
	for _, e := range environments {
		if len(environments) == 1 || e.Name() == "prod" {
			s.environment = e
		}
	}
	s.catalog = golden.Catalog(s.environment)
	if name := c.Compile.Tokenizer; name.OK {
		var err error
		if s.tokenizer, err = tokens.Find(name.Value); err != nil {
			return s, err
		}
	}
	for _, a := range u.Pack.ToolingLayer.AdapterRegistry.Items {
		if mode := pack.Mode(a.ApprovalMode); mode.Rank() > s.mode.Rank() {
			s.mode = pack.ApprovalModes()[mode.Rank()]
		}
	}
	s.snapshot = s.pinned(u.Pack.IntelligenceRefs.KnowledgeGraph.SnapshotPinRule.Value)
	return s, nil
}

// pinned returns the snapshot of a pin rule: the catalog's for an alias, or else its own name.
func (s *surroundings) pinned(rule string) string {
	kind, name, _ := strings.Cut(rule, ":")
	if kind == "alias" && s.environment != nil {
		if id, ok := s.environment.Snapshots.Get(name); ok && id.OK {
			return id.Value
		}
	}
	return name
}

// candidate is a request that may become a case.
type candidate struct {
	*scope                // nil for a request of no intent, which only the contracts look at
	data   map[string]any // what the solver gave, in the form that conditions read
	// without are paths that are left out although cases usually have them.
	without []string
	mode    pack.ApprovalMode // the safety mode; "" for the usual one
	// bucket is the budget of the evidence bucket, nil for its share.
	bucket *int
	total  int // of tokens, 0 for the default

	maker        *maker // that judged it
	overlay      string // overlay_id, "" for none
	name, family string
	shows        []key
	detail       *compiler.Result
	err          error
}

// usualTotal is the token budget of a usual case, and mostTotal what one is given at most.
const (
	usualTotal = 12_000
	mostTotal  = 12_000 << 12
)

// envelopes returns a candidate's invocation and run context, nil where the data has no place there.
func (s *surroundings) envelopes(c *candidate) (invoke, runContext map[string]any) {
	meta := &s.unit.Pack.PackMeta
	id := strings.ReplaceAll(c.name, "-", "_")
	data := s.usual(c, id)
	for _, path := range slices.Concat(s.shapes.absent, c.without) {
		if _, there := jsonlogic.Lookup(c.data, path); !there {
			data = remove(data, strings.Split(path, "."))
		}
	}
	data = jsonlogic.Overlay(data, s.withoutStandIns(c.data))
	input, ok := data["request"].(map[string]any)
	if !ok {
		return nil, nil
	}
	delete(data, "request")
	invoke = map[string]any{
		"request_id":        "req_golden_" + id,
		"tenant_id":         meta.Tenant.TenantID.Value,
		"user":              data["user"],
		"agent":             data["agent"],
		"context_pack_refs": []any{s.unit.Pack.Ref()},
		"input":             input,
		"mode":              "stream",
		"runtime":           map[string]any{"plan_timeout_ms": 15000.0, "max_tool_calls": 8.0, "max_cost_cents": 25.0},
		"trace":             map[string]any{"trace_id": hexadecimal(id, 32), "span_id": hexadecimal(id, 16)},
	}
	return invoke, data
}

// withoutStandIns takes out what the solver put in the place of an object that a case has anyway.
func (s *surroundings) withoutStandIns(data map[string]any) map[string]any {
	for _, path := range s.shapes.objects {
		value, there := jsonlogic.Lookup(data, path)
		if _, object := value.(map[string]any); there && !object {
			data = remove(data, strings.Split(path, "."))
		}
	}
	return data
}

// usual returns what conditions read of a request that says nothing.
func (s *surroundings) usual(c *candidate, id string) map[string]any {
	mode := c.mode
	if mode == "" {
		mode = s.mode
	}
	user, agent := map[string]any{"user_id": "usr_golden"}, map[string]any{"agent_id": "agt_golden"}
	if mode.Rank() >= pack.Delegated.Rank() {
		agent["agent_urn"], agent["workload_identity"] = "agent:golden/agent@1.0.0", "spiffe://golden/agent"
		user["delegation"] = map[string]any{"auth_type": "oauth2", "scopes": []any{}, "subject": "u:user:golden"}
	}
	budget := map[string]any{"total_tokens": float64(max(c.total, usualTotal)), "max_tool_calls": 8.0, "max_cost_cents": 25.0}
	if c.bucket != nil {
		budget["bucket_tokens"] = map[string]any{"evidence": float64(*c.bucket)}
	}
	intent := c.intent()
	return map[string]any{
		"run_id":      "run_golden_" + id,
		"trace_id":    hexadecimal(id, 32),
		"tenant_id":   s.unit.Pack.PackMeta.Tenant.TenantID.Value,
		"user":        user,
		"agent":       agent,
		"intent":      intent,
		"safety_mode": string(mode),
		"run_budget":  budget,
		"request":     map[string]any{"intent": intent, "message": fmt.Sprintf("A request of %s.", intent)},
	}
}

func (c *candidate) intent() string {
	if c.scope == nil {
		return ""
	}
	return c.scope.intent
}

// remove returns an object without the value at a path; the one given is not changed.
func remove(from map[string]any, path []string) map[string]any {
	out := jsonlogic.Overlay(from, nil)
	if len(path) == 1 {
		delete(out, path[0])
	} else if inner, ok := out[path[0]].(map[string]any); ok {
		out[path[0]] = remove(inner, path[1:])
	}
	return out
}

// compile compiles a candidate. Where no bucket has a budget of its own, the total is doubled until all
// fits: only cases about budgets are to have a truncation.
func (s *surroundings) compile(c *candidate) *candidate {
	for c.total = usualTotal; ; c.total *= 2 {
		invoke, runContext := s.envelopes(c)
		c.detail, c.err = s.program.Compile(compiler.Request{
			Invoke: invoke, RunContext: runContext, Evidence: s.pieces(c), Catalog: s.catalog, Tokenizer: s.tokenizer,
		})
		if c.err != nil || c.bucket != nil || s.shapes.budget || c.total >= mostTotal || c.detail.Context == nil || c.detail.Context.BudgetReport.BucketTruncations == (compiler.Flags{}) {
			return c
		}
	}
}

// mostEvidence bounds the evidence of a case.
const mostEvidence = 20

// pieces returns one piece of evidence for each name that the intent's decisions require. It is in
// the content alone: a reference is a source, and would hide a misspelled name.
func (s *surroundings) pieces(c *candidate) []compiler.Evidence {
	if c.scope == nil {
		return nil
	}
	names := c.scope.evidence()
	if c.bucket != nil {
		// One piece stays where another one is dropped.
		for i := len(names); i < 2; i++ {
			names = append(names, fmt.Sprintf("example %d", i+1))
		}
	}
	items := make([]compiler.Evidence, 0, len(names))
	for i, name := range names {
		items = append(items, compiler.Evidence{
			Ref:     fmt.Sprintf("kg:evidence:evidence_%d#snapshot_%s", i+1, s.snapshot),
			Content: fmt.Sprintf("Evidence %q, as it was found.", name),
		})
	}
	return items
}

// hexadecimal returns digits that are the same for the same name.
func hexadecimal(name string, digits int) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:digits]
}
