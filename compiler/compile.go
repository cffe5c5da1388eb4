package compiler

import (
	"fmt"
	"maps"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Version names the compile that this package does. It is raised only when the
// bytes of a compiled context change for the same inputs.
const Version = "packgate.compile.v1"

// Request is what a pack is compiled for: one invocation with its surroundings.
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

// Program is a pack that is prepared for compiling. It never changes and may be
// used by several goroutines at once.
type Program struct {
	*policy.Model
	fault     *Stop // the first reason for which the pack cannot be compiled
	requires  []requirement
	arguments map[string]bool // those that permissions bound
}

// Prepare prepares a pack for compiling. It never fails: a pack that cannot be
// compiled, because a condition is outside the JsonLogic profile, a reference
// leads nowhere or a member has the wrong type, is refused by every compile.
func Prepare(p *pack.Pack) *Program { return For(policy.New(p, nil)) }

// For prepares the pack of a model for compiling, as Prepare does.
func For(m *policy.Model) *Program {
	p := &Program{Model: m, arguments: map[string]bool{}}
	if m.Fault != nil {
		p.refuse(m.Fault.At, "%s", m.Fault.Reason)
	}
	for _, part := range m.Pack.Parts() {
		if _, _, ok := pack.ParseRef(part.Ref()); !ok {
			p.refuse(part.PackMeta.PackVersion.Node, "%q is not a reference of the form pack_id@MAJOR.MINOR.PATCH", part.Ref())
		}
		p.requirements(part)
	}
	for _, t := range m.Tools {
		for _, b := range t.Bounds {
			p.arguments[b.Arg] = true
		}
	}
	return p
}

func (p *Program) refuse(at *pack.Node, format string, args ...any) {
	if p.fault == nil {
		p.fault = refusalAt(at, "the pack is not valid: "+format, args...)
		p.fault.Invalid = true
	}
}

// Compile compiles the prepared pack for one request. What the inputs do not permit
// is a Result; the error is for content that has no JSON form. It may be called by
// several goroutines at once.
func (p *Program) Compile(request Request) (*Result, error) { return p.compile(request, hashes) }

// Outputs compiles as Compile does, without the hashes of the stages and of the context: what
// they are of is there.
func (p *Program) Outputs(request Request) (*Result, error) { return p.compile(request, outputs) }

// Decide compiles as Compile does, for those who look at what was decided alone: the result
// has no Stages, and of the context only the manifests of policy and tools and the runtime controls.
func (p *Program) Decide(request Request) (*Result, error) { return p.compile(request, decisions) }

// extent is how much of a compile is wanted.
type extent uint8

const (
	decisions extent = iota
	outputs          // and what each stage decided
	hashes           // and their hashes
)

func (p *Program) compile(request Request, wanted extent) (*Result, error) {
	r := &run{Program: p, request: request, result: &Result{}, wanted: wanted}
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
		if wanted == decisions {
			continue
		}
		hash := ""
		if wanted == hashes {
			var err error
			if hash, err = hashOf(output); err != nil {
				return nil, fmt.Errorf("compile: stage %s: %w", s.name, err)
			}
		}
		r.result.Stages = append(r.result.Stages, StageHash{Name: s.name, Hash: hash, Output: output})
	}
	r.result.Outcome = Compiled
	if wanted == decisions {
		r.result.Context = r.decided()
		return r.result, nil
	}
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
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
	wanted  extent

	invocation invocation     // resolve
	data       map[string]any // resolve: what conditions read
	safetyMode pack.ApprovalMode

	intent    string           // 1
	fired     []*policy.Branch // 2, enforced and not, in order of evaluation
	barred    []*policy.Branch // 2, what denies decisions to who is not eligible
	decisions []*standing      // 2, those of the intent, in decision_specs order
	denied    []string         // 2, in firing order
	surfaced  []surface        // 3, in manifest order
	manifest  []ToolEntry      // 3
	evidence  []Evidence       // 4
	memory    []Memory         // 5
	allocated Counts           // 6
	prompt    CompiledPrompt   // 7
	used      Counts           // 7
	dropped   Dropped          // 7
	controls  RuntimeControls  // 8

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
