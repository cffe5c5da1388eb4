package proof

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// kind returns the formula that a variable is a number, or a text.
func (p Pair) kind(variable string) jsonlogic.Formula {
	if p.Text {
		return jsonlogic.All(jsonlogic.Not(jsonlogic.IsUnknown(constantBeside("==", `""`, variable))), jsonlogic.Not(jsonlogic.Is(variable, nil)))
	}
	return jsonlogic.Not(jsonlogic.IsUnknown(constantBeside("<=", "0", variable)))
}

// within returns the formulas that what is done keeps within a limit. Values at the limit itself do not
// matter.
func (p Pair) within(done string, l Limit) (parts []jsonlogic.Formula) {
	if l.Enum != nil {
		parts = append(parts, isOne(done, l.Enum))
	}
	return append(parts, between(done, l.Min, l.Max, "<")...)
}

func isOne(variable string, texts []string) jsonlogic.Formula {
	ways := make([]jsonlogic.Formula, len(texts))
	for i, text := range texts {
		ways[i] = jsonlogic.Is(variable, text)
	}
	return jsonlogic.Any(ways...)
}

func between(variable string, low, high *float64, operator string) (parts []jsonlogic.Formula) {
	if low != nil {
		parts = append(parts, jsonlogic.IsTrue(constantBeside(operator, number(low), variable)))
	}
	if high != nil {
		above := map[string]string{"<": ">", "<=": ">="}[operator]
		parts = append(parts, jsonlogic.IsTrue(constantBeside(above, number(high), variable)))
	}
	return parts
}

// admitting returns the formulas that the bounds that hold before an approval let an argument be what is
// done. The ends of a range do not count, unless values are listed.
func (s *scene) admitting(sources []source, p Pair, done string) (parts []jsonlogic.Formula) {
	operator := "<"
	if slices.ContainsFunc(sources, func(b source) bool { return b.hasEnum }) {
		operator = "<="
	}
	for _, b := range sources {
		var says []jsonlogic.Formula
		if !p.Text {
			says = between(done, p.declared(b.min), p.declared(b.max), operator)
		}
		if b.hasEnum {
			says = append(says, jsonlogic.Any(p.listed(done, b.enum)...))
		}
		if len(says) > 0 {
			parts = append(parts, jsonlogic.Any(jsonlogic.Not(s.is(b.when)), jsonlogic.All(says...)))
		}
	}
	return parts
}

// declared returns a value of the argument as it would be declared; nil if there is none or it is not
// finite.
func (p Pair) declared(at *float64) *float64 {
	if at == nil {
		return nil
	}
	value := *at / p.Scale
	if math.IsInf(value, 0) {
		return nil
	}
	return &value
}

// listed returns the formulas that what is done is a value of a list, in canonical form. A text that
// spells a number counts as the number.
func (p Pair) listed(done string, forms []string) (ways []jsonlogic.Formula) {
	for _, form := range forms {
		text, isText := textOf(form)
		switch value, err := strconv.ParseFloat(text, 64); {
		case p.Text && isText:
			ways = append(ways, jsonlogic.Is(done, text))
		case !p.Text && err == nil && p.declared(&value) != nil:
			ways = append(ways, jsonlogic.Is(done, *p.declared(&value)))
		}
	}
	return ways
}

// textOf returns the text that a canonical form is of, or the form itself.
func textOf(form string) (text string, is bool) {
	if json.Unmarshal([]byte(form), &text) == nil && strings.HasPrefix(form, `"`) {
		return text, true
	}
	return form, false
}

// admitsDeclared reports whether bounds let an argument have a value, which is given as it
// would be declared. Patterns are not looked at.
func (h *held) admitsDeclared(value any, scale float64) bool {
	n, isNumber := value.(float64)
	if isNumber && (h.min != nil && n < *h.min/scale || h.max != nil && n > *h.max/scale) {
		return false
	}
	return !h.hasEnum || slices.ContainsFunc(h.enum, func(form string) bool {
		text, _ := textOf(form)
		listed, err := strconv.ParseFloat(text, 64)
		return isNumber && err == nil && listed/scale == n || !isNumber && text == value
	})
}

