package compiler

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Version names the compile that this package does. It is raised only when the
// bytes of a compiled context change for the same inputs.
const Version = "packgate.compile.v1"

// Input is all that a compile depends on.
type Input struct {
	Pack *pack.Pack // resolved: overlays are applied already
	Request
}

// Request is what is compiled for: one invocation with its surroundings.
type Request struct {
	Invoke     map[string]any // an invokeAgent v1 envelope, as decoded JSON
	RunContext map[string]any // a RunContext v1, as decoded JSON
	Evidence   []Evidence     // in the caller's order
	Memory     []Memory       // in the caller's order
	Catalog    *Catalog       // what the environment offers; nil where none is known
	Tokenizer  Tokenizer      // nil means Estimate
}

// Data returns what conditions read: the members of the run context, and the
// input of the invocation as request (compile semantics, evaluation context).
func (r Request) Data() map[string]any {
	data := make(map[string]any, len(r.RunContext)+1)
	maps.Copy(data, r.RunContext)
	data["request"] = r.Invoke["input"]
	return data
}

// Evidence is one piece of evidence that the caller supplies. Priority decides
// what is dropped first where the bucket does not fit, lower ones before higher
// ones; nil means the priority of the bucket, 60.
type Evidence struct {
	Ref      string `json:"evidence_ref"`
	Content  string `json:"content"`
	Priority *int   `json:"priority,omitempty"`
}

// Memory is one recalled entry that the caller supplies. One that is not
// promoted refuses the compile. Priority is as in Evidence; nil means 50.
type Memory struct {
	Ref      string `json:"memory_ref"`
	Content  string `json:"content"`
	Promoted bool   `json:"promoted"`
	Priority *int   `json:"priority,omitempty"`
}

// Catalog is what a compile asks of an environment catalog. A zero Runtime or
// nil Intents are sections that the catalog does not have; what needs them is
// not checked, and the trace says so.
type Catalog struct {
	Name    string
	Runtime string   // version of the runtime, semver
	Intents []string // intents that exist
}

// Outcome says how a compile ended.
type Outcome string

// The three ways for a compile to end.
const (
	Compiled        Outcome = "compiled"
	Refused         Outcome = "refused"
	PolicyEvalError Outcome = "policy_eval_error"
)

// Result is what a compile yields. Context is nil unless Outcome is Compiled.
type Result struct {
	Outcome Outcome
	Stop    *Stop // why the compile did not go on; nil if it is compiled
	Context *CompiledContext
	Stages  []StageHash // of the stages that were completed, in order
	Trace   Trace
}

// Reason returns why the compile ended early, "" if it did not.
func (r *Result) Reason() string {
	if r.Stop == nil {
		return ""
	}
	return r.Stop.Reason
}

// Stop says why a compile ended early.
type Stop struct {
	Stage  string // the stage that ended it, one of Stages, or "resolve"
	Reason string // what is wrong, in the grammar of messages
	// Rule, Operator and Variable say what could not be evaluated. They are set
	// for a policy evaluation error alone; Variable may be "" even then.
	Rule, Operator, Variable string
	// At is the value of the pack that is concerned, nil where the reason lies
	// in the invocation or the run context.
	At *pack.Node
	// Invalid says that the pack is refused whatever the request is.
	Invalid bool
}

// StageHash is one stage's own output with its hash, which tells where a changed
// compile begins to differ.
type StageHash struct {
	Name string
	Hash string // "sha256:" and 64 hexadecimal digits
	// Output is what the stage decided, to be encoded as JSON and not to be
	// changed: it shares memory with the rest of the result. Hash is the digest of
	// that JSON, as json.Encoder writes it with its final newline.
	Output any
}

// Same reports whether two lists of stages have the same names and hashes, in
// the same order.
func Same(a, b []StageHash) bool {
	return slices.EqualFunc(a, b, func(x, y StageHash) bool { return x.Name == y.Name && x.Hash == y.Hash })
}

// Stages returns the names of the eight stages in order.
func Stages() []string {
	list := stages()
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.name
	}
	return names
}

