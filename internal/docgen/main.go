// Command docgen writes the documentation that is made from the code, the list of rules, a
// page for each and the table of classes: with no argument into docs/, with -check it compares and says what is out of date. With -man
// FOLDER it writes the manual pages of a release there.
package main

//go:generate go run -C ../.. ./internal/docgen

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/internal/cli"
	"github.com/spf13/cobra/doc"
)

// page is one generated file, named with slashes.
type page struct {
	file  string
	write func(*bytes.Buffer)
}

func pages() []page {
	return append(rulePages(), page{"rules.md", writeRules}, page{"classes.md", writeClasses})
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
	wanted := map[string]bool{}
	for _, p := range pages() {
		var b bytes.Buffer
		p.write(&b)
		name := filepath.Join(dir, filepath.FromSlash(p.file))
		wanted[name] = true
		if !check {
			errs = append(errs, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b.Bytes(), 0o644))
			continue
		}
		old, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			errs = append(errs, fmt.Errorf("%s is missing; run make docs and commit it", name))
		case err != nil:
			errs = append(errs, err)
		case !slices.Equal(old, b.Bytes()):
			errs = append(errs, fmt.Errorf("%s is out of date; run make docs and commit it", name))
		}
	}
	return errors.Join(append(errs, tidy(filepath.Join(dir, rulesFolder), wanted, check))...)
}

// tidy removes what is in a folder of generated pages and wanted no more, or with check says so.
func tidy(dir string, wanted map[string]bool, check bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		switch name := filepath.Join(dir, e.Name()); {
		case wanted[name]:
		case check:
			errs = append(errs, fmt.Errorf("%s is of no rule; run make docs and commit it", name))
		default:
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}

const classesIntro = `# Version classes

Every change between two versions of a pack has a class; the class of the pack is the highest of them:
none < patch < minor < major < reject. *Patch* is metadata only, *minor* is constrained behaviour, *major* is
expanded or changed behaviour, and *reject* is unsafe or ambiguous whatever the version is.

Rows marked ★ are open in the public text of the contract: the report states that a person should confirm the class, and
the stricter class applies. The config may set another one with a reason (` + "`classes: [{change: ID, class: …, reason: …}]`" + `), but
cannot replace reject.

Rows marked ◆ change what agents can do in a way that no proof about requests sees: a tool that calls another endpoint
is permitted for the same requests and does something else. The report never says of such a change that agents can do the same.

If the class is *proof*, packgate first compares what the two packs permit as a whole, over all requests: the same is
patch, less is minor, more is major, each with a request that shows it. The class after *proof* applies if that cannot
be proved.

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
		if row.Beyond {
			class += "◆"
		}
		if row.Proved {
			class = "*proof*, else " + class
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | `%s` |\n", row.Layer, cell(row.What), class, cell(row.Reason), row.ID)
	}
}

// cell returns plain text for a cell of a table, in which nothing is a tag.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace(s) }

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
