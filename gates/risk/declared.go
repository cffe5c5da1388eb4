package risk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// RSK012: what is declared is what is done.
var RSK012 = &gate.Rule{
	ID: "RSK012", Name: "argument-beyond-declared", Severity: finding.Warning, Strict: true, Since: "0.2.0",
	Title: "Without an approval a tool does no more than the request may declare without one",
	Doc: "A gate or a rule compares what the request declares, such as `request.context.refund_amount`, or a member of " +
		"`metadata`. The tool is called with an argument of its own, such as `amount_inr`, and nothing makes the two equal: a " +
		"request that declares 100 can pay 50000 without an approval, if the argument may be that high. So if no gate is " +
		"active, the argument of a delegated or destructive capability has to be bounded by the limit that applies to the " +
		"declared value. If one side says \"more than 3000\" and the other \"at most 3000\", the limit itself does not count as a " +
		"difference.\n\n" +
		"An argument is matched with a variable by name: both names are split into words, and currencies, units and the words " +
		"of the capability and of the intent do not count. So `amount_inr` of `issue_refund` is `refund_amount` for the intent " +
		"`support.refund`. If two variables match, if the units differ, or if none matches although the tool has a number as an " +
		"argument, it is not checked, and `arguments` in the config decides: `arguments: " +
		"{adp_payments.issue_refund.amount_paise: {is: request.context.refund_amount, scale: 100}}`, or `none` if nothing " +
		"declares it. With `require: {always: [RSK012]}`, what is not checked is an error.\n\n" +
		"Bound the argument in each outcome that allows the decision without a gate, with `unless_approved`, so that an " +
		"approval lifts the bound. Run `packgate check --fix` to write it.",
	Bad:   `"then": {"allow": true}`,
	Good:  `"then": {"allow": true, "arg_constraints": {"amount_inr": {"max": 3000, "unless_approved": true}}}`,
	From:  gate.FromPack,
	Check: checkDeclared,
}

// beyond is an argument that may be beyond what is declared, in a row of the surface.
type beyond struct {
	proof.Beyond
	proof.Pair
	row  *proof.Row
	more int // rows of other intents in which it is so
	// limit is what the argument is to be; bounded says that there is one.
	limit   proof.Limit
	bounded bool
	allow   []*policy.Branch // the outcomes that are to have it
}

// declaring looks at the rows of one pack.
type declaring struct {
	*gate.Pass
	*proof.Declared
	found []*beyond
}

func checkDeclared(p *gate.Pass) {
	checkMeanings(p)
	reach := p.Reach()
	if reach.Broken != "" {
		if slices.ContainsFunc(openTools(p), bindsArguments) {
			p.NotChecked("what arguments may be beside what requests declare: the pack cannot be compiled: " + reach.Broken)
		}
		return
	}
	c := &declaring{Pass: p, Declared: p.Proof().Declared()}
	for i := range reach.Rows {
		row := &reach.Rows[i]
		switch {
		case row.Tool == nil:
			p.NotChecked("what arguments may be beside what requests declare: " + row.Reason)
		case bindsArguments(row.Tool) && !row.Held:
			c.row(row)
		}
	}
	for _, b := range c.found {
		c.report(b)
	}
}

// bindsArguments reports whether what a tool does is held to what its requests declare.
func bindsArguments(t *policy.Tool) bool { return t.Mode() == pack.Delegated || t.Destructive() }

// row looks at the arguments of a row's tool.
func (c *declaring) row(row *proof.Row) {
	declared := c.Variables(row)
	l := linkingOf(c.Config, row, declared)
	for _, v := range declared {
		for _, kind := range []string{"number", "text"} {
			if !slices.Contains(v.Types, kind) {
				continue
			}
			pairs, open := l.pairs(v, kind == "text")
			for _, pair := range pairs {
				c.pair(row, pair)
			}
			limit := proof.Pair{Variable: v.Path, Scale: 1, Text: kind == "text"}
			if open != "" && c.Limits(row, limit, v.Samples) {
				c.NotChecked(fmt.Sprintf("whether %s does no more than %s declares: %s; say in arguments: of .packgate.yaml what they are",
					gate.Quote(row.Capability), v.Path, open))
			}
		}
	}
}

