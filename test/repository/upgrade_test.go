package repository_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What packgate 0.1.0 wrote is read: a report in every form and beside one of today, a config, and a registry
// with a version, its states and its pins.
func TestWhat010WroteIsRead(t *testing.T) {
	old, err := filepath.Abs(filepath.Join("testdata", "v0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	dir := exampleCopy(t)
	for _, c := range []struct {
		command string
		code    int
		says    []string
	}{
		{"packgate report --from OLD/report.json", 0, []string{"ctxpack.finops 1.0.0", "✓ pass: 1 pack"}},
		{"packgate report --from OLD/report.json --format markdown", 0, []string{"ctxpack.finops 1.0.0"}},
		{"packgate report --from OLD/report.json --format html", 0, []string{"<!DOCTYPE html>"}},
		{"packgate report --from OLD/report.json --format sarif", 0, []string{`"version": "2.1.0"`}},
		{"packgate report --from OLD/report.json --format junit", 0, []string{"ctxpack.finops"}},
		{"packgate report --from OLD/report.json --format codequality", 0, []string{"[]"}},
		{"packgate check packs/support --format json > new.json; packgate merge OLD/report.json new.json", 0, []string{"✓ pass: 2 packs", "the merged reports come from different versions"}},
		{"packgate check packs/finops --config packgate.yaml --quiet", 0, []string{"✓ pass: 1 pack"}},
		{"packgate verify ctxpack.support@1.0.0 --registry oci:OLD/registry --key OLD/packgate.pub", 3, []string{"deprecated", "a newer one is on its way", "prod", "packgate devel, rules 0.1.0"}},
		{"packgate verify ctxpack.support@1.0.0 --complete --registry oci:OLD/registry --key OLD/packgate.pub", 5, nil},
		{"packgate log ctxpack.support --registry oci:OLD/registry --key OLD/packgate.pub", 0, []string{"1.0.0", "deprecated", "not known"}},
		{"packgate audit --registry oci:OLD/registry --key OLD/packgate.pub", 0, nil},
	} {
		src, err := os.ReadFile(filepath.Join(old, "packgate.yaml"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "packgate.yaml"), src, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := shell(t, dir, strings.ReplaceAll(c.command, "OLD", old))
		code := 0
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			code = failed.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.code {
			t.Errorf("%s: exit %d\n%.1500s", c.command, code, out)
		}
		for _, words := range c.says {
			if !strings.Contains(out, words) {
				t.Errorf("%s: %q is not in\n%.1500s", c.command, words, out)
			}
		}
	}
}
