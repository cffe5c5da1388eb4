package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/rogpeppe/go-internal/txtar"
)

// examined returns what the doctor says of a repository that has one workflow.
func examined(t testing.TB, text []byte) *Diagnosis {
	t.Helper()
	return examinedWith(t, text, "")
}

// examinedWith returns what it says where there is a config too.
func examinedWith(t testing.TB, text []byte, config string) *Diagnosis {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, repo.ConfigName), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, workflowFolder, "a.yml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	examined, err := Examine(t.Context(), root, func(err error) []model.Problem { return []model.Problem{{Message: err.Error()}} })
	if err != nil {
		t.Fatal(err)
	}
	if err := examined.Write(&out, "json"); err != nil {
		t.Fatal(err)
	}
	d := &Diagnosis{}
	if err := json.Unmarshal(out.Bytes(), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever a workflow says, the doctor ends, says the same twice, and names places
// that are in the file.
func FuzzDoctor(f *testing.F) {
	script, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "script", "doctor.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range script.Files {
		if strings.HasSuffix(file.Name, ".yml") {
			f.Add(file.Data)
		}
	}
	examples, err := filepath.Glob(filepath.Join("..", "..", "examples", "acme-support", ".github", "workflows", "*.yml"))
	if err != nil || len(examples) == 0 || len(script.Files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		one, two := examinedWith(t, text, registered), examinedWith(t, text, registered)
		lines := bytes.Count(text, []byte("\n")) + 1
		for i, s := range one.Symptoms {
			if s.Line > lines || s.Line < 0 || !slices.Contains(severities(), s.Severity) || s.Message == "" {
				t.Errorf("%+v in a file of %d lines", s, lines)
			}
			if i >= len(two.Symptoms) || s.Check != two.Symptoms[i].Check || s.Message != two.Symptoms[i].Message {
				t.Errorf("once %+v and then another", s)
			}
		}
	})
}

// Each way to grant permissions, and what is missing of it.
func TestDoctorPermissions(t *testing.T) {
	const workflow = `on: {pull_request: {}, merge_group: {}}
permissions: TOP
jobs:
  gate:
    permissions: JOB
    steps:
      - {uses: "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", with: {fetch-depth: 2, persist-credentials: false}}
      - {uses: "acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683"}
`
	for _, c := range []struct {
		top, job string
		want     []string // hints of symptoms about permissions
	}{
		{"{}", "{contents: read, pull-requests: write, checks: write}", nil},
		{"{contents: read, pull-requests: write, checks: write}", "", nil},
		{"{contents: read, pull-requests: write, checks: write}", "{}", []string{"add contents: read", "add pull-requests: write", "add checks: write"}},
		{"{}", "read-all", []string{"add pull-requests: write", "add checks: write"}},
		{"write-all", "", []string{"name contents: read, pull-requests: write and checks: write only"}},
		{"{}", "{contents: write, pull-requests: write, checks: write}", []string{"remove contents: write"}},
		{"", "", []string{"set permissions: {} for the workflow, and contents: read, pull-requests: write and checks: write for the job"}},
	} {
		text := strings.NewReplacer("TOP", c.top, "JOB", c.job).Replace(workflow)
		for _, line := range []string{"permissions: \n", "    permissions: \n"} {
			text = strings.Replace(text, "\n"+line, "\n", 1)
		}
		var got []string
		for _, s := range examined(t, []byte(text)).Symptoms {
			if s.Check == "permissions" {
				got = append(got, s.Hint)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s above, %s in the job: got %q, want %q", c.top, c.job, got, c.want)
		}
	}
}