// unraised returns the formulas that none of the gates is active in a request that is compiled.
func (s *scene) unraised(gates []string) (parts []jsonlogic.Formula) {
	for _, id := range gates {
		parts = append(parts, s.none(s.requires[id])...)
		if at, there := s.when(id); there {
			parts = append(parts, s.is(isFalse(at)))
		}
	}
	return parts
}

// refusing returns the ways in which a request does not have a tool without an approval although the
// same request of another scene does: by the conditions that differ.
func (s *scene) refusing(other *scene, t *policy.Tool, gates []string) (ways []jsonlogic.Formula) {
	differs := func(l literal) bool { return l != always && s.conditions[l/2] != other.conditions[l/2] }
	same := func(list set) set {
		return slices.DeleteFunc(slices.Clone(list), func(l literal) bool { return !differs(l) })
	}
	for _, at := range s.known {
		if differs(isTrue(at)) {
			ways = append(ways, s.unknown(at))
		}
	}
	ways = append(ways, s.each(same(s.prohibits[t]))...)
	for _, id := range gates {
		ways = append(ways, s.each(same(s.requires[id]))...)
		if at, there := s.when(id); there && differs(isTrue(at)) {
			ways = append(ways, jsonlogic.Not(s.is(isFalse(at))))
		}
	}
	if empty, can := s.emptied(t); can {
		ways = append(ways, empty)
	}
	for _, d := range s.deciding(t) {
		if slices.ContainsFunc(slices.Concat(d.allow, s.denials(d)), differs) {
			return append(ways, jsonlogic.Not(s.authorised(t)))
		}
	}
	return ways
}

// of returns what the pack is compiled to for a request.
func (s *scene) of(witness map[string]any) *outcome {
	request := Request(s.Pack, witness)
	return &outcome{s, compileFor(s.program, request), request.Data()}
}

// ungated reports whether a request has the tool of a row with none of its gates active.
func (o *outcome) ungated(row *Row) bool {
	x := item{tool: row.Tool.String()}
	return o.surfaces(x.tool) && !slices.ContainsFunc(row.Gates, func(id string) bool { return o.gated(id, x) })
}

// mostLimits bounds how often a limit is tightened.
const mostLimits = 12

// Limit returns a limit with which the argument of a row is proved never to be beyond what is declared,
// starting from a case in which it is. OK is false if none was found, which may be because there is none.
func (d *Declared) Limit(row *Row, p Pair, found Beyond) (l Limit, ok bool) {
	if p.Text {
		l.Enum = d.texts(row, p)
		found = d.Beyond(row, p, l)
	}
	for range mostLimits + len(l.Enum) {
		switch {
		case found.Verdict == jsonlogic.Unsatisfiable:
			return l, d.admitted(row, p, l, jsonlogic.All()).Verdict == jsonlogic.Satisfiable // else it leaves nothing
		case found.Verdict != jsonlogic.Satisfiable || !d.closer(row, p, found, &l):
			return l, false
		}
		found = d.Beyond(row, p, l)
	}
	return l, false
}

// closer tightens a limit, so that it leaves out what was found to be beyond.
func (d *Declared) closer(row *Row, p Pair, found Beyond, l *Limit) bool {
	if p.Text {
		before := len(l.Enum)
		l.Enum = slices.DeleteFunc(l.Enum, func(text string) bool { return text == found.Done })
		return len(l.Enum) < before
	}
	declared, is := found.Declared.(float64)
	done, _ := found.Done.(float64)
	if !is {
		return false
	}
	at := d.edge(row, p, found, declared, done)
	if done > declared {
		l.Max = &at
	} else {
		l.Min = &at
	}
	return true
}

