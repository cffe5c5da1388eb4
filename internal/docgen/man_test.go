package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/cli"
	"github.com/spf13/cobra"
)

const someDay = "2026-05-09"

func manual(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man")
	if err := writeManual(dir, someDay); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages[f.Name()] = string(text)
	}
	return pages
}

// There is a page for each command, and the same bytes on any day.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	pages := manual(t)
	left := len(pages)
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c.HasParent() {
			return
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page := pages[name]
		left--
		if page == "" || !strings.Contains(page, strings.Fields(c.Short)[0]) {
			t.Errorf("%s has no page, or its page does not say what it does", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(cli.Commands(cli.Env{}))
	if left != 0 {
		t.Errorf("%d pages are of no command", left)
	}
	for name, page := range manual(t) {
		if page != pages[name] {
			t.Errorf("%s differs when it is written again", name)
		}
	}
}

func TestManualWantsADay(t *testing.T) {
	for _, day := range []string{"", "today", "2026-13-01", time.RFC3339} {
		if err := writeManual(t.TempDir(), day); err == nil {
			t.Errorf("the day %q is taken", day)
		}
	}
}

// macro is a line of roff that is a request.
var macro = regexp.MustCompile(`(?m)^[.']([A-Za-z]+)`)

// Each page has the sections that a manual page has, and no more of roff than a few
// requests, each closed again; where groff is there, it has no word of warning.
func TestManualRenders(t *testing.T) {
	known := map[string]bool{"TH": true, "SH": true, "PP": true, "EX": true, "EE": true, "nh": true, "RS": true, "RE": true, "nf": true, "fi": true, "TP": true}
	for name, page := range manual(t) {
		if !strings.Contains(page, "\n.TH \"PACKGATE") || !strings.Contains(page, "May 2026") {
			t.Errorf("%s has no title with the month: %.80q", name, page)
		}
		at := 0
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLE", "SEE ALSO"} {
			i := strings.Index(page, "\n.SH "+section)
			if i < at {
				t.Errorf("%s has no section %s, or not in its place", name, section)
			}
			at = i
		}
		count := map[string]int{}
		for _, m := range macro.FindAllStringSubmatch(page, -1) {
			if count[m[1]]++; !known[m[1]] {
				t.Errorf("%s has the request %q", name, m[0])
			}
		}
		if count["nf"] != count["fi"] || count["EX"] != count["EE"] || count["RS"] != count["RE"] {
			t.Errorf("%s leaves something open: %v", name, count)
		}
		if i := strings.IndexFunc(page, func(r rune) bool { return r > '~' }); i >= 0 {
			t.Errorf("%s has a character that not every terminal shows: %.20q", name, page[i:])
		}
		checkRoff(t, name, page)
	}
}

// checkRoff has groff read a page, where there is one.
func checkRoff(t *testing.T, name, page string) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	c := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z")
	c.Stdin = strings.NewReader(page)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: groff: %v: %s", name, err, out)
	}
}
