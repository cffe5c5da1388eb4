package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noted notes what is put on the disk until the test ends, and what was by the time of each change.
func noted(t *testing.T) (names *[]string) {
	t.Helper()
	names = &[]string{}
	synced = func(name string) { *names = append(*names, name) }
	t.Cleanup(func() { synced = func(string) {} })
	return names
}

// What Write has written is on the disk, with its name; what can be made again is not waited for.
func TestWriteLasts(t *testing.T) {
	dir := t.TempDir()
	names := noted(t)
	if err := WriteAll([]Edit{{Name: filepath.Join(dir, "report"), Write: Content([]byte("x"))}}, OneByOne); err != nil || len(*names) > 0 {
		t.Errorf("%v, %q; wanted nothing", err, *names)
	}
	if err := Write(filepath.Join(dir, "f"), Content([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	if len(*names) != 2 || filepath.Dir((*names)[0]) != dir || (*names)[1] != dir {
		t.Errorf("%q is on the disk; wanted the new file, and then the folder", *names)
	}
}

// Before a transaction touches the first file, its journal is on the disk with all that files were; each new
// content is before it takes its place; and all names are before the journal goes.
func TestTransactionLasts(t *testing.T) {
	dir, journal := begun(t)
	names := noted(t)
	tx, err := Begin(journal)
	if err == nil {
		err = tx.Make(editsOf(dir))
	}
	if err != nil {
		t.Fatal(err)
	}
	first := slices.IndexFunc(*names, func(name string) bool { return strings.HasPrefix(filepath.Base(name), beside) })
	before := []string{"old-0", "old-1", "old-5", "old-6", journalName + ".new"}
	for i := range before {
		before[i] = filepath.Join(journal, before[i])
	}
	if first < 0 || !slices.Equal((*names)[:first], append(before, journal)) {
		t.Errorf("%q; wanted %q first", *names, before)
	}
	for _, e := range editsOf(dir) {
		if e.Write != nil && !slices.Contains((*names)[first:], waiting(e.Name)) {
			t.Errorf("%q is not on the disk: %q", e.Name, *names)
		}
	}
	*names = nil
	if err := tx.Keep(); err != nil {
		t.Fatal(err)
	}
	if want := []string{dir, filepath.Join(dir, "a", "b"), filepath.Join(dir, "a"), journal}; !slices.Equal(slices.Sorted(slices.Values(*names)), slices.Sorted(slices.Values(want))) || (*names)[3] != journal {
		t.Errorf("%q; wanted %q, the journal last", *names, want)
	}
}

// What a file was is not put back if it is damaged, such as by a power failure: the file stays as it is.
func TestDamagedBefore(t *testing.T) {
	for name, damage := range map[string]func(old string) error{
		"empty": func(old string) error { return os.Truncate(old, 0) }, "gone": os.Remove,
	} {
		dir, journal := begun(t)
		tx, err := Begin(journal)
		if err == nil {
			err = tx.Make(editsOf(dir))
		}
		if err == nil {
			err = damage(tx.old(0))
		}
		if err != nil {
			t.Fatal(err)
		}
		tx.unlock() // as a process that is killed does
		for range 2 {
			_, err := Recover(journal)
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "changed")) || !strings.Contains(err.Error(), "restore the file") {
				t.Errorf("%s: error %v", name, err)
			}
		}
		if src, err := os.ReadFile(filepath.Join(dir, "changed")); err != nil || string(src) != "new" {
			t.Errorf("%s: %q, %v", name, src, err)
		}
	}
}
