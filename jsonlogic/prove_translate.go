package jsonlogic

import "math"

// prover turns one formula into clauses and a model of the clauses back into a
// request.
//
// Every expression becomes a pair of propositions. Connectives are gates. What
// compares, searches or only reads is a leaf: one operation over one term. A term
// is a variable, or an expression that is not followed any further, such as a
// sum; what two terms have to do with each other is such an expression too. The
// values of each term fall into finitely many regions, in each of which a leaf has
// one truth (prove_domain.go, prove_cells.go, prove_evaluate.go).
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

	lists   []string          // variables that hold lists elsewhere
	scalars map[literal]*term // what is assumed: that the variable is a scalar
	divide  func(*term)       // cuts a term into regions; tests show that mistakes in it are found
}

func newProver(f Formula, b *budget) *prover {
	s := newSearch(b)
	return &prover{
		formula: f, budget: b, search: s, gates: &gates{search: s, pairs: map[[2]literal]literal{}},
		variables: map[string]*term{}, opaques: map[Key]*term{}, leaves: map[leafKey]*leaf{}, known: map[Key]pair{}, seen: map[*Expr]bool{}, scalars: map[literal]*term{},
		divide: (*term).divide,
	}
}

// statement returns the literal of a formula.
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
		p.survey(x.root)
	}
	return p.truth(x.root)
}

// truth returns the truth of an expression.
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
	case opMissing:
		if n.keys != nil {
			return p.missing(n)
		}
	case opMissingSome:
		if n.keys != nil && n.args[0].constant {
			return p.missingSome(n)
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

// missing is true if one of the keys is missing. Each key is a leaf by itself;
// one that cannot be told leaves all unknown, whatever the others are.
func (p *prover) missing(n *node) pair {
	_, missing, told := p.keys(n)
	return pair{p.gates.and(told, missing), p.gates.and(told, missing.not())}
}

// missingSome gives the missing keys, and so is true, if there is one and too
// few of the others are there.
func (p *prover) missingSome(n *node) pair {
	need, ok := n.args[0].value.(float64)
	if !ok {
		return pairOf(Unknown)
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

// bare is a variable without its default.
func bare(n *node) *node {
	made := &node{op: opVar, name: n.name, source: n.source, path: n.path, label: n.label, variable: n.variable}
	made.identify()
	return made
}
