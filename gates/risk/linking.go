package risk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// currencies are the codes of ISO 4217, and units what else says how an amount is counted.
// A name is about the same thing without them.
var (
	currencies = strings.Fields("aed afn all amd aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd btn bwp byn bzd " +
		"cad cdf chf clp cny cop crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd " +
		"hkd hnl htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd " +
		"mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg " +
		"qar ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd tzs " +
		"uah ugx usd uyu uzs ved ves vnd vuv wst xaf xcd xof xpf yer zar zmw zwg")
	units = strings.Fields("cent paise paisa penny pence minor major unit rupee dollar euro pound bps percent percentage pct " +
		"ms millisecond second sec minute hour day week month year g gram kg kilogram km kilometer byte kb mb gb")
	// alike are words that are written in more than one way.
	alike = map[string]string{"amt": "amount", "qty": "quantity", "cents": "cent", "days": "day", "hours": "hour"}
)

// thing is what a name is about, and how that is counted.
type thing struct{ words, currencies, units []string }

// thingOf takes a name apart. Words that say what the tool or the intent is about tell
// nothing.
func thingOf(name string, common []string) thing {
	var t thing
	for _, word := range wordsOf(name) {
		word = singular(word)
		switch {
		case slices.Contains(currencies, word):
			t.currencies = append(t.currencies, word)
		case slices.Contains(units, word):
			t.units = append(t.units, word)
		case !slices.Contains(common, word):
			t.words = append(t.words, word)
		}
	}
	for _, list := range []*[]string{&t.words, &t.currencies, &t.units} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return t
}

