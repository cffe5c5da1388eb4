package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// power is one thing that agents can do more or less than before, of a tool or a decision.
type power struct {
	intents     []string // of the requests; none for those of every intent
	subject     string
	environment string // "" for every one
	mode        string // of the tool; "" for a decision
	kind        powerKind
	less        bool
	stops       bool     // one of the two versions ends these requests with an error
	approval    string   // that they need now and did not before
	what        sentence // what agents can do now, or no more
	alone       sentence // the same in a sentence of its own, up to its condition
	before      sentence
	shown       model.Shown
}

// powerKind says what of a tool or decision became more or less, the worst first.
type powerKind int

const (
	available powerKind = iota // there was no request that had it
	ungated                    // it needs no approval, or one less
	wider                      // an argument may be more
	raised                     // its mode
	requests                   // more requests have it
	otherwise
)

// Bounds on what is above the fold.
const (
	maxCautions = 3
	maxPowers   = 8
	maxTexts    = 3
	maxEdits    = 3
)

// rankOf orders tools by how much they can do, the most first, and puts decisions last.
func rankOf(mode string) int {
	if mode == "" {
		return 1
	}
	return -pack.ApprovalMode(mode).Rank()
}

// dangerous reports whether a tool does more than write where it runs.
func dangerous(mode string) bool {
	return mode != "" && pack.ApprovalMode(mode).Rank() >= pack.Network.Rank()
}

// modeWords name a mode.
func modeWords(mode string) string { return strings.ReplaceAll(mode, "_", " ") }

// modeLooks are the marks of tools, by how much they can do.
var modeLooks = map[string]look{
	string(pack.Destructive): {mark: "●", emoji: "🔴", color: "red"}, string(pack.Delegated): {mark: "●", emoji: "🟠", color: "yellow"}, string(pack.Network): {mark: "●", emoji: "🟠", color: "yellow"},
	string(pack.LocalWrite): {mark: "●", emoji: "🟡", color: "yellow"}, string(pack.ReadOnly): {mark: "●", emoji: "🟢", color: "green"},
}

// powersOf returns what agents can do more, the worst first, and then what they can do less.
func powersOf(p *model.Pack) (all []power) {
	if p.Diff == nil {
		return nil
	}
	all = sidesOf(p, p.Diff.Effects, "")
	for _, e := range p.Environments {
		all = append(all, sidesOf(p, e.Effects, e.Environment)...)
	}
	for i := range p.Diff.Surface {
		c := &p.Diff.Surface[i]
		said := slices.ContainsFunc(p.Diff.Effects, func(e model.Effect) bool { return e.Intent == c.Intent && e.Subject == c.Capability })
		if !said && c.New != nil && grew(c.Verdict) {
			e := model.Effect{Intent: c.Intent, Kind: "tool", Subject: c.Capability, Verdict: c.Verdict}
			all = append(all, powerOf(p, &e, &model.Shown{Request: c.Witness}, false))
		}
	}
	all = those(all, func(one power) bool {
		return one.mode != "" || one.subject == "" || !slices.ContainsFunc(all, func(o power) bool {
			return o.mode != "" && o.stops == one.stops && o.environment == one.environment && slices.Equal(o.intents, one.intents) && o.less == one.less && (o.kind == ungated) == (one.kind == ungated)
		})
	})
	for i := range all {
		one := &all[i]
		needs := firstOf(all, func(o *power) bool {
			return o.approval != "" && o.environment == one.environment && slices.Equal(o.intents, one.intents) && o.subject == one.subject && pack.CompactJSON(o.shown.When) == pack.CompactJSON(one.shown.When)
		})
		if one.kind == wider && !one.less && needs != nil {
			one.what, one.alone = one.what.plain(", with ").code(needs.approval), one.alone.plain(", now with ").code(needs.approval).plain(",")
		}
	}
	slices.SortStableFunc(all, func(a, b power) int {
		return cmp.Or(behind(a.less)-behind(b.less), cmp.Compare(rankOf(a.mode), rankOf(b.mode)), cmp.Compare(a.kind, b.kind))
	})
	return together(all, alike, func(one *power) *[]string { return &one.intents }, intentsOf(p))
}

