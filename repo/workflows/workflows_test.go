package workflows_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/workflows"
)

const (
	gate   = ".github/workflows/gate.yml"
	called = ".github/workflows/called.yml"
	base   = `
on: [pull_request, merge_group]
env: {LEVEL: high}
jobs:
  plan:
    steps: [{uses: actions/checkout@v4}]
  gate:
    needs: [plan]
    if: always()
    strategy: {matrix: {config: [a/.packgate.yaml]}}
    steps:
      - uses: docker://ghcr.io/contextosai/packgate:1.0
        with: {config: "${{ matrix.config }}"}
      - run: packgate check
  lint:
    steps: [{run: make lint}]
  call:
    uses: ./.github/workflows/called.yml
`
	calledBase = `
on: workflow_call
jobs:
  it:
    uses: contextosai/packgate/.github/workflows/gate.yml@v1
`
)

// What a version does to the run of packgate is said, whatever it is done by, and nothing
// else is.
func TestCompare(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{gate, "", "", ""},
		{gate, "actions/checkout@v4", "actions/checkout@v5", ""},
		{gate, "make lint", "make test", ""},
		{gate, "[pull_request, merge_group]", "{pull_request: , push: , merge_group: }", ""},
		{gate, "needs: [plan]", "needs:\n      - plan # first", ""},
		{gate, "  lint:", "  more:\n    steps: [{run: packgate check}]\n  lint:", ""},
		{gate, "packgate:1.0", "packgate:1.1", `the job "gate" runs packgate at "1.1" and ran it at "1.0"`},
		{gate, "merge_group]", "push]", `packgate no longer runs on "merge_group"`},
		{gate, "[pull_request, merge_group]", "{pull_request: {paths: [docs]}, merge_group: }", `packgate runs on "pull_request" under other conditions`},
		{gate, "high", "low", `"env", which holds for the job that runs packgate, differs`},
		{gate, "env: {LEVEL: high}", "", `"env", which holds for the job that runs packgate, differs`},
		{gate, "env: {LEVEL: high}", "env: {LEVEL: high}\ndefaults: {run: {shell: cat}}", `"defaults", which holds for the job that runs packgate, differs`},
		{gate, "always()", "false", `the job "gate", which runs packgate, differs`},
		{gate, "plan:\n", "plan:\n    if: false\n", `the job "plan", which runs packgate, differs`},
		{gate, "- run: packgate check", "- run: packgate check || true", `the job "gate", which runs packgate, differs`},
		{gate, "call:\n", "call:\n    if: false\n", `the job "call", which runs packgate, differs`},
		{gate, "  gate:", "  door:", `the job "gate" no longer runs packgate`},
		{gate, base, "", "the file, which runs packgate, is gone"},
		{gate, "jobs:", "jobs: {", "the file, which runs packgate, cannot be read"},
		{called, "@v1", "@v2", `the job "it" runs packgate at "v2" and ran it at "v1"`},
	} {
		after := map[string]string{gate: base, called: calledBase}
		after[c.file] = strings.Replace(after[c.file], c.old, c.new, 1)
		var got []string
		for _, d := range workflows.Compare(read(t, map[string]string{gate: base, called: calledBase}), read(t, after)) {
			got = append(got, d.What)
		}
		if c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "; "), c.want) {
			t.Errorf("%q → %q: %q, want %q", c.old, c.new, got, c.want)
		}
	}
}

// A file that a step calls is one of what runs packgate, where packgate is called in it or in
// what it calls.
func TestCompareScripts(t *testing.T) {
	const workflow = `
on: pull_request
jobs:
  gate:
    defaults: {run: {working-directory: ci}}
    steps:
      - uses: ./actions/local
      - run: |
          ./setup.sh && bash "steps/gate.sh" --strict
          npm run gate
  lint:
    steps: [{run: make lint}, {run: cat notes.md}]
`
	files := map[string]string{
		gate:                       workflow,
		"ci/setup.sh":              "echo ready\n",
		"ci/steps/gate.sh":         "#!/bin/sh\nexec ../lib/run \"$@\"\n",
		"ci/lib/run":               "source ci/steps/gate.sh # and back\npackgate check\n",
		"package.json":             `{"scripts": {"gate": "npx packgate check"}}`,
		"actions/local/action.yml": "runs: {using: composite, steps: [{run: \"${{ github.action_path }}/do.sh\"}]}",
		"actions/local/do.sh":      "packgate doctor\n",
		"Makefile":                 "include build.mk\nlint:\n\tvet ./...\n",
		"build.mk":                 "all:\n\tgo build\n",
		"notes.md":                 "packgate is good\n",
		"other.sh":                 "packgate check\n",
	}
	for _, c := range []struct{ file, old, new, want string }{
		{gate, "", "", ""},
		{"ci/setup.sh", "ready", "steady", ""},
		{"ci/steps/gate.sh", "exec", "true ||", "ci/steps/gate.sh: the file, which runs packgate, differs"},
		{"ci/lib/run", "packgate check", "packgate check || true", "ci/lib/run: the file, which runs packgate, differs"},
		{"ci/lib/run", "packgate check", "true", "ci/lib/run: the file, which runs packgate, differs"},
		{"package.json", "npx packgate check", "true", "package.json: the file, which runs packgate, differs"},
		{"ci/steps/gate.sh", files["ci/steps/gate.sh"], "", "ci/steps/gate.sh: the file, which runs packgate, is gone"},
		{"actions/local/do.sh", "doctor", "help", "actions/local/do.sh: the file, which runs packgate, differs"},
		{"actions/local/action.yml", "do.sh", "no.sh", "actions/local/action.yml: the file, which runs packgate, differs"},
		{gate, "--strict", "", `the job "gate", which runs packgate, differs`},
		{gate, "make lint", "true", ""},
		{"Makefile", "vet", "true", ""},
		{"notes.md", "good", "bad", ""},
		{"other.sh", "check", "help", ""},
	} {
		after := maps.Clone(files)
		after[c.file] = strings.Replace(after[c.file], c.old, c.new, 1)
		var got []string
		for _, d := range workflows.Compare(read(t, files), read(t, after)) {
			got = append(got, d.At.File+": "+d.What)
		}
		if c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "; "), c.want) {
			t.Errorf("%s: %q → %q: %q, want %q", c.file, c.old, c.new, got, c.want)
		}
	}
	g := read(t, files)
	for name, want := range map[string]bool{"ci/lib/run": true, "ci/setup.sh": false, "package.json": true, "other.sh": false, gate: false} {
		if g.Calls(name) != want || !g.CallsAny() {
			t.Errorf("Calls(%s) is %v", name, !want)
		}
	}
	files["build.mk"] = "all:\n\tpackgate check\n"
	if g = read(t, files); !g.Calls("build.mk") || !g.Calls("Makefile") {
		t.Error("what a Makefile includes is not looked into")
	}
}

func TestHas(t *testing.T) {
	g := read(t, map[string]string{gate: base, called: calledBase})
	for text, want := range map[string]bool{"a/.packgate.yaml": true, "b/.packgate.yaml": false, "make lint": false} {
		if g.Has(text) != want {
			t.Errorf("Has(%q) is %v", text, !want)
		}
	}
}

// read reads workflows; one without a text is not there.
func read(t *testing.T, sources map[string]string) *workflows.Gates {
	t.Helper()
	tree := fstest.MapFS{}
	for name, src := range sources {
		if src != "" {
			tree[name] = &fstest.MapFile{Data: []byte(src)}
		}
	}
	g, err := workflows.Read(repo.FilesOf(tree, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