// stage is one step of a compile. Run returns the stage's own output, which is
// hashed, or why the compile ends there.
type stage struct {
	name string
	run  func(*run) (output any, stop *Stop)
}

func stages() [8]stage {
	return [8]stage{
		{"intent", (*run).intentStage},
		{"policy", (*run).policyStage},
		{"tools", (*run).toolStage},
		{"evidence", (*run).evidenceStage},
		{"memory", (*run).memoryStage},
		{"budget", (*run).budgetStage},
		{"assembly", (*run).assemblyStage},
		{"controls", (*run).controlStage},
	}
}

// ErrNoPack is returned for an input without a pack.
var ErrNoPack = errors.New("compile: there is no pack")

// Compile compiles a pack for one request. What the inputs do not permit is a
// Result; the error is for a missing pack and for content that has no JSON form.
// Who compiles one pack for several requests prepares it once, see Prepare.
func Compile(in Input) (*Result, error) {
	if in.Pack == nil {
		return nil, ErrNoPack
	}
	return Prepare(in.Pack).Compile(in.Request)
}

// Compile compiles the prepared pack for one request. It may be called by
// several goroutines at once.
func (p *Program) Compile(request Request) (*Result, error) {
	r := &run{Program: p, request: request, result: &Result{}}
	if r.request.Tokenizer == nil {
		r.request.Tokenizer = Estimate{}
	}
	if stop := r.resolve(); stop != nil {
		return r.end("resolve", stop), nil
	}
	for _, s := range stages() {
		output, stop := s.run(r)
		if stop != nil {
			return r.end(s.name, stop), nil
		}
		hash, err := hashOf(output)
		if err != nil {
			return nil, fmt.Errorf("compile: stage %s: %w", s.name, err)
		}
		r.result.Stages = append(r.result.Stages, StageHash{Name: s.name, Hash: hash, Output: output})
	}
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	r.result.Outcome = Compiled
	return r.result, nil
}

// Refuses returns why Compile refuses a request before it looks at the rules, nil
// where it does not. Like Compile it may be called by several goroutines at once.
func (p *Program) Refuses(request Request) *Stop {
	r := &run{Program: p, request: request, result: &Result{}}
	if stop := r.resolve(); stop != nil {
		return r.end("resolve", stop).Stop
	}
	first := stages()[0]
	if _, stop := first.run(r); stop != nil {
		return r.end(first.name, stop).Stop
	}
	return nil
}

// run is one compile on its way through the stages. Each stage reads what the
// ones before it left here.
type run struct {
	*Program
	request Request
	result  *Result

	invocation invocation     // resolve
	data       map[string]any // resolve: what conditions read
	safetyMode pack.ApprovalMode

	intent    string                // 1
	fired     []*policy.Branch      // 2, enforced and not, in order of evaluation
	decisions []*standing           // 2, those of the intent, in decision_specs order
	denied    []string              // 2, in firing order
	surfaced  []surface             // 3, in manifest order
	manifest  []ToolEntry           // 3
	evidence  []Evidence            // 4
	memory    []Memory              // 5
	allocated [bucketCount]int      // 6
	prompt    CompiledPrompt        // 7
	used      [bucketCount]int      // 7
	dropped   [bucketCount][]string // 7
	controls  RuntimeControls       // 8

	warnings []string
}

func (r *run) end(stage string, stop *Stop) *Result {
	stop.Stage = stage
	r.result.Stop = stop
	r.result.Outcome = Refused
	if stop.Rule != "" {
		r.result.Outcome = PolicyEvalError
	}
	return r.result
}

// refusal is a stop for a reason that lies in the request.
func refusal(format string, args ...any) *Stop {
	return &Stop{Reason: fmt.Sprintf(format, args...)}
}

// refusalAt is a stop for a reason that lies in the pack.
func refusalAt(at *pack.Node, format string, args ...any) *Stop {
	return &Stop{Reason: fmt.Sprintf(format, args...), At: at}
}

func (r *run) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}