// sidesOf says both sides of effects about agents, in an environment or in every one.
func sidesOf(p *model.Pack, effects []model.Effect, environment string) (all []power) {
	add := func(one power) {
		if one.environment = environment; environment != "" {
			one.what = plain("in ").code(environment).plain(": ").add(one.what)
			one.alone = plain("In ").code(environment).plain(", ").add(one.alone)
		}
		all = append(all, one)
	}
	for i := range effects {
		e := &effects[i]
		if e.Gained != nil {
			add(powerOf(p, e, e.Gained, false))
		}
		if e.Lost != nil {
			add(powerOf(p, e, e.Lost, true))
		}
	}
	return all
}

// rowOf returns the row of the tool surface that has changed for a tool, nil for none.
func rowOf(p *model.Pack, intent, tool string) *model.SurfaceChange {
	return firstOf(p.Diff.Surface, func(c *model.SurfaceChange) bool { return c.Intent == intent && c.Capability == tool })
}

// modeOf returns the mode of the tool that an effect is about, "" for none.
func modeOf(p *model.Pack, e *model.Effect, c *model.SurfaceChange) string {
	switch {
	case e.Kind == "decision" || e.Kind == stopEffect || e.Kind == wholeEffect || e.Holder == "decision":
		return ""
	case c != nil && c.New != nil:
		return c.New.ApprovalMode
	case c != nil && c.Old != nil:
		return c.Old.ApprovalMode
	}
	if r := firstOf(p.ToolSurface, func(r *model.SurfaceRow) bool { return r.Capability == e.Subject }); r != nil {
		return r.ApprovalMode
	}
	return string(pack.Destructive) // the surface says nothing of it
}

// declaredBefore returns the mode that a tool had before its adapter declared another one; mode
// where it did not.
func declaredBefore(d *model.Diff, tool, mode string) string {
	for _, c := range d.Changes() {
		thing := pack.ThingAt(c.Path)
		if thing.Member == "approval_mode" && c.Kind == "changed" && strings.HasPrefix(c.Path, adapters) && strings.HasPrefix(tool, thing.Name+".") {
			return textOf(c.Old)
		}
	}
	return mode
}

// adapters begins the paths of adapters.
const adapters = "/tooling_layer/adapter_registry/"

// powerOf says one side of an effect about agents.
func powerOf(p *model.Pack, e *model.Effect, shown *model.Shown, less bool) power {
	c := rowOf(p, e.Intent, e.Subject)
	one := power{intents: []string{e.Intent}, subject: e.Subject, mode: modeOf(p, e, c), kind: otherwise, less: less, stops: endsOtherwise(e, shown), shown: *shown}
	tool := code(e.Subject)
	if one.mode != "" {
		words, before := modeWords(one.mode), declaredBefore(p.Diff, e.Subject, one.mode)
		if before != one.mode {
			words += ", was " + modeWords(before)
		}
		tool = tool.plain(" (" + words + ")")
		if rankOf(before) < rankOf(one.mode) {
			one.mode = before // that it declares itself less dangerous makes it no less so
		}
	}
	switch {
	case e.Kind == stopEffect:
		one.what = plain("refused")
	case one.stops:
		one.what = plain("agents can " + one.verb()).add(tool)
	case e.Kind == "gate":
		one.gate(e, c, tool)
	case e.Kind == "tool" || e.Kind == "decision":
		one.reached(c, tool)
	case e.Kind == "bounds":
		one.kind = wider
		rest := strings.TrimPrefix(shown.What, fmt.Sprintf("argument %q of %q ", e.Arg, e.Subject))
		now, was, _ := strings.Cut(rest, " (was ")
		was, condition, _ := strings.Cut(was, ")")
		one.what, one.before = tool.plain(": ").code(e.Arg).plain(" ").message(now+condition), message(was)
		one.alone = tool.plain(": ").code(e.Arg).message(" " + rest)
	case e.Kind == "mode":
		one.kind = raised
		now, was, _ := strings.Cut(strings.TrimPrefix(shown.What, fmt.Sprintf("tool %q ", e.Subject)), " (was ")
		one.what, one.before = code(e.Subject).plain(" "+modeWords(now)), plain(modeWords(strings.TrimSuffix(was, ")")))
	default:
		one.what = message(shown.What)
	}
	if len(one.alone) == 0 {
		one.alone = one.what
	}
	return one
}