// singular brings the spellings of a word together.
func singular(word string) string {
	if same, there := alike[word]; there {
		return same
	}
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// same reports whether two names are about the same thing.
func (t thing) same(other thing) bool { return len(t.words) > 0 && slices.Equal(t.words, other.words) }

// counted reports whether two names say that it is counted in the same way. A currency that
// only one of them names is that of both.
func (t thing) counted(other thing) bool {
	return slices.Equal(t.units, other.units) &&
		(len(t.currencies) == 0 || len(other.currencies) == 0 || slices.Equal(t.currencies, other.currencies))
}

// quantity reports whether a name says that it is of a number.
func quantity(name string) bool {
	return slices.ContainsFunc(wordsOf(name), func(word string) bool {
		return slices.Contains(quantities, word) || slices.Contains(quantities, singular(word))
	})
}

// linking finds which arguments of a tool the variables of an intent declare.
type linking struct {
	tool     *policy.Tool
	says     map[string]repo.Argument // by argument: what the config says of it
	args     []string                 // of which it says nothing
	things   map[string]thing         // of arguments and variables
	declared []jsonlogic.Values
}

func linkingOf(c *repo.Config, row *proof.Row, declared []jsonlogic.Values) *linking {
	l := &linking{tool: row.Tool, says: map[string]repo.Argument{}, things: map[string]thing{}, declared: declared}
	for _, m := range c.Meanings() {
		for _, arg := range row.Tool.Arguments() {
			if m.Name == row.Capability+"."+arg {
				l.says[arg] = m
			}
		}
	}
	var common []string
	for _, word := range append(wordsOf(row.Tool.Capability), wordsOf(row.Intent)...) {
		common = append(common, singular(word))
	}
	for _, arg := range row.Tool.Arguments() {
		if _, said := l.says[arg]; !said && arg != idempotencyKey {
			l.args = append(l.args, arg)
		}
		l.things[arg] = thingOf(arg, common)
	}
	for _, v := range declared {
		name, _ := proof.DeclaredAs(v.Path)
		l.things[v.Path] = thingOf(name, common)
	}
	return l
}

// pairs returns the arguments that are what a variable declares. Where that cannot be told
// there is none, and open says why: it matters if what is declared is a limit at all.
func (l *linking) pairs(v jsonlogic.Values, text bool) (pairs []proof.Pair, open string) {
	for _, arg := range l.tool.Arguments() {
		if m := l.says[arg]; m.Is.OK && m.Is.Value == v.Path {
			pairs = append(pairs, proof.Pair{Arg: arg, Variable: v.Path, Scale: m.Scale, Text: text})
		}
	}
	if len(pairs) > 0 {
		return pairs, ""
	}
	var same []string
	for _, arg := range l.args {
		if l.things[arg].same(l.things[v.Path]) {
			same = append(same, arg)
		}
	}
	rivals := 0
	for _, other := range l.declared {
		if l.things[other.Path].same(l.things[v.Path]) {
			rivals++
		}
	}
	switch {
	case len(same) > 1:
		return nil, "each of its arguments " + gate.ListBriefly(same) + " may be that"
	case len(same) == 1 && rivals > 1:
		return nil, fmt.Sprintf("its argument %s may be that, or what another variable declares", gate.Quote(same[0]))
	case len(same) == 1 && !l.things[same[0]].counted(l.things[v.Path]):
		return nil, fmt.Sprintf("its argument %s is counted in another unit", gate.Quote(same[0]))
	case len(same) == 1:
		return []proof.Pair{{Arg: same[0], Variable: v.Path, Scale: 1, Text: text}}, ""
	}
	if candidates := l.candidates(v, text); len(candidates) > 0 {
		return nil, "none of its arguments is called so, and " + gate.ListBriefly(candidates) + " may be that"
	}
	return nil, ""
}

// candidates returns the arguments that may be what a variable declares, although they are
// called otherwise: numbers, or where the variable is called like one any argument; of texts
// those with a list that has one which the variable is compared with.
func (l *linking) candidates(v jsonlogic.Values, text bool) (args []string) {
	numbers := func(a *argument) bool { return a.isNumber() || a.limited }
	bounds, _ := boundsByArgument(l.tool)
	for _, a := range bounds {
		switch {
		case !slices.Contains(l.args, a.name), l.taken(a.name):
		case text && slices.ContainsFunc(v.Samples, func(s any) bool { return slices.Contains(a.listed, s) }), !text && numbers(a):
			args = append(args, a.name)
		}
	}
	if len(args) == 0 && !text && quantity(v.Path) {
		return slices.DeleteFunc(slices.Clone(l.args), l.taken)
	}
	return args
}

// taken reports whether an argument is what some variable declares, by its name.
func (l *linking) taken(arg string) bool {
	return slices.ContainsFunc(l.declared, func(v jsonlogic.Values) bool { return l.things[arg].same(l.things[v.Path]) })
}

// checkMeanings reports what the config says of arguments that there are not, or of
// variables that no condition reads, as far as the pack has the tool.
func checkMeanings(p *gate.Pass) {
	budget := gate.NewBudget()
	for _, m := range p.Config.Meanings() {
		t, args := toolOf(p.Policy(), m.Name)
		if t == nil {
			continue
		}
		if !slices.Contains(args, m.Name) {
			p.Report(gate.Faultf(m.Node, gate.Choose(budget.Nearest(m.Name, args), args, "remove the entry", gate.ListBriefly),
				"the config says what %s is, but no permission of the pack bounds such an argument", gate.Quote(m.Name)).Keyed(m.Name).As(finding.Error))
			continue
		}
		read := variables(p.Policy())
		if m.Is.OK && !slices.Contains(read, m.Is.Value) {
			p.Report(gate.Faultf(m.Is.Node, gate.Choose(budget.Nearest(m.Is.Value, read), read, "remove the entry", gate.ListBriefly),
				"the config says that %s is %s, which no condition of the pack reads", gate.Quote(m.Name), gate.Quote(m.Is.Value)).Keyed(m.Name).As(finding.Error))
		}
	}
}

// toolOf returns the tool whose argument a name is, by the names of its tools, and what its
// arguments are called; nil where the pack has no such tool.
func toolOf(m *policy.Model, name string) (tool *policy.Tool, args []string) {
	for _, t := range m.Tools {
		if !strings.HasPrefix(name, t.String()+".") {
			continue
		}
		tool = t
		for _, arg := range t.Arguments() {
			args = append(args, t.String()+"."+arg)
		}
	}
	return tool, args
}

// variables returns what requests declare to the conditions of a pack.
func variables(m *policy.Model) (paths []string) {
	for _, c := range m.Conditions {
		for _, path := range c.Expr.Reads() {
			if _, declared := proof.DeclaredAs(path); declared && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return paths
}
