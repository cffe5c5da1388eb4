// Package casefile compares what tests see with expectations that are in
// files. UPDATE=1 rewrites them; whoever does that reads the difference.
package casefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func update() bool { return os.Getenv("UPDATE") != "" }

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Golden compares a text with a file.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	switch {
	case err == nil && string(want) == got:
	case update():
		write(t, file, []byte(got))
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("%s is not there (UPDATE=1 writes it); got\n%s", file, got)
	case err != nil:
		t.Fatal(err)
	default:
		t.Errorf("%s differs from line %d on (UPDATE=1 rewrites it)\n%s", file, firstDifference(got, string(want)), sideBySide(got, string(want)))
	}
}

// Run runs the cases of a folder, each as a test of its own. A case is a txtar
// archive; what a run makes of its sections, by their names, is compared with its
// section want.
func Run(t *testing.T, folder string, run func(t *testing.T, sections map[string]string) string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no cases in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sections := map[string]string{}
			for _, f := range archive.Files {
				sections[f.Name] = string(f.Data)
			}
			Want(t, file, archive, run(t, sections))
		})
	}
}

// Want compares a text with the section want of a case, which is a txtar
// archive read from file.
func Want(t testing.TB, file string, archive *txtar.Archive, got string) {
	t.Helper()
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	want := ""
	if at >= 0 {
		want = string(archive.Files[at].Data)
	}
	switch {
	case got == want:
	case !update():
		t.Errorf("got\n%s\nwant (UPDATE=1 rewrites it)\n%s", got, want)
	default:
		if at < 0 {
			archive.Files = append(archive.Files, txtar.File{Name: "want"})
			at = len(archive.Files) - 1
		}
		archive.Files[at].Data = []byte(got)
		write(t, file, txtar.Format(archive))
	}
}

// firstDifference returns the number, from 1, of the first line that differs.
func firstDifference(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}

// around is how many lines a failure shows of each side.
const around = 20

func sideBySide(got, want string) string {
	from := firstDifference(got, want) - 1
	part := func(s string) string {
		lines := strings.Split(s, "\n")
		from := min(from, len(lines))
		return strings.Join(lines[from:min(from+around, len(lines))], "\n")
	}
	return "got\n" + part(got) + "\nwant\n" + part(want)
}
