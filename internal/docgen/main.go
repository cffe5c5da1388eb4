// Command docgen writes the documentation that is made from the code: with no
// argument into docs/, with -check it compares and says what is out of date. With -man
// FOLDER it writes the manual pages of a release there.
package main

//go:generate go run -C ../.. ./internal/docgen

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/cli"
	"github.com/spf13/cobra/doc"
)

// page is one generated file.
type page struct {
	file  string
	write func(*bytes.Buffer)
}

func pages() []page {
	return []page{
		{"rules.md", writeRules},
		{"classes.md", writeClasses},
	}
}

func main() {
	check := flag.Bool("check", false, "compare with the files instead of writing them")
	dir := flag.String("dir", "docs", "the folder of the documentation")
	manual := flag.String("man", "", "write the manual pages into this folder, and nothing else")
	day := flag.String("date", "", "the day that the manual pages name, YYYY-MM-DD")
	flag.Parse()
	var err error
	if *manual != "" {
		err = writeManual(*manual, *day)
	} else {
		err = run(*dir, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	var errs []error
	for _, p := range pages() {
		var b bytes.Buffer
		p.write(&b)
		name := filepath.Join(dir, p.file)
		if !check {
			errs = append(errs, os.WriteFile(name, b.Bytes(), 0o644))
			continue
		}
		old, err := os.ReadFile(name)
		if err != nil {
			errs = append(errs, err)
		} else if !slices.Equal(old, b.Bytes()) {
			errs = append(errs, fmt.Errorf("%s is out of date; run go generate ./... and commit it", name))
		}
	}
	return errors.Join(errs...)
}

const rulesIntro = `# Rules

Every check has an id and a name; either works wherever a rule is named. A *warning (strict)* becomes an
error with ` + "`strict: true`" + ` in the config or ` + "`--strict`" + `. A severity can be set for each rule in the config
(` + "`severity: {REF011: error}`" + `), and a finding can be waived there with a reason, an owner and a last day.
` + "`packgate explain ID`" + ` prints any of these pages.

A check that could not run is reported as *not checked*, never as passed.
`

func writeRules(b *bytes.Buffer) {
	b.WriteString(rulesIntro)
	for _, g := range gates.Documented() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", g.Title, g.About)
		if len(g.Rules) == 0 {
			b.WriteString("\nNot built yet.\n")
			continue
		}
		b.WriteString("\n| Rule | Severity | What holds |\n| --- | --- | --- |\n")
		for _, r := range g.Rules {
			fmt.Fprintf(b, "| [%s](#%s) %s | %s | %s |\n", r.ID, anchor(r), r.Name, severity(r), strings.ReplaceAll(r.Title, "|", `\|`))
		}
		for _, r := range g.Rules {
			writeRule(b, r)
		}
	}
}

func writeRule(b *bytes.Buffer, r *gate.Rule) {
	fmt.Fprintf(b, "\n### %s %s\n\n**%s** · %s", r.ID, r.Name, r.Title, severity(r))
	switch r.NoWaiver {
	case gate.Always:
		b.WriteString(" · cannot be waived")
	case gate.InStrict:
		b.WriteString(" · cannot be waived in strict mode")
	}
	fmt.Fprintf(b, " · since %s\n\n%s\n", r.Introduced(), strings.TrimSpace(r.Doc))
	fmt.Fprintf(b, "\nBad:\n\n```json\n%s\n```\n\nGood:\n\n```json\n%s\n```\n", strings.TrimSpace(r.Bad), strings.TrimSpace(r.Good))
}

// anchor returns the name under which GitHub makes the rule's heading reachable.
func anchor(r *gate.Rule) string { return strings.ToLower(r.ID) + "-" + r.Name }

func severity(r *gate.Rule) string {
	if r.Strict {
		return r.Severity.String() + " (strict)"
	}
	return r.Severity.String()
}

const classesIntro = `# Version classes

Every change between two versions of a pack has a class; the class of the pack is the highest of them:
none < patch < minor < major < reject. *Patch* is metadata only, *minor* is constrained behaviour, *major* is
expanded or changed behaviour, and *reject* is unsafe or ambiguous and has to be redesigned.

Rows marked ★ are open in the public text: the report says that they need a human class, the stricter one is
taken, and the config may set another one with a reason (` + "`classes: [{change: ID, class: …, reason: …}]`" + `), never one
in the place of reject.

Where the class reads *proof*, what the two packs permit as a whole is compared first, over all requests: the same is
patch, less is minor, more is major, each with a request that shows it. The class behind it is for what cannot be proved.

| Layer | Change | Class | Why | ID |
| --- | --- | --- | --- | --- |
`

func writeClasses(b *bytes.Buffer) {
	b.WriteString(classesIntro)
	for _, row := range diffing.Table() {
		class := row.Class.String()
		if row.Human {
			class += "★"
		}
		if row.Proved {
			class = "*proof*, else " + class
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | `%s` |\n", row.Layer, cell(row.What), class, cell(row.Reason), row.ID)
	}
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(s) }

// writeManual writes a page of section 1 for each command into a folder, which is made
// where it is missing. The day, YYYY-MM-DD, is the one that the pages name, so that the
// same source gives the same bytes on any other day.
func writeManual(dir, day string) error {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return fmt.Errorf("-date is %q, wanted a day such as 2026-05-09: it is the one that the pages name", day)
	}
	root := cli.Commands(cli.Env{Getenv: func(string) string { return "" }, Stdout: os.Stdout, Stderr: os.Stderr})
	root.DisableAutoGenTag = true
	err = os.MkdirAll(dir, 0o755)
	return errors.Join(err, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "packgate", Manual: "packgate"}, dir))
}
