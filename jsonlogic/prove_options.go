package jsonlogic

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