// stopEffect is the kind of an effect about requests that are refused in one version and end in
// an error in the other.
const stopEffect = "stop"

// endsOtherwise reports whether all that differs is that one version ends requests with an error.
func endsOtherwise(e *model.Effect, shown *model.Shown) bool {
	return e.Kind == stopEffect || shown.Stopped
}

func (one *power) verb() string {
	if one.mode == "" {
		return "decide "
	}
	return "call "
}

// gate says that a gate no longer holds a tool or decision, or does so now.
func (one *power) gate(e *model.Effect, c *model.SurfaceChange, tool sentence) {
	one.kind = ungated
	verb := one.verb()
	if one.less {
		one.approval = e.Arg
		one.what, one.before = plain(verb).add(tool).plain(" only with ").code(e.Arg), plain("without it")
		return
	}
	alone := c != nil && c.New != nil && !slices.ContainsFunc(c.New.Gates, func(id string) bool { return id != e.Arg })
	one.before = plain("behind ").code(e.Arg)
	if alone {
		one.what = plain(verb).add(tool).plain(" without approval")
		one.alone = tool.plain(" runs ").add(strong("without approval"))
		return
	}
	one.what = plain(verb).add(tool).plain(" without ").code(e.Arg)
	one.alone = tool.plain(" runs ").add(strong("without ")).code(e.Arg)
}

// reached says that more requests have a tool or a decision, or fewer.
func (one *power) reached(c *model.SurfaceChange, tool sentence) {
	verb := one.verb()
	added, gone := c != nil && c.Kind == "added", c != nil && c.Kind == "removed"
	switch {
	case one.less && gone:
		one.kind, one.what, one.before = available, plain(verb).add(tool), plain("available")
	case one.less:
		one.kind, one.what, one.before = requests, plain(verb).add(tool).plain(" for fewer requests"), plain("for more")
	case added:
		one.kind, one.before = available, plain("not available")
		one.what, one.alone = plain(verb).add(tool), tool.plain(" is ").add(strong("now available"))
		if c.Open && len(c.New.Gates) > 0 {
			one.what, one.alone = one.what.plain(", not always with approval"), one.alone.plain(" and ").add(strong("not always with approval")).plain(",")
		} else if c.Open {
			one.what, one.alone = one.what.plain(" without approval"), tool.plain(" is ").add(strong("now available without approval"))
		} else if len(c.New.Gates) > 0 {
			one.what, one.alone = one.what.plain(" behind ").code(c.New.Gates[0]), one.alone.plain(" behind ").code(c.New.Gates[0])
		}
		if len(c.New.Bounds) == 0 && one.mode != string(pack.ReadOnly) {
			one.alone = one.alone.plain(" with any arguments")
		}
	default:
		one.kind, one.before = requests, plain("for fewer")
		one.what, one.alone = plain(verb).add(tool).plain(" for more requests"), tool.plain(" is available ").add(strong("for more requests:"))
		if c != nil && c.Open {
			one.what, one.alone = one.what.plain(", without approval"), tool.plain(" is available ").add(strong("for more requests, without approval,"))
		}
	}
}

// parted takes out what is to be said before everything else: of tools that are destructive or
// reach the network the worst, and only those that are available to more requests, or lost an
// approval, where there are such. What ends in an error before or now is apart from all of them.
func parted(all []power) (cautions, rest, errors []power) {
	errors = those(all, func(one power) bool { return one.stops })
	all = those(all, func(one power) bool { return !one.stops })
	for _, kinds := range [][]powerKind{{available, ungated, requests}, {wider, raised}} {
		for _, one := range all {
			if dangerous(one.mode) && !one.less && slices.Contains(kinds, one.kind) && len(cautions) < maxCautions && (len(cautions) == 0 || cautions[0].mode == one.mode) {
				cautions = append(cautions, one)
			}
		}
		if len(cautions) > 0 {
			break
		}
	}
	rest = those(all, func(one power) bool {
		return !slices.ContainsFunc(cautions, func(o power) bool { return same(&o, &one) })
	})
	return cautions, rest, errors
}

func same(a, b *power) bool {
	return a.environment == b.environment && slices.Equal(a.intents, b.intents) && a.subject == b.subject && a.kind == b.kind && a.less == b.less && a.shown.What == b.shown.What
}