// edge returns the border between a value that a request may declare and one that it may not.
func (d *Declared) edge(row *Row, p Pair, found Beyond, may, not float64) float64 {
	s, other := d.scene(row.Intent), d.other(row.Intent, p.Variable)
	refused := jsonlogic.Any(other.refusing(s, row.Tool, row.Gates)...)
	path := strings.Split(d.done(p.Variable), ".")
	data := Data(s.Pack, found.Witness)
	for {
		between := halfway(may, not)
		if between == may || between == not || !d.solver.Budget.Spend(1) {
			break
		}
		if refused.Holds(jsonlogic.Set(data, path, between)) {
			not = between
		} else {
			may = between
		}
	}
	if len(pack.CompactJSON(not)) < len(pack.CompactJSON(may)) {
		return not
	}
	return may
}

// halfway returns the number in the middle of all that are between two.
func halfway(a, b float64) float64 {
	return placed(place(a)/2 + place(b)/2 + (place(a)%2+place(b)%2)/2)
}

// place returns where a number is in the order of all numbers, and placed which one it is.
func place(f float64) int64 {
	bits := int64(math.Float64bits(f))
	if bits < 0 {
		return math.MinInt64 - bits
	}
	return bits
}

func placed(at int64) float64 {
	if at < 0 {
		at = math.MinInt64 - at
	}
	return math.Float64frombits(uint64(at))
}

// texts returns the texts that the argument may have: those that its permissions list, or
// else those that are beside the variable.
func (d *Declared) texts(row *Row, p Pair) []string {
	listed := []string{}
	for _, b := range d.model.permitted[row.Tool][p.Arg] {
		for _, form := range b.enum {
			if text, is := textOf(form); is {
				listed = append(listed, text)
			}
		}
	}
	if len(listed) == 0 {
		for _, x := range d.conditions(row) {
			if slices.Contains(x.Reads(), p.Variable) {
				listed = append(listed, constants(x.Node())...)
			}
		}
	}
	return Merged(listed, []string{})
}

// constants returns the texts below a value, except names of variables.
func constants(n *pack.Node) (texts []string) {
	if n.Kind == pack.String {
		return []string{n.Text}
	}
	for _, item := range n.Items {
		texts = append(texts, constants(item)...)
	}
	for _, m := range n.Members {
		if m.Name != "var" && m.Name != "missing" && m.Name != "missing_some" {
			texts = append(texts, constants(m.Value)...)
		}
	}
	return texts
}

// conditions returns the conditions that decide whether a row's tool is there, and gated.
func (d *Declared) conditions(row *Row) (list []*jsonlogic.Expr) {
	for _, r := range d.model.Applicable(row.Intent) {
		list = append(list, r.When.Expr)
	}
	for _, id := range row.Gates {
		list = append(list, d.model.Gate(id).When.Expr)
	}
	return list
}

// Variables returns what requests of a row declare: the variables that decide whether the tool is there,
// and gated, each with the values that conditions distinguish.
func (d *Declared) Variables(row *Row) []jsonlogic.Values {
	conditions := d.conditions(row)
	values := slices.DeleteFunc(d.solver.Values(conditions...), func(v jsonlogic.Values) bool {
		_, declared := DeclaredAs(v.Path)
		return !declared
	})
	for i, v := range values {
		// The solver takes a variable that is only compared with another one for a text.
		if !slices.Contains(v.Types, "number") && slices.ContainsFunc(conditions, func(x *jsonlogic.Expr) bool { return counts(x.Node(), v.Path, false) }) {
			values[i].Types = []string{"number"}
		}
	}
	return values
}

// counting are the operators that take numbers.
var counting = []string{"<", "<=", ">", ">=", "+", "-", "*", "/", "%", "min", "max"}

// counts reports whether a condition uses a variable as a number.
func counts(n *pack.Node, path string, within bool) bool {
	if n.Kind == pack.String {
		return within && n.Text == path
	}
	for _, m := range n.Members {
		if counts(m.Value, path, within || slices.Contains(counting, m.Name)) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *pack.Node) bool { return counts(item, path, within) })
}
