package jsonlogic

import (
	"math"
)

// prover turns one formula into clauses and a model of the clauses back into a
// request.
//
// Every expression becomes a pair of propositions. Connectives are gates. What
// compares, searches or only reads is a leaf: one operation over one term. A term
// is a variable, or an expression that is not followed any further, such as a
// sum; what two terms have to do with each other is such an expression too. The
// values of each term fall into finitely many regions, in each of which a leaf has
// one truth (prove_domain.go, prove_cells.go, prove_leaf.go).
//
// A request always is one choice of regions, so that clauses without a model
// prove that there is no request. The converse holds where all terms are
// variables. For the others a model is only a candidate.
type prover struct {
	formula Formula
	within  Formula // see Solver
	budget  *budget
	search  *search
	gates   *gates

	terms     []*term          // in the order in which the formula reads them
	variables map[string]*term // by path
	opaques   map[Key]*term
	leaves    map[leafKey]*leaf
	known     map[Key]pair   // operations that have been translated
	seen      map[*Expr]bool // expressions whose variables have been noted

	memo     *memo // nil for none
	computed bool  // an expression reads what it computes the name of

	lists       []string    // variables that hold lists elsewhere
	assumptions []literal   // each that a variable is a scalar, in their order
	divide      func(*term) // cuts a term into regions; tests show that mistakes in it are found

	settings []setting           // of the candidate
	request  map[string]any      // that was evaluated last
	tried    map[*Expr]evaluated // what expressions give in the trial
	clause   []literal           // that is being made; the search keeps none

	madeTerms  stock[term]
	madeLeaves stock[leaf]
}

func (p *prover) statement(f Formula) literal {
	if f.of == nil {
		return always
	}
	if f.of.form == says {
		x := p.expression(f.of.expr)
		switch f.of.truth {
		case True:
			return x.t
		case False:
			return x.f
		}
		return p.gates.neither(x)
	}
	parts := make([]literal, len(f.of.parts))
	for i, part := range f.of.parts {
		parts[i] = p.statement(part)
	}
	switch f.of.form {
	case allHold:
		return p.gates.and(parts...)
	case anyHolds:
		return p.gates.or(parts...)
	}
	return parts[0].not()
}

func (p *prover) expression(x *Expr) pair {
	if !p.seen[x] {
		p.seen[x] = true
		p.survey(x)
	}
	return p.truth(x.root)
}

func (p *prover) truth(n *node) pair {
	if p.budget.spend(1); p.budget.over() {
		return pair{never, never}
	}
	if n.constant {
		return pairOf(truth(n.value))
	}
	if known, ok := p.known[n.key]; ok {
		return known
	}
	x := p.translate(n)
	p.known[n.key] = x
	return x
}

func (p *prover) translate(n *node) pair {
	switch n.op {
	case opAnd:
		return p.gates.conjunction(p.truths(n.args))
	case opOr:
		return p.gates.disjunction(p.truths(n.args))
	case opNot:
		return p.truth(n.args[0]).not()
	case opTruth:
		return p.truth(n.args[0])
	case opIf:
		return p.choice(n.args)
	case opEqual, opNotEqual, opSame, opNotSame, opGreater, opGreaterEqual, opLess, opLessEqual, opIn:
		return p.comparison(n)
	case opMissing, opMissingSome:
		if n.keys != nil && (n.op == opMissing || n.args[0].constant) {
			return p.missing(n)
		}
	case opList:
		return pairOf(truthOf(len(n.args) > 0))
	case opVar:
		if len(n.args) > 0 {
			return p.gates.choice(p.absence(n), p.truth(n.args[0]), p.truthiness(bare(n)))
		}
	}
	return p.truthiness(n)
}

func (p *prover) truths(nodes []*node) []pair {
	pairs := make([]pair, len(nodes))
	for i, n := range nodes {
		pairs[i] = p.truth(n)
	}
	return pairs
}

// choice is the truth of "if" with the operands that remain.
func (p *prover) choice(operands []*node) pair {
	switch len(operands) {
	case 0:
		return pairOf(truth(nil))
	case 1:
		return p.truth(operands[0])
	}
	condition := p.truth(operands[0])
	return p.gates.choice(condition, p.truth(operands[1]), p.choice(operands[2:]))
}

// truthiness is that of a term, by the evaluator's own "!!".
func (p *prover) truthiness(n *node) pair {
	return p.leaf(operation(opTruth, "!!", n.source, n))
}

// missing is true if one of the keys is missing and, of "missing_some", too few of the
// others are there. Each key is a leaf by itself; one that cannot be told leaves all
// unknown, whatever the others are.
func (p *prover) missing(n *node) pair {
	need := math.Inf(1)
	if n.op == opMissingSome {
		number, ok := n.args[0].value.(float64)
		if !ok {
			return pairOf(Unknown)
		}
		need = number
	}
	present, missing, told := p.keys(n)
	enough := always
	if need > 0 {
		enough = p.gates.atLeast(int(min(math.Ceil(need), math.MaxInt32)), present)
	}
	some := p.gates.and(missing, enough.not())
	return pair{p.gates.and(told, some), p.gates.and(told, some.not())}
}

// keys returns of the keys which are present, whether one is missing, and
// whether all can be told.
func (p *prover) keys(n *node) (present []literal, missing, told literal) {
	absent, unknown := make([]literal, len(n.keys)), make([]literal, len(n.keys))
	present = make([]literal, len(n.keys))
	for i := range n.keys {
		one := p.leaf(&node{op: opMissing, name: "missing", source: n.source, keys: n.keys[i : i+1], variable: n.variable})
		absent[i], present[i] = one.t, one.f
		unknown[i] = p.gates.neither(one)
	}
	return present, p.gates.or(absent...), p.gates.or(unknown...).not()
}