// pair looks at one argument, and what declares it.
func (c *declaring) pair(row *proof.Row, pair proof.Pair) {
	found := c.Beyond(row, pair, proof.Limit{})
	if found.Verdict == jsonlogic.Satisfiable && found.Patterned {
		found.Verdict, found.Reason = jsonlogic.Undecided, "a pattern, or a member that is not known, bounds the argument too"
	}
	switch found.Verdict {
	case jsonlogic.Unsatisfiable:
		return
	case jsonlogic.Undecided:
		c.NotChecked(fmt.Sprintf("whether %s of %s is within what %s declares: %s", gate.Quote(pair.Arg), gate.Quote(row.Capability), pair.Variable, found.Reason))
		return
	}
	b := &beyond{Beyond: found, Pair: pair, row: row}
	b.limit, b.bounded = c.Limit(row, pair, found)
	b.allow = allowing(c.Policy(), row)
	i := slices.IndexFunc(c.found, func(f *beyond) bool { return f.row.Tool == row.Tool && f.Pair == pair })
	if i < 0 {
		c.found = append(c.found, b)
		return
	}
	c.found[i].join(b)
}

// join adds the finding of another intent. The closer limit is that of both.
func (b *beyond) join(other *beyond) {
	b.more++
	b.bounded = b.bounded && other.bounded
	if other.limit.Max != nil && (b.limit.Max == nil || *other.limit.Max < *b.limit.Max) {
		b.limit.Max = other.limit.Max
	}
	if other.limit.Min != nil && (b.limit.Min == nil || *other.limit.Min > *b.limit.Min) {
		b.limit.Min = other.limit.Min
	}
	b.limit.Enum = slices.DeleteFunc(b.limit.Enum, func(text string) bool { return !slices.Contains(other.limit.Enum, text) })
	for _, branch := range other.allow {
		if !slices.Contains(b.allow, branch) {
			b.allow = append(b.allow, branch)
		}
	}
}

// allowing returns the outcomes of which one holds wherever a row's tool is there without
// an approval: those that allow a decision which may authorise it, and require none of its
// gates.
func allowing(m *policy.Model, row *proof.Row) (branches []*policy.Branch) {
	for _, r := range m.Applicable(row.Intent) {
		for _, b := range r.Branches() {
			if r.MayAllow(row.Tool) && b.Allows == jsonlogic.True && (b.Gate == nil || !slices.Contains(row.Gates, b.Gate.ID)) {
				branches = append(branches, b)
			}
		}
	}
	return branches
}

// report says what the argument may be, what may be declared, and the bound to write.
func (c *declaring) report(b *beyond) {
	declares, _ := proof.DeclaredAs(b.Variable)
	d := gate.Faultf(b.at(), "say in arguments: of .packgate.yaml what the argument is, or bound it in each outcome that allows the decision without a gate",
		"argument %s of %s %s without an approval, but %s, which the request declares, %s: for intent %s, for example %s with %s %s%s",
		gate.Quote(b.Arg), called(b.row.Tool), b.open(), gate.Quote(declares), b.permitted(), gate.Quote(b.row.Intent),
		b.declaration(declares), b.Arg, show(b.scaled(b.Done)), further(b.more)).
		Keyed(b.Arg + " " + b.Variable)
	d.Witness = b.Witness
	if b.bounded {
		d.Hint = fmt.Sprintf("write %s: %s in the arg_constraints of each outcome that allows the decision without a gate, or say in arguments: of .packgate.yaml what the argument is", pack.CompactJSON(b.Arg), b.bound())
		d.Fix = b.fix()
	}
	for _, branch := range b.allow[:min(len(b.allow), gate.MostListed)] {
		d = d.See(branch.Node, "an outcome that allows it without a gate")
	}
	c.Report(d)
}

// at is where the permissions of the tool bound the argument first.
func (b *beyond) at() *pack.Node {
	bounds := b.row.Tool.Bounds
	return bounds[slices.IndexFunc(bounds, func(o policy.Bound) bool { return o.Arg == b.Arg })].At
}

