package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
)

// choices takes decisions from bytes, 0 where they are used up, so that every
// input of a fuzz test is a request that gets far.
type choices struct{ data []byte }

func (c *choices) next() int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b)
}

// of chooses one of several values.
func of[T any](c *choices, values ...T) T { return values[c.next()%len(values)] }

// put sets a member unless nil was chosen for it.
func put(m map[string]any, name string, value any) {
	if value != nil {
		m[name] = value
	}
}

// requestFrom makes a request for the support pack from bytes: identity, amount,
// role and safety mode, budget, evidence and memory, tokenizer.
func requestFrom(data []byte) compiler.Request {
	c := &choices{data: data}
	facts, user := map[string]any{"order_id": "ord_881"}, map[string]any{"user_id": "usr_771"}
	put(facts, "identity_verified", of[any](c, true, false, nil, true, "yes"))
	put(facts, "refund_amount", of[any](c, 4200.0, 3000.0, 0.0, nil, "4200"))
	put(user, "role", of[any](c, "support_agent", "manager", nil, 7.0))
	input := map[string]any{
		"intent": "support.refund", "message": of(c, "Refund it.", "", "\x00\u2028\"😀", strings.Repeat("x ", 300)), "context": facts,
	}
	put(input, "channel", of[any](c, nil, "app_chat", "\u202e"))
	request := compiler.Request{
		Invoke: map[string]any{
			"request_id": "req_1", "tenant_id": "tenant_acme_prod", "context_pack_refs": []any{"ctxpack.support@1.0.0"}, "input": input,
		},
		RunContext: map[string]any{
			"run_id": "run_1", "tenant_id": of(c, "tenant_acme_prod", "tenant_acme_prod", "tenant_acme_prod", "tenant_other"), "user": user,
			"safety_mode": of(c, "destructive", "read_only", "local_write", "network", "delegated"),
			"run_budget":  budgetFrom(c),
		},
		Catalog:   of(c, nil, &compiler.Catalog{Name: "prod", Runtime: "1.4.0", Intents: []string{"support.refund"}}),
		Tokenizer: tokenizerFrom(c),
	}
	for range c.next() % 7 {
		n := c.next()
		e := compiler.Evidence{Ref: fmt.Sprintf("kg:e%d", n%9), Content: strings.Repeat("fact ", n%50)}
		if rank := n % 5; rank > 0 {
			e.Priority = &rank
		}
		request.Evidence = append(request.Evidence, e)
	}
	for range c.next() % 4 {
		n := c.next()
		request.Memory = append(request.Memory, compiler.Memory{Ref: fmt.Sprintf("mem:%d", n%5), Content: strings.Repeat("m", n), Promoted: n != 255})
	}
	return request
}

func budgetFrom(c *choices) map[string]any {
	budget, buckets := map[string]any{}, map[string]any{}
	put(budget, "total_tokens", of[any](c, nil, 12000.0, 0.0, 7.0, 61.0, 200.0, 400.0, 1.5))
	for _, b := range compiler.Buckets() {
		if n := c.next(); n > 160 {
			buckets[string(b)] = float64(n - 161)
		}
	}
	put(budget, "bucket_tokens", of[any](c, nil, buckets, buckets, buckets))
	return budget
}

func tokenizerFrom(c *choices) compiler.Tokenizer {
	name := of(c, "", "estimate", "", "cl100k_base", "", "", "o200k_base")
	if name == "" {
		return nil
	}
	tokenizer, err := tokens.Find(name)
	if err != nil {
		panic(err) // the names above are wrong
	}
	return tokenizer
}

// The laws of FuzzCompile for requests that get far, and of the hash: what only
// the ledger tells leaves it, what the model reads changes it.
func FuzzRequest(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 1, 1, 1, 1, 0, 1, 4, 200, 255, 165, 170, 180, 161, 1, 1, 3, 6, 1, 2, 3, 44, 5, 6, 3, 1, 2, 3})
	f.Add([]byte{0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 200, 0, 0, 1, 0, 6, 5, 7, 16, 25, 34, 43, 3, 255, 0, 0})
	r := rand.New(rand.NewPCG(7, 11))
	for range 200 {
		data := make([]byte, 40)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	program := compiler.Prepare(supportPack(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		request := requestFrom(data)
		result, err := program.Compile(request)
		if err != nil {
			t.Fatal(err)
		}
		again, err := compiler.Prepare(supportPack(t)).Compile(requestFrom(data))
		if err != nil || everything(again) != everything(result) {
			t.Fatalf("a second compile gives\n%s\nwanted\n%s", everything(again), everything(result))
		}
		decided, err := program.Decide(requestFrom(data))
		if err != nil || everything(decided) != everything(decidedOf(result)) {
			t.Fatalf("what is decided is\n%s (%v)\nwanted\n%s", everything(decided), err, everything(decidedOf(result)))
		}
		bare := unhashed(result)
		for _, s := range result.Stages {
			bare.Stages = append(bare.Stages, compiler.StageHash{Name: s.Name, Output: s.Output})
		}
		if outputs, err := program.Outputs(requestFrom(data)); err != nil || everything(outputs) != everything(bare) {
			t.Fatalf("the outputs without hashes are\n%s (%v)\nwanted\n%s", everything(outputs), err, everything(bare))
		}
		if result.Context == nil {
			return
		}
		holds(t, &request, result.Context)
		set(request.Invoke, "req_2", "request_id")
		set(request.RunContext, "run_2", "run_id")
		if again, err = program.Compile(request); err != nil || !same(again.Stages, result.Stages) || hashOf(again) != hashOf(result) {
			t.Errorf("another request id changes the hash or a stage: %v", err)
		}
		set(request.Invoke, "something else", "input", "message")
		if again, err = program.Compile(request); err != nil || hashOf(again) == hashOf(result) {
			t.Errorf("another message changes no hash: %v", err)
		}
	})
}

// decidedOf returns a result as Decide gives it.
func decidedOf(r *compiler.Result) *compiler.Result {
	with := *r
	with.Stages = nil
	if c := r.Context; c != nil {
		with.Context = &compiler.CompiledContext{
			Manifests:       compiler.Manifests{PolicyManifest: c.Manifests.PolicyManifest, ToolManifest: c.Manifests.ToolManifest},
			RuntimeControls: c.RuntimeControls,
		}
	}
	return &with
}

// unhashed returns a result without its stages and hashes.
func unhashed(r *compiler.Result) *compiler.Result {
	with := *r
	with.Stages = nil
	if r.Context != nil {
		context := *r.Context
		context.ContextLedger.CompiledContextHash = ""
		with.Context = &context
	}
	return &with
}

func hashOf(r *compiler.Result) string { return r.Context.ContextLedger.CompiledContextHash }
