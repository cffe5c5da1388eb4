// Package repository holds the rules about a pack repository as a whole: that nothing of
// it is overlooked, and that a change does not loosen what it is judged by.
package repository

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
)

// Gate groups the rules about the repository. They have no Check of their own, for they
// look at more than one pack.
var Gate = &gate.Gate{
	ID: "repository", Title: "Repository",
	About: "Every pack is found, the config is about what there is, and does not become looser together with what it judges.",
	Rules: []*gate.Rule{CFG001, CFG002, CFG003},
}

// CFG001 is about changes that loosen the gate.
var CFG001 = &gate.Rule{
	ID: "CFG001", Name: "config-loosened", Severity: finding.Error, NoWaiver: gate.Always, Since: "0.2.0",
	WhyNot: "A waiver is a part of the config, and the finding is that a change decides itself by which config it is judged.",
	Title:  "A change does not loosen the gate and pass through it",
	Doc: `Who changes a pack could otherwise prepare its way in the same change: with a pattern
that no longer finds it, a waiver, a lower severity, a class of their own. Until it is merged
the base's config counts, so what is waved through is the next change, and nobody looks at it
for this reason. A member of the config that becomes looser is therefore an error where the
change also touches a file that a check reads: a pack, a file beside one, or an environment
catalog. A file that looks like a pack, that no pattern under ` + "`packs:`" + ` finds, and whose
pack_id the base checks and the change does not, is the same.

Another file under the name of ` + "`publish.trusted_root`" + ` is the same: by it signatures are verified.

So is a change of what runs packgate under ` + "`.github/workflows`" + `: the job (its steps, inputs, conditions and
the version of packgate), jobs that it waits for, local actions and workflows by which it runs, the
events that start it, and files that a step calls and that call packgate: scripts, a ` + "`Makefile`" + `, a
` + "`package.json`" + `. Other versions of other actions do not count, and neither do further jobs and
events. Such a change alone is said and fails nothing, as a pin that is raised.

Make the change of the config or of the workflow alone, so that it is reviewed as what it is; then
the other one. Give a pack that was moved or renamed a name that the patterns find.`,
	Bad:  `"packs": ["packs/billing/pack.json"], "waivers": []`,
	Good: `"packs": ["packs/*/pack.json"], "waivers": []`,
}

// CFG002 is about packs that nobody gates.
var CFG002 = &gate.Rule{
	ID: "CFG002", Name: "pack-not-found", Severity: finding.Warning, Strict: true, Since: "0.2.0",
	Title: "A file that looks like a pack is found by the patterns",
	Doc: `A file with three or more of the layers of a pack as its outermost members is one to an
agent that loads it, whatever its name is: JSON, JSON with comments, or YAML. Where no pattern
under ` + "`packs:`" + ` finds it, nobody checks it, and a report that does not speak of it looks
as if all were well.

Name it ` + "`pack.json` or `NAME.pack.json`" + `, or let a pattern find it. A pack is JSON: rewrite one
in another form. Move what is no pack of this repository, such as an example, elsewhere.`,
	Bad:  `"packs": ["packs/*/pack.json"], "files": ["packs/support/pack.json", "packs/refunds/pack.jsonc"]`,
	Good: `"packs": ["packs/*/pack.json"], "files": ["packs/support/pack.json", "packs/refunds/pack.json"]`,
}

// CFG003 is about entries of the config that are about nothing.
var CFG003 = &gate.Rule{
	ID: "CFG003", Name: "config-names-nothing", Severity: finding.Warning, Since: "0.2.0",
	Title: "What the config says of arguments is about tools that there are",
	Doc: `An entry of ` + "`arguments:`" + ` says what an argument of a tool is, by adapter.capability.argument.
Where no pack has the tool, it has no effect: the name is misspelt, and the argument that was
intended is held to nothing, or the tool is gone. Of a tool that a pack has, RSK012 says which
arguments there are. It is reported where all packs are checked, and on a pull request where
the change brings it: by the entry, or by removing the tool.

Correct the name, or remove the entry.`,
	Bad:  `"arguments": {"adp_paymets.issue_refund.amount": "none"}`,
	Good: `"arguments": {"adp_payments.issue_refund.amount": "none"}`,
}

// Stray returns the finding that the config says something of an argument of a tool that no
// pack has.
func Stray(at finding.Location, name string) finding.Finding {
	return found(CFG003, at, name, fmt.Sprintf("the config says what %q is, and no pack has such a tool", name),
		"write it as adapter.capability.argument of a tool, or remove the entry")
}

// Loosened returns the finding that a member of the config is looser than in the base, in a
// change that touches a file too.
func Loosened(at finding.Location, member, touched string) finding.Finding {
	return found(CFG001, at, member, fmt.Sprintf("%s is looser than in the base, and the change also touches %s", member, touched),
		"make the change of the config alone, and the other one after it is merged")
}

// Rerouted returns the finding that a change does something to what runs packgate, and
// touches a file too.
func Rerouted(at finding.Location, what, touched string) finding.Finding {
	return found(CFG001, at, what, fmt.Sprintf("%s, and the change also touches %s", what, touched),
		"make the change of the workflow alone, and the other one after it is merged")
}

// Ungated returns the finding that a pack which the base gates as a file is found by no
// pattern any more.
func Ungated(file, id, before string) finding.Finding {
	return found(CFG001, finding.Location{File: file}, id, fmt.Sprintf("this file looks like the pack %q, which the base has in %s, and no pattern finds it", id, before),
		"give it a name that the patterns under packs: find, and write it as JSON")
}

// NotFound returns the finding that a file looks like a pack, whose pack_id may be "", and is
// found by no pattern.
func NotFound(file, id string) finding.Finding {
	what := "this file looks like a Context Pack"
	if id != "" {
		what = fmt.Sprintf("this file looks like the Context Pack %q", id)
	}
	return found(CFG002, finding.Location{File: file}, id, what+", and no pattern finds it, so it is not checked",
		"give it a name that the patterns under packs: find, or move it out of the repository")
}

func found(r *gate.Rule, at finding.Location, key, message, hint string) finding.Finding {
	return finding.Finding{Rule: r.ID, Name: r.Name, Gate: Gate.ID, Severity: r.Severity, Location: at, Key: key, Message: message, Hint: hint}
}
