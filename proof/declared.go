package proof

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Pair is an argument of a tool with the variable of the request that declares it.
type Pair struct {
	Arg      string  // "" for one that may be anything
	Variable string  // dotted, as conditions read it
	Scale    float64 // the argument is this many times what is declared
	Text     bool    // the values are texts, not numbers
}

// Limit is what an argument may be, in terms of what is declared.
type Limit struct {
	Min, Max *float64
	Enum     []string // nil for any text
}

// Beyond is whether the argument of a tool may have a value that would have needed an approval, or would
// not have been let through, had the request declared it. Its witness is a request that has the tool
// without an approval.
type Beyond struct {
	jsonlogic.Answer
	Declared any // by the witness, nil if it declares nothing of the kind
	Done     any // the value that the argument may have nevertheless, as it would be declared
	Open     Limit
	Listed   bool // the values of the argument are listed
	// Patterned is set if a pattern, which is not followed, bounds the argument too.
	Patterned bool
}

// Declared answers what the arguments of tools may be compared with what requests declare. All of its
// questions share one budget.
type Declared struct {
	*prover
	model  *Model
	table  *table
	places []int
	scenes map[string]*scene
	others map[instead]*scene
}

// DeclaredAs returns the name under which a request declares a variable; ok is false if the variable
// is neither in the context of the request nor in the metadata of the run.
func DeclaredAs(variable string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(variable, "request.context."); ok {
		return name, true
	}
	return strings.CutPrefix(variable, "metadata.")
}

// instead identifies the scene of an intent in which what is done takes the place of a variable.
type instead struct{ intent, variable string }

// Declared returns a Declared for a pack that can be compiled.
func (m *Model) Declared() *Declared {
	d := &Declared{
		prover: newProver(jsonlogic.Solver{}, m), model: m, table: &table{},
		scenes: map[string]*scene{}, others: map[instead]*scene{},
	}
	d.places = d.table.add(m)
	return d
}

// scene returns the scene of an intent, which is made once.
func (d *Declared) scene(intent string) *scene {
	if d.scenes[intent] == nil {
		d.scenes[intent] = d.model.alone(d.table, d.places, intent)
	}
	return d.scenes[intent]
}

// other returns the scene in which conditions read what is done where they read a variable.
func (d *Declared) other(intent, variable string) *scene {
	key := instead{intent, variable}
	if d.others[key] == nil {
		t := &table{conditions: slices.Clone(d.table.conditions)}
		for i, x := range t.conditions {
			t.conditions[i] = renamed(x, variable, d.done(variable))
		}
		d.others[key] = d.model.alone(t, d.places, intent)
	}
	return d.others[key]
}

// done returns the variable that holds what is done: one that no condition reads.
func (d *Declared) done(variable string) string {
	for variable += "'"; d.model.reads[variable]; {
		variable += "'"
	}
	return variable
}

// renamed returns a condition with one variable replaced by another.
func renamed(x *jsonlogic.Expr, variable, other string) *jsonlogic.Expr {
	places := map[*pack.Node]bool{}
	for _, v := range x.Variables() {
		if !v.Scoped && v.Path == variable {
			places[v.Node] = true
		}
	}
	if len(places) == 0 {
		return x
	}
	made, _ := jsonlogic.Compile(copied(x.Node(), places, other))
	return made
}

// copied returns a copy of a value with a text in the place of some of its nodes.
func copied(n *pack.Node, places map[*pack.Node]bool, text string) *pack.Node {
	out := *n
	if places[n] {
		out.Kind, out.Text = pack.String, text
	}
	out.Items, out.Members = slices.Clone(n.Items), slices.Clone(n.Members)
	for i := range out.Items {
		out.Items[i] = copied(out.Items[i], places, text)
	}
	for i := range out.Members {
		out.Members[i].Value = copied(out.Members[i].Value, places, text)
	}
	return &out
}

// unfollowed returns why nothing is known of what a variable declares, "" if it is known.
func (d *Declared) unfollowed(variable string) string {
	for path := range d.model.reads {
		if strings.HasPrefix(path, variable+".") || strings.HasPrefix(variable, path+".") {
			return "conditions read " + quote(variable) + " as a whole and in part"
		}
	}
	if slices.Contains(d.model.lists, variable) {
		return quote(variable) + " is searched as a list"
	}
	return ""
}