func bare(n *node) *node {
	made := &node{op: opVar, name: n.name, source: n.source, path: n.path, label: n.label, variable: n.variable}
	made.identify()
	return made
}

// option is one way to the value of an operand: under a condition, it is that of
// a simpler node, or unknown. The conditions of an operand's options exclude each
// other, and one of them always holds.
type option struct {
	when    literal
	node    *node
	unknown bool
}

// comparison returns the truth of an operation that compares or searches: of
// each of its operands' options with each of the other's, under the conditions
// of both. Over an unknown operand it is unknown.
func (p *prover) comparison(n *node) pair {
	if p.simple(n) {
		return p.leaf(n)
	}
	combined := []option{{when: always, node: &node{op: n.op, name: n.name, source: n.source, variable: n.variable}}}
	for _, arg := range n.args {
		var next []option
		for _, value := range p.options(arg, always) {
			for _, so := range combined {
				p.budget.spend(1)
				when := p.gates.and(so.when, value.when)
				if value.unknown || when == never || p.budget.over() {
					continue
				}
				with := *so.node
				with.args = append(with.args[:len(with.args):len(with.args)], value.node)
				next = append(next, option{when: when, node: &with})
			}
		}
		combined = next
	}
	t, f := make([]literal, 0, len(combined)), make([]literal, 0, len(combined))
	for _, one := range combined {
		if n.op == opIn {
			one.node.indexMembers()
		}
		x := p.leaf(one.node)
		t, f = append(t, p.gates.and(one.when, x.t)), append(f, p.gates.and(one.when, x.f))
	}
	return pair{p.gates.or(t...), p.gates.or(f...)}
}

// simple says whether each operand has one way to its value, which is as it is
// written, so that the operation is a leaf itself. The steps that it takes are
// those of looking at the ways.
func (p *prover) simple(n *node) bool {
	steps := 0
	for _, arg := range n.args {
		switch {
		case arg.op == opConstant:
			steps++
		case arg.op == opVar && len(arg.args) == 0 && arg.variable != "":
		case arg.op == opList && n.op == opIn && n.members != nil && arg == n.args[1]:
			steps += 1 + len(arg.args)/itemsPerStep
		default:
			return false
		}
		steps += 2
	}
	p.budget.spend(steps)
	return true
}

// options returns the ways to a value, all of them under a condition. Whatever
// gives a boolean does so as true, false or unknown; connectives and "if" give
// one of their operands.
func (p *prover) options(n *node, when literal) []option {
	if when == never || p.budget.over() {
		return nil
	}
	p.budget.spend(1)
	if n.constant {
		return []option{constantOption(n, when)}
	}
	switch n.op {
	case opVar:
		if len(n.args) > 0 {
			absent := p.absence(n)
			return append(p.options(n.args[0], p.gates.and(when, absent.t)),
				option{when: p.gates.and(when, absent.f), node: bare(n)})
		}
	case opIf:
		return p.choiceOptions(n.args, when)
	case opAnd:
		return p.connectiveOptions(n.args, when, pair.not)
	case opOr:
		return p.connectiveOptions(n.args, when, func(x pair) pair { return x })
	case opNot, opTruth, opEqual, opNotEqual, opSame, opNotSame, opGreater, opGreaterEqual, opLess, opLessEqual,
		opIn, opAll, opNone, opSome:
		x := p.truth(n)
		return []option{
			{when: p.gates.and(when, x.t), node: constantNode(nil, true)},
			{when: p.gates.and(when, x.f), node: constantNode(nil, false)},
			{when: p.gates.and(when, p.gates.neither(x)), unknown: true},
		}
	}
	return []option{{when: when, node: n}}
}

func constantOption(n *node, when literal) option {
	switch kindOf(n.value) {
	case kindUnknown:
		return option{when: when, unknown: true}
	case kindArray, kindObject:
		// It stays as it is, for whether it is the same list each time matters.
		return option{when: when, node: n}
	}
	return option{when: when, node: constantNode(nil, n.value)}
}

func (p *prover) choiceOptions(operands []*node, when literal) []option {
	switch len(operands) {
	case 0:
		return []option{{when: when, node: constantNode(nil, nil)}}
	case 1:
		return p.options(operands[0], when)
	}
	condition := p.truth(operands[0])
	then := p.options(operands[1], p.gates.and(when, condition.t))
	otherwise := p.choiceOptions(operands[2:], p.gates.and(when, condition.f))
	open := option{when: p.gates.and(when, p.gates.neither(condition)), unknown: true}
	return append(append(then, otherwise...), open)
}

// connectiveOptions are those of "and" and "or": the first operand that decides,
// if no unknown came before it, else the last. The function turns the truth of an
// operand into whether it decides.
func (p *prover) connectiveOptions(operands []*node, when literal, decides func(pair) pair) []option {
	var all []option
	for i, operand := range operands {
		if i == len(operands)-1 {
			return append(all, p.options(operand, when)...)
		}
		decided := decides(p.truth(operand))
		all = append(all, p.options(operand, p.gates.and(when, decided.t))...)
		all = append(all, option{when: p.gates.and(when, p.gates.neither(decided)), unknown: true})
		when = p.gates.and(when, decided.f)
	}
	return all
}
