package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Pass is what one rule sees: the subject, and the means to say what is wrong.
type Pass struct {
	*Subject
	gate        *Gate
	rule        *Rule
	found       list
	notChecked  []finding.NotChecked
	environment string          // whose faults are looked for; "" for those of the pack
	reasons     map[string]bool // of what is not checked, listed or not
}

// NewPass returns the pass of one rule over a subject.
func NewPass(s *Subject, g *Gate, r *Rule) *Pass { return &Pass{Subject: s, gate: g, rule: r} }

// Results returns what the rule found and what it could not check. Of more than
// MostFindings the first are listed, and the last says how many there are besides.
func (p *Pass) Results() ([]finding.Finding, []finding.NotChecked) {
	found, notChecked := p.found.findings, p.notChecked
	if p.found.more > 0 {
		found = append(slices.Clip(found), p.rest())
	}
	if more := len(p.reasons) - len(notChecked); more > 0 {
		notChecked = append(slices.Clip(notChecked), p.unable(fmt.Sprintf("… and %d more reasons that are not listed", more)))
	}
	return found, notChecked
}

// Diagnostic is one fault, as a rule reports it.
type Diagnostic struct {
	// At is the value that is wrong, or the one that lacks something. With Name
	// set, the place is the name of its member instead.
	At   *pack.Node
	Name bool
	// Location takes the place of At for what is no value of a document.
	Location *finding.Location

	Message  string           // lower case, no final period, values quoted with %q
	Hint     string           // what to do; imperative, lower case
	Key      string           // tells apart faults of one rule at one place
	Thing    finding.Thing    // what the version before has, for a fault of what is gone or proves less
	Both     bool             // it takes a waiver and an approval to excuse the loss of the thing
	Own      bool             // it is the pack's own fault, whichever environment shows it
	Approve  bool             // it is no fault, but something that a reviewer has to approve
	Severity finding.Severity // overrides the rule's default; Unset keeps it
	Related  []finding.Related
	Witness  map[string]any
	Fix      *finding.Fix
}