// beyond returns the formula that what is done would have needed an approval, had it been declared.
// Reason is why that cannot be followed.
func (d *Declared) beyond(row *Row, p Pair) (says jsonlogic.Formula, reason string) {
	s := d.scene(row.Intent)
	reason = d.unfollowed(p.Variable)
	if reason == "" && s.tooMany(row.Tool) {
		reason = "its bounds are too many to be followed"
	}
	if reason != "" {
		return says, reason
	}
	return jsonlogic.Any(d.other(row.Intent, p.Variable).refusing(s, row.Tool, row.Gates)...), ""
}

// Beyond answers the question for a row, with a further limit on the argument in force.
func (d *Declared) Beyond(row *Row, p Pair, within Limit) Beyond {
	beyond, reason := d.beyond(row, p)
	if reason != "" {
		return Beyond{Answer: jsonlogic.Answer{Reason: reason}}
	}
	b := Beyond{
		Answer:    d.admitted(row, p, within, beyond),
		Patterned: slices.ContainsFunc(d.scene(row.Intent).sources(row.Tool, p.Arg), func(b source) bool { return b.pattern != nil || len(b.others) > 0 }),
	}
	if b.Verdict == jsonlogic.Satisfiable {
		return d.confirm(row, p, b)
	}
	return b
}

// Limits reports whether what is declared may be a limit on what the tool of a row does without an
// approval, because it is not proved that the argument is never beyond it. Samples are values of the
// variable, which are tried in the row's known request before anything is proved.
func (d *Declared) Limits(row *Row, p Pair, samples []any) bool {
	beyond, reason := d.beyond(row, p)
	if reason != "" {
		return true
	}
	probes := d.probes(row, p, Limit{}, seeds(beyond))
	if row.Ungated != nil {
		path := strings.Split(d.done(p.Variable), ".")
		for _, value := range samples {
			request := jsonlogic.Set(row.Ungated, path, value)
			if beyond.Holds(request) && slices.ContainsFunc(probes, func(asked probe) bool { return asked.holds(request) }) {
				return true
			}
		}
	}
	return d.any(probes).Verdict != jsonlogic.Unsatisfiable
}

// probes returns the probes for a request that has the tool of a row without an approval, and for what
// the argument may be then; more are further conditions.
func (d *Declared) probes(row *Row, p Pair, within Limit, more []jsonlogic.Formula) []probe {
	s, done := d.scene(row.Intent), d.done(p.Variable)
	seed := slices.Concat(more, seeds(p.kind(done)), p.within(done, within), s.admitting(s.sources(row.Tool, p.Arg), p, done))
	probes := s.allowing(row.Tool, slices.Concat(s.around(row.Tool), s.unraised(row.Gates)))
	for i := range probes {
		probes[i].seed = slices.Concat(probes[i].seed, seed)
	}
	return probes
}

// admitted asks for such a request, and prefers one that declares something.
func (d *Declared) admitted(row *Row, p Pair, within Limit, more jsonlogic.Formula) (a jsonlogic.Answer) {
	for _, declared := range []jsonlogic.Formula{p.kind(p.Variable), {}} {
		probes := d.probes(row, p, within, seeds(more))
		for i := range probes {
			probes[i].seed = slices.Concat(probes[i].seed, seeds(declared))
		}
		if a = d.any(probes).Answer; a.Verdict == jsonlogic.Satisfiable {
			break
		}
	}
	return a
}

// confirm compiles both requests: the one that is declared, and the one with what is done.
func (d *Declared) confirm(row *Row, p Pair, b Beyond) Beyond {
	path := strings.Split(d.done(p.Variable), ".")
	value, _ := jsonlogic.Lookup(b.Witness, d.done(p.Variable))
	b.Done, b.Witness = value, jsonlogic.Unset(b.Witness, path)
	b.Declared, _ = jsonlogic.Lookup(b.Witness, p.Variable)
	s := d.scene(row.Intent)
	declared := s.of(b.Witness)
	done := s.of(jsonlogic.Set(b.Witness, strings.Split(p.Variable, "."), value))
	if !declared.ungated(row) || done.ungated(row) {
		return Beyond{Answer: jsonlogic.Answer{Reason: unconfirmed}}
	}
	if p.Arg == "" {
		return b
	}
	bounds := together(declared.boundsOn(row.Tool, p.Arg), false)
	if !bounds.admitsDeclared(value, p.Scale) {
		return Beyond{Answer: jsonlogic.Answer{Reason: unconfirmed}}
	}
	b.Open, b.Listed = Limit{Min: bounds.min, Max: bounds.max}, bounds.hasEnum
	return b
}
