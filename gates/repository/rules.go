// Package repository holds the rules about a pack repository as a whole: that nothing of
// it is overlooked, and that a change does not loosen what it is judged by.
package repository

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
)

// Gate groups the rules about the repository. They have no Check of their own, for they
// look at more than one pack.
var Gate = &gate.Gate{
	ID: "repository", Title: "Repository",
	About: "Every pack is found, and the config is about existing tools and does not become looser in the same change as a pack.",
	Rules: []*gate.Rule{CFG001, CFG002, CFG003},
}

// CFG001 is about changes that loosen the gate.
var CFG001 = &gate.Rule{
	ID: "CFG001", Name: "config-loosened", Severity: finding.Error, NoWaiver: gate.Always, Since: "0.2.0",
	WhyNot: "A waiver is part of the config, and the finding is that a change chooses the config by which it is judged.",
	Title:  "A change does not loosen the gate and pass through it",
	Doc: "Whoever changes a pack could otherwise prepare that change in the config: with a pattern that no longer finds the " +
		"pack, a waiver, a lower severity, or another class. The config of the base applies until the change is merged, so the " +
		"looser config would let the next change through, and nobody would review it for this reason. A member of the config " +
		"that becomes looser is therefore an error if the change also touches a file that a check reads: a pack, a file beside " +
		"one, or an environment catalog. The same applies to a file that looks like a pack and that no pattern under `packs:` " +
		"finds, if the base checks its pack_id and the change does not.\n\n" +
		"It also applies to another file under the name of `publish.trusted_root`, because that file is used to verify " +
		"signatures.\n\n" +
		"It also applies to a change of what runs packgate under `.github/workflows`: the job (its steps, inputs, conditions " +
		"and the version of packgate), the jobs that it waits for, the local actions and workflows that run it, the events that " +
		"start it, and files that a step calls and that call packgate: scripts, a `Makefile`, a `package.json`. Other versions " +
		"of other actions do not count, and neither do additional jobs and events. Such a change alone, for example a raised " +
		"pin, is reported and fails nothing.\n\n" +
		"Make the change of the config or of the workflow alone, so that it is reviewed as such, and then the other change. " +
		"Give a pack that was moved or renamed a name that the patterns find.",
	Bad:  `"packs": ["packs/billing/pack.json"], "waivers": []`,
	Good: `"packs": ["packs/*/pack.json"], "waivers": []`,
}

// CFG002 is about packs that nobody gates.
var CFG002 = &gate.Rule{
	ID: "CFG002", Name: "pack-not-found", Severity: finding.Warning, Strict: true, Since: "0.2.0",
	Title: "A file that looks like a pack is found by the patterns",
	Doc: "An agent loads any file that has three or more of the layers of a pack as its outermost members, whatever its name: " +
		"JSON, JSON with comments, or YAML. If no pattern under `packs:` finds the file, nothing checks it, and a report that " +
		"does not mention it gives the impression that everything is fine.\n\n" +
		"Name it `pack.json` or `NAME.pack.json`, or add a pattern that finds it. A pack is JSON, so convert a file in another " +
		"format. Move a file that is not a pack of this repository, such as an example, to another place.",
	Bad:  `"packs": ["packs/*/pack.json"], "files": ["packs/support/pack.json", "packs/refunds/pack.jsonc"]`,
	Good: `"packs": ["packs/*/pack.json"], "files": ["packs/support/pack.json", "packs/refunds/pack.json"]`,
}

// CFG003 is about entries of the config that are about nothing.
var CFG003 = &gate.Rule{
	ID: "CFG003", Name: "config-names-nothing", Severity: finding.Warning, Since: "0.2.0",
	Title: "The arguments that the config describes belong to tools that exist",
	Doc: "An entry of `arguments:` describes an argument of a tool, by adapter.capability.argument. If no pack has the tool, the " +
		"entry has no effect: either the name is misspelled, and nothing bounds the argument that was intended, or the tool was " +
		"removed. For a tool that a pack has, RSK012 reports which arguments there are. This rule reports an entry if all packs " +
		"are checked, and on a pull request if the change adds the entry or removes the tool.\n\n" +
		"Correct the name, or remove the entry.",
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
func Loosened(at finding.Location, member repo.ConfigChange, touched string) finding.Finding {
	return found(CFG001, at, member.Path, fmt.Sprintf("%s is looser than in the base, and the change also touches %s", member.Words(), touched),
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
// found by no pattern. The name is that of the file relative to the root, which tells it from others with the
// same pack_id wherever packgate is started.
func NotFound(file, name, id string) finding.Finding {
	what := "this file looks like a Context Pack"
	if id != "" {
		what = fmt.Sprintf("this file looks like the Context Pack %q", id)
	}
	return found(CFG002, finding.Location{File: file}, name, what+", and no pattern finds it, so it is not checked",
		"list it under packs: in the config beside the patterns that are there, converted to JSON if it is not, or move it out of the repository")
}

func found(r *gate.Rule, at finding.Location, key, message, hint string) finding.Finding {
	return finding.Finding{Rule: r.ID, Name: r.Name, Gate: Gate.ID, Severity: r.Severity, Location: at, Key: key, Message: message, Hint: hint}
}
