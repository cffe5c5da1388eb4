package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The tools that one would pick in place of packgate.
const (
	ajvCLI   = "ajv-cli"
	spectral = "spectral"
	cue      = "cue"
	conftest = "conftest"
	buf      = "buf"
)

// single returns a step for each of the tools by itself, over all packs. buf reads one file
// in a process, and is only there in the form with a process for each.
func (t *tools) single(dir string, packs []string) []step {
	node := func(name string) string { return t.own(filepath.Join("node_modules", ".bin", name)) }
	return []step{
		{
			name: ajvCLI, dir: dir, files: packs, before: "-d", complains: true,
			args: []string{node("ajv"), "validate", "--spec=draft2020", "--strict=false", "--all-errors", "-c", t.own("node_modules/ajv-formats"), "-s", t.schema},
		},
		{
			name: spectral, dir: dir, files: packs, env: []string{"PACK_SCHEMA=" + t.schema, "SCARF_ANALYTICS=false"},
			args: []string{node("spectral"), "lint", "--ruleset", t.own("spectral/ruleset.mjs"), "--format", "json", "--quiet"},
		},
		{name: cue, dir: dir, files: packs, complains: true, args: []string{t.built(cue), "vet", "-c", "-d", "#Pack", t.own("cue/pack.cue")}},
		t.conftest(dir, packs),
		{
			name: buf, dir: dir, files: packs, before: "--from", each: true, complains: true,
			args: []string{t.built(buf), "convert", t.own("buf"), "--type", "packs.v1.Pack", "--to", filepath.Join(t.bin, "pack.binpb")},
		},
	}
}

// conftest is the step that runs the Rego policy.
func (t *tools) conftest(dir string, packs []string) step {
	return step{name: conftest, dir: dir, args: []string{t.built(conftest), "test", "--policy", t.own("policy"), "--no-color", "--output", "json"}, files: packs}
}

// finds plants each fault into one pack of a repository without any, and returns which of
// the steps find it: by fault, in the order of the steps.
func finds(ctx context.Context, dir, file string, steps []step) (found [][]bool, err error) {
	for _, f := range faults {
		row := make([]bool, len(steps))
		err := planted(filepath.Join(dir, file), f.plant, func() error {
			for i, s := range steps {
				own := len(s.files) == 0 // packgate finds the packs itself
				if !own {
					s.files = []string{file}
				}
				o, err := run(ctx, s)
				if err != nil {
					return err
				}
				row[i] = o.found
				if own {
					row[i] = strings.Contains(o.output, f.own)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		found = append(found, row)
	}
	return found, nil
}

// planted changes a pack file, calls do, and puts the file back.
func planted(file string, change func(map[string]any), do func() error) error {
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var pack map[string]any
	if err := json.Unmarshal(before, &pack); err != nil {
		return err
	}
	change(pack)
	after, err := json.MarshalIndent(pack, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, after, 0o644); err != nil {
		return err
	}
	err = do()
	if back := os.WriteFile(file, before, 0o644); err == nil {
		err = back
	}
	return err
}

// printFinds writes a row for each fault, with what each of the steps makes of it.
func printFinds(w io.Writer, steps []step, found [][]bool) error {
	var b strings.Builder
	b.WriteString("| planted fault |")
	for _, s := range steps {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(steps)) + "\n")
	for i, row := range found {
		b.WriteString("| " + faults[i].name + " |")
		for _, yes := range row {
			b.WriteString(map[bool]string{true: " ✓ |", false: " – |"}[yes])
		}
		b.WriteString("\n")
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}

// together are the steps that can judge all packs in one process.
func together(steps []step) []step {
	return slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return s.each })
}
