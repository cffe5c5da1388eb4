package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// golden compares with a file of expectations; UPDATE=1 rewrites it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("%s differs from line %d on; UPDATE=1 rewrites it. Got\n%s", file, i+1, strings.Join(gotLines[min(i, len(gotLines)-1):], "\n"))
		}
	}
}

// problems returns an error as its problems, and checks what is so of all: they
// are of wrong use and in the grammar of messages.
func problems(t *testing.T, err error) []*Problem {
	t.Helper()
	if !errors.Is(err, ErrUse) {
		t.Fatalf("not an error of wrong use: %v", err)
	}
	var many Problems
	var one *Problem
	if errors.As(err, &one) {
		many = Problems{one}
	} else if !errors.As(err, &many) || len(many) == 0 {
		t.Fatalf("not a problem, nor several: %T", err)
	}
	for _, p := range many {
		if strings.HasSuffix(p.Message, ".") || strings.HasSuffix(p.Hint, ".") || strings.ContainsAny(p.Message+p.Hint, "\n\r\t\x00") || p.Message == "" {
			t.Errorf("%q, %q is not in the grammar of messages", p.Message, p.Hint)
		}
	}
	return many
}

// show writes the problems of an error as a user sees them.
func show(t *testing.T, err error) string {
	t.Helper()
	var b strings.Builder
	for _, p := range problems(t, err) {
		fmt.Fprintf(&b, "%s\n", p)
		if p.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", p.Hint)
		}
	}
	return b.String()
}

// tree writes files, by name, into a new folder and opens it.
func tree(t *testing.T, files map[string]string) (*Files, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir), dir
}

func open(t *testing.T, dir string) *Files {
	t.Helper()
	f, err := OpenFiles(dir, "repo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
