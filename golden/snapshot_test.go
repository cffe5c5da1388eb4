package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
)

func rewrite(t *testing.T, name string, edit func(string) string) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(edit(string(src))), 0o644); err != nil {
		t.Fatal(err)
	}
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// A snapshot that is damaged is never equal, and what is said of it helps to fix
// it.
func TestDamagedSnapshots(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(string) string
		want   string
	}{
		"line ends":      {crlf, `the snapshot has CRLF line ends, which git wrote, and otherwise is that of the compile`},
		"empty":          {func(string) string { return "" }, `the snapshot is empty`},
		"blank":          {func(string) string { return " \r\n" }, `the snapshot is empty`},
		"cut off":        {func(s string) string { return s[:len(s)/2] }, `the snapshot is cut off: it ends after `},
		"last brace":     {func(s string) string { return strings.TrimRight(s, "}\n") + "\n" }, `the snapshot is cut off: it ends after `},
		"cut in a name":  {func(s string) string { return s[:strings.Index(s, "_prompt")] }, `the snapshot is cut off: it ends after `},
		"newline":        {strings.TrimSpace, `the snapshot was reformatted; its content is that of the compile`},
		"array":          {func(string) string { return "[]\n" }, `the snapshot is an array, wanted a compiled context`},
		"null":           {func(string) string { return "null\n" }, `the snapshot is null, wanted a compiled context`},
		"object":         {func(string) string { return "{}\n" }, `the compile differs from its snapshot; drift starts at stage `},
		"twice":          {func(s string) string { return s + s }, `the snapshot is not valid JSON: `},
		"comma":          {func(s string) string { return strings.Replace(s, ",", "", 1) }, `the snapshot is not valid JSON: `},
		"conflict":       {func(s string) string { return strings.Replace(s, "\n", "\n<<<<<<< HEAD\n", 1) }, `the snapshot holds a merge conflict that was not resolved`},
		"line ends also": {func(s string) string { return crlf(strings.Replace(s, "1200", "1300", 1)) }, `the compile differs from its snapshot; drift starts at stage 1, intent: `},
	} {
		t.Run(name, func(t *testing.T) {
			dir := variant(t)
			rewrite(t, filepath.Join(dir, smallSnap), c.damage)
			r := find(t, golden.Run(open(t, dir)), smallCase)
			if r.Snapshot != golden.Drifted || r.Status != golden.Fail || len(r.Problems) != 1 || r.Compiled == nil {
				t.Fatalf("%s %s, %+v", r.Status, r.Snapshot, r.Problems)
			}
			p := r.Problems[0]
			if !strings.HasPrefix(p.Message, c.want) || p.Kind != golden.KindSnapshot || p.Hint == "" || p.Location.File != smallSnap || p.Location.Start.Line == 0 {
				t.Errorf("got %+v", p)
			}
		})
	}
}

// A case with CRLF line ends is the same case.
func TestCaseWithOtherLineEnds(t *testing.T) {
	dir := variant(t)
	rewrite(t, filepath.Join(dir, smallCase), crlf)
	rewrite(t, filepath.Join(dir, packFile), crlf)
	if r := find(t, golden.Run(open(t, dir)), smallCase); r.Status != golden.Pass || r.Snapshot != golden.Equal {
		t.Errorf("%s %v", r.Status, r.Problems)
	}
}

// A snapshot that was made with a tokenizer of the config is equal, and not once
// the config says another.
func TestTokenizers(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		dir := variant(t, change{config, "tokenizer: estimate", "tokenizer: " + name})
		for _, r := range golden.Run(open(t, dir)) {
			if r.Compiled == nil {
				continue
			}
			if r.Snapshot == golden.Equal {
				t.Errorf("%s: the snapshot made with the estimate equals a compile with %s", r.File, name)
			}
			if err := os.WriteFile(filepath.Join(dir, r.SnapshotName), r.Compiled, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range golden.Run(open(t, dir)) {
			if r.Compiled != nil && r.Snapshot != golden.Equal {
				t.Errorf("%s: with %s %v", r.File, name, r.Problems)
			}
		}
		rewrite(t, filepath.Join(dir, config), func(s string) string { return strings.Replace(s, "tokenizer: "+name, "tokenizer: estimate", 1) })
		r := find(t, golden.Run(open(t, dir)), smallCase)
		if want := `the snapshot was made with tokenizer "` + name + `", and the config says "estimate"`; len(r.Problems) != 1 || r.Problems[0].Message != want {
			t.Errorf("got %v, wanted %s", r.Problems, want)
		}
	}
}

// A tokenizer that does not exist, which the schema of the config does not let
// through, compiles nothing.
func TestUnknownTokenizer(t *testing.T) {
	unit, environments, config := open(t, example)
	config.Compile.Tokenizer = pack.Text{Value: "p50k_base", OK: true}
	for _, r := range golden.Run(unit, environments, config) {
		if r.Status != golden.Fail || r.Outcome != "" || len(r.Problems) != 1 || r.Problems[0].Kind != golden.KindOutcome {
			t.Errorf("%s: %s %v", r.File, r.Status, r.Problems)
		}
	}
}
