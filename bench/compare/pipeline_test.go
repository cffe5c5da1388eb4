package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// measured returns everything that is measured, on a repository of three packs that all of it passes.
func measured(t *testing.T) (tools *tools, dir, file string, pipeline, single []step) {
	t.Helper()
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	if tools, err = install(t.Context(), folder, temp); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(temp, "packs")
	if err := tools.repository(t.Context(), dir, 3, 1); err != nil {
		t.Fatal(err)
	}
	packs, err := packsOf(dir)
	if err != nil || len(packs) != 3 {
		t.Fatalf("the repository has packs %q, wanted three: %v", packs, err)
	}
	pipeline, single = tools.pipeline(dir, packs), tools.single(dir, packs)
	for _, s := range slices.Concat(pipeline, single, []step{tools.check(dir)}) {
		if o, err := run(t.Context(), s); err != nil || o.found {
			t.Fatalf("%s does not pass packs without faults: %v\n%s", s.name, err, o.output)
		}
	}
	return tools, dir, packs[1], pipeline, single // the first one has changed
}

// TestFaults holds that each fault is found by exactly the tools that it names, by the part of
// the pipeline that is there for it, and by packgate's rule.
func TestFaults(t *testing.T) {
	tools, dir, file, pipeline, single := measured(t)
	steps := append(single, tools.check(dir))
	found, err := finds(t.Context(), dir, file, steps)
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range faults {
		var names []string
		for i, s := range single {
			if found[k][i] {
				names = append(names, s.name)
			}
		}
		if !slices.Equal(names, f.alone) || !found[k][len(single)] {
			t.Errorf("%s is found by %q, wanted %q; by packgate: %t", f.name, names, f.alone, found[k][len(single)])
		}
		i := slices.IndexFunc(pipeline, func(s step) bool { return s.name == f.tool })
		if i < 0 {
			continue
		}
		err := planted(filepath.Join(dir, file), f.plant, func() error {
			o, err := run(t.Context(), pipeline[i])
			if !strings.Contains(o.output, f.says) {
				t.Errorf("of %q, %s writes\n%s\nwanted %q", f.name, f.tool, o.output, f.says)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}