// upper reports whether more can be done than is declared, and not less.
func (b *beyond) upper() bool {
	declared, _ := b.Declared.(float64)
	done, _ := b.Done.(float64)
	return done > declared
}

// open says what the argument may be.
func (b *beyond) open() string {
	switch {
	case b.Listed:
		return "may be " + show(b.scaled(b.Done))
	case b.Text:
		return "may be any text"
	case b.upper() && b.Open.Max == nil:
		return "has no upper bound"
	case b.upper():
		return "may be up to " + show(*b.Open.Max)
	case b.Open.Min == nil:
		return "has no lower bound"
	}
	return "may be as small as " + show(*b.Open.Min)
}

// permitted says what may be declared.
func (b *beyond) permitted() string {
	l := b.limit
	switch {
	case !b.bounded:
		return "may not be " + show(b.Done)
	case b.Text:
		return "only as " + gate.ListBriefly(l.Enum)
	case l.Min == nil:
		return "only up to " + show(*l.Max)
	case l.Max == nil:
		return "only from " + show(*l.Min)
	}
	return fmt.Sprintf("only from %s to %s", show(*l.Min), show(*l.Max))
}

// declaration says what the witness declares.
func (b *beyond) declaration(as string) string {
	if b.Declared == nil {
		return "no " + as
	}
	return as + " " + show(b.Declared)
}

// scaled returns what is declared as a value of the argument.
func (b *beyond) scaled(value any) any {
	if number, is := value.(float64); is {
		return number * b.Scale
	}
	return value
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // no JSON can be behind it
		text = fmt.Append(nil, value)
	}
	return pack.Clip(string(text), gate.MostShown)
}

// member is one member of a bound.
type member struct{ name, value string }

// members returns those of the bound to write.
func (b *beyond) members() (members []member) {
	if b.limit.Enum != nil {
		members = append(members, member{"enum", pack.CompactJSON(anys(b.limit.Enum))})
	}
	if b.limit.Min != nil {
		members = append(members, member{"min", pack.CompactJSON(*b.limit.Min * b.Scale)})
	}
	if b.limit.Max != nil {
		members = append(members, member{"max", pack.CompactJSON(*b.limit.Max * b.Scale)})
	}
	return members
}

// bound returns the bound to write.
func (b *beyond) bound() string {
	var says strings.Builder
	for _, m := range b.members() {
		fmt.Fprintf(&says, "%q: %s, ", m.name, m.value)
	}
	return "{" + says.String() + `"unless_approved": true}`
}

func anys(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// fix returns the fix that writes the bound into each outcome; nil where one of them has a
// bound that an approval does not lift, so that somebody has to decide what holds.
func (b *beyond) fix() *finding.Fix {
	fix := &finding.Fix{Description: fmt.Sprintf("bound %s in the outcomes that allow it without a gate", gate.Quote(b.Arg))}
	add := func(op, path, value string) {
		fix.Operations = append(fix.Operations, finding.Operation{Op: op, Path: path, Value: value})
	}
	for _, branch := range b.allow {
		all := branch.ArgConstraints
		own, there := all.Get(b.Arg)
		switch {
		case all.Node != nil && !all.OK, there && !own.UnlessApproved.Value:
			return nil
		case all.Node == nil:
			add("add", branch.Node.KeyedPath()+"/arg_constraints", "{"+pack.CompactJSON(b.Arg)+": "+b.bound()+"}")
		case !there:
			add("add", all.Node.KeyedPath()+"/"+pack.EscapeSegment(b.Arg), b.bound())
		}
		for _, m := range b.members() {
			switch was := own.Node.Get(m.name); {
			case !there:
			case was == nil:
				add("add", own.Node.KeyedPath()+"/"+m.name, m.value)
			case pack.CompactJSON(was.Any()) != m.value:
				add("replace", was.KeyedPath(), m.value)
			}
		}
	}
	if len(fix.Operations) == 0 {
		return nil
	}
	return fix
}
