package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/report/model"
)

// The address of a rule's page is that of a page, and each page of a rule is that of one.
func TestRulesHavePages(t *testing.T) {
	written := map[string]string{}
	for _, p := range rulePages() {
		var b bytes.Buffer
		p.write(&b)
		written[model.Site+"/"+strings.TrimSuffix(p.file, ".md")] = b.String()
	}
	for _, r := range gates.Rules() {
		text := written[model.RuleURL(r.ID)]
		delete(written, model.RuleURL(r.ID))
		for _, part := range []string{"# " + r.ID + " " + r.Name, cell(r.Title), r.Doc, r.Bad, r.Good, r.WhyNot, "](../rules.md#"} {
			if !strings.Contains(text, strings.TrimSpace(part)) {
				t.Errorf("the page of %s lacks %q", r.ID, part)
			}
		}
		if strings.Contains(text, "How to waive it") == strings.Contains(text, "Why it cannot be waived") {
			t.Errorf("the page of %s says neither or both of how to waive it and why it cannot be", r.ID)
		}
	}
	if len(written) > 0 {
		t.Errorf("%d pages are of no rule", len(written))
	}
}

// What is written is up to date; a page that differs, one that lacks and one of no rule are
// each reported, and gone or right again after the next run.
func TestCheckSeesEveryPage(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	for _, breakIt := range []func(string) error{
		func(name string) error { return os.WriteFile(name, []byte("# another"), 0o644) },
		os.Remove,
		func(string) error { return os.WriteFile(filepath.Join(dir, "rules", "XXX001.md"), nil, 0o644) },
	} {
		if err := run(dir, true); err != nil {
			t.Fatal(err)
		}
		if err := breakIt(filepath.Join(dir, "rules", "SCH001.md")); err != nil {
			t.Fatal(err)
		}
		if err := run(dir, true); err == nil {
			t.Error("a page that is wrong is not reported")
		}
		if err := run(dir, false); err != nil {
			t.Fatal(err)
		}
	}
}