// Faultf returns a fault of a value: what to do, and what is wrong.
func Faultf(at *pack.Node, hint, format string, args ...any) Diagnostic {
	return Diagnostic{At: at, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// Keyed returns the fault with its key.
func (d Diagnostic) Keyed(key string) Diagnostic {
	d.Key = key
	return d
}

// As returns the fault with a severity that is not its rule's.
func (d Diagnostic) As(s finding.Severity) Diagnostic {
	d.Severity = s
	return d
}

// Fixed returns the fault with the fix for it; nil for none.
func (d Diagnostic) Fixed(fix *finding.Fix) Diagnostic {
	d.Fix = fix
	return d
}

// See returns the fault with a related place, where there is one: see See.
func (d Diagnostic) See(at *pack.Node, format string, args ...any) Diagnostic {
	d.Related = append(slices.Clip(d.Related), See(at, format, args...)...)
	return d
}

// Beside returns the fault with related places.
func (d Diagnostic) Beside(related []finding.Related) Diagnostic {
	d.Related = append(slices.Clip(d.Related), related...)
	return d
}

// Report adds a fault of the pass's rule.
func (p *Pass) Report(d Diagnostic) {
	f := finding.Finding{
		Rule: p.rule.ID, Name: p.rule.Name, Gate: p.gate.ID,
		Severity: d.Severity, Message: d.Message, Hint: d.Hint, Key: d.Key, Thing: d.Thing, Approve: d.Approve,
		Related: d.Related, Witness: d.Witness, Fix: d.Fix, Environment: p.environment,
	}
	if d.Own {
		f.Environment = ""
	}
	if f.Severity == finding.Unset {
		f.Severity = p.rule.Severity
	}
	if p.rule.Ratchet && f.Thing != (finding.Thing{}) {
		f.Excuse = finding.ByEither
		if d.Both {
			f.Excuse = finding.ByBoth
		}
		f.Hint += fmt.Sprintf("; a waiver in the base's config names it with of: %q", f.Thing.String())
	}
	switch {
	case p.Full(): // it is counted, and nobody asks where it is
	case d.Location != nil:
		f.Location = *d.Location
	case d.Name:
		f.Location = d.At.NameLocation()
	default:
		f.Location = d.At.Location()
	}
	p.Add(f)
}

// Reportf reports a fault of a value that has nothing more to it: see Faultf.
func (p *Pass) Reportf(at *pack.Node, hint, format string, args ...any) {
	p.Report(Faultf(at, hint, format, args...))
}

// NotChecked says that the rule, or a part of it, could not run, and why. Its gate does
// not pass.
func (p *Pass) NotChecked(reason string) { p.NotApplicable(finding.Input{}, reason) }

// NotApplicable says that the rule, or a part of it, has nothing to look at, since an input
// is not configured that a repository need not have.
func (p *Pass) NotApplicable(without finding.Input, reason string) {
	if p.reasons[reason] {
		return
	}
	if p.reasons == nil {
		p.reasons = map[string]bool{}
	}
	p.reasons[reason] = true
	if len(p.notChecked) < MostFindings {
		n := p.unable(reason)
		n.Needs = without
		p.notChecked = append(p.notChecked, n)
	}
}

func (p *Pass) unable(reason string) finding.NotChecked {
	return finding.NotChecked{Gate: p.gate.ID, Rule: p.rule.ID, Reason: reason}
}

// Edit returns the fix of one operation at a path, as in finding.Operation: "add",
// "replace" or "remove".
func Edit(description, op, path, value string) *finding.Fix {
	return &finding.Fix{Description: description, Operations: []finding.Operation{{Op: op, Path: path, Value: value}}}
}

// Also returns a related place: a value, and what it is in a few words.
func Also(at *pack.Node, message string) finding.Related {
	return finding.Related{Location: at.Location(), Message: message}
}

// MostFindings is how many findings of one rule are listed for a pack, and how many
// reasons why a part of it could not be checked. A pack of
// some hundred kilobytes can have a fault in every fourth byte, and nobody reads a
// hundred thousand of them; they must not exhaust the machine either.
const MostFindings = 1000

// list is what one rule found. It is cut after MostFindings, and says
// at its end how many there are besides.
type list struct {
	findings []finding.Finding
	more     int
	worst    finding.Severity // of those that are not listed
}

// full reports whether no further finding is listed.
func (l *list) full() bool { return len(l.findings) >= MostFindings }

// add takes a finding, or counts it.
func (l *list) add(f finding.Finding) {
	if l.full() {
		l.more++
		l.worst = max(l.worst, f.Severity)
		return
	}
	l.findings = append(l.findings, f)
}

// Full reports whether the list of the rule's findings is full. Where it is, a fault
// needs nothing but to be counted by More, and its words need not be made.
func (p *Pass) Full() bool { return p.found.full() }

// More counts a fault of the rule's own severity that is not listed.
func (p *Pass) More() { p.found.add(finding.Finding{Severity: p.rule.Severity}) }

// Add adds a finding, or counts it where the list is full.
func (p *Pass) Add(f finding.Finding) { p.found.add(f) }

// rest returns the finding that closes a list which is cut. It is as severe as the
// worst that it stands for, and stands where the document ends, after all of them.
func (p *Pass) rest() finding.Finding {
	f := finding.Finding{
		Rule: p.rule.ID, Name: p.rule.Name, Gate: p.gate.ID, Severity: p.found.worst,
		Message: fmt.Sprintf("… and %d more of %s that are not listed", p.found.more, p.rule.ID),
		Hint:    "fix those that are listed; the others are listed then",
	}
	if d := p.Unit.Document; d.Root != nil {
		f.Location = d.Root.Location()
		f.Location.Start = f.Location.End
	} else {
		f.Location.File = d.File
	}
	return finding.AsRest(f)
}

// In calls check, whose findings are faults of an environment: another one may have what this
// one lacks.
func (p *Pass) In(e *repo.Environment, check func()) {
	p.environment = e.Name()
	check()
	p.environment = ""
}

// EachCatalog calls check for every environment whose catalog has a section, and
// notes which have none. What names what the section lists. It returns how many
// have it.
func (p *Pass) EachCatalog(what string, section func(*repo.Environment) *pack.Node, check func(*repo.Environment)) int {
	var without []*repo.Environment
	for _, e := range p.Environments {
		if section(e) == nil {
			without = append(without, e)
			continue
		}
		p.In(e, func() { check(e) })
	}
	if len(without) == len(p.Environments) {
		p.NoCatalog("no environment catalog lists " + what)
		return 0
	}
	for _, e := range without {
		p.NotApplicable(finding.CatalogOf(e.Name()), e.Lacks("lists no "+what))
	}
	return len(p.Environments) - len(without)
}

// NoCatalog notes a check for which no catalog has what it needs. Where there is no catalog at
// all, or one that nobody has confirmed, that is the reason, which is the same for every check.
func (p *Pass) NoCatalog(reason string) {
	if len(p.Environments) == 0 {
		reason = "there is no environment catalog"
	}
	for _, e := range p.Environments {
		if e.Unconfirmed.Value {
			reason = e.Lacks("")
			break
		}
	}
	p.NotApplicable(finding.CatalogOf(""), reason)
}

// Proof groups the rule about claims that no gate could decide, for the docs. Its
// findings are those of the gate that makes the claim.
var Proof = &Gate{
	ID: "proof", Title: "Proof",
	About: "What a check claims about all requests is proved, or reported as not proved.",
	Rules: []*Rule{NPR001},
}

// NPR001 reports a claim that could not be decided: see Pass.NotProved.
var NPR001 = &Rule{
	ID: finding.NotProved, Name: "not-proved", Severity: finding.Warning, Strict: true, Since: "0.2.0",
	Title: "A claim about all requests is decided",
	Doc: "Some rules claim something about every request, for example that a destructive tool never runs without an approval. " +
		"They prove the claim, or show a request that refutes it. If neither is possible, the claim is open: no fault was " +
		"found, but the claim did not pass. The finding belongs to the check whose rule makes the claim, and states what is not " +
		"proved and why: the steps of the proof were used up, or a part of a condition cannot be followed, such as a product of " +
		"two variables. It is an error if the claim is RSK002's, or RSK006's about a tool that the change opens.\n\n" +
		"Write the condition with comparisons of one variable with constants, split it into several rules, or close what it " +
		"opens. If a person has checked the claim, it can be waived with the reason.",
	Bad:  `"if": {"==": [{"*": [{"var": "request.context.amount"}, {"var": "request.context.rate"}, {"var": "request.context.rate"}]}, 17.25]}`,
	Good: `"if": {"<=": [{"var": "request.context.amount"}, 3000]}`,
}

// Claim is what a rule could not decide, although its failure would be an error.
type Claim struct {
	At      *pack.Node        // what the claim is about
	What    string            // what is not proved, beginning with "that" or "whether"
	Reason  string            // what stood in the way; "" where it is not known
	Error   bool              // it is an error in any mode, not only in strict mode
	Key     string            // tells apart claims of one rule about one place
	Related []finding.Related // such as the conditions that are not followed
}

// NotProved reports a claim of the pass's rule as NPR001, so that its gate does not
// pass. Claims whose failure is a warning are not checked: see NotChecked.
func (p *Pass) NotProved(c Claim) {
	f := finding.Finding{
		Rule: NPR001.ID, Name: NPR001.Name, Gate: p.gate.ID, Severity: NPR001.Severity,
		Message: fmt.Sprintf("%s is not proved (%s): %s", c.What, p.rule.ID, cmp.Or(c.Reason, "it is undecided")),
		Hint:    "write the conditions with comparisons of one variable with constants, or divide them among several rules",
		Key:     p.rule.ID + " " + c.Key, Related: c.Related, Location: c.At.Location(),
	}
	if c.Error {
		f.Severity = finding.Error
	}
	p.Add(f)
}
