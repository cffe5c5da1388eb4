package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
