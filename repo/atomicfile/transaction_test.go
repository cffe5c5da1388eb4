package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The test binary is also the process that is killed.
func TestMain(m *testing.M) {
	if what := os.Getenv("ATOMICFILE_CHILD"); what != "" {
		dir, journal := os.Getenv("ATOMICFILE_DIR"), os.Getenv("ATOMICFILE_JOURNAL")
		if err := child(what, dir, journal); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(what, dir, journal string) error {
	at, err := strconv.Atoi(os.Getenv("ATOMICFILE_AT"))
	if err != nil {
		return err
	}
	Watch(func() {
		if at--; at == 0 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			panic(fmt.Sprint("killed, and goes on: ", err))
		}
	})
	if what == "recover" {
		_, err = Recover(journal)
		return err
	}
	tx, err := Begin(journal)
	if err == nil {
		err = tx.Make(editsOf(dir))
	}
	if err == nil {
		err = tx.Keep()
	}
	return err
}

// editsOf are edits of every kind.
func editsOf(dir string) []Edit {
	at := func(name, src string) Edit { return Edit{Name: filepath.Join(dir, name), Write: Content([]byte(src))} }
	return []Edit{
		at("changed", "new"), at("empty", "full"), at("made", ""), at("a/b/deep", "deep"), at("a/b/other", "other"), at("same", "same"),
		{Name: filepath.Join(dir, "gone")},
	}
}

// killed runs a process that makes the edits, or takes back, and is killed before the change of
// a number; it reports whether it was.
func killed(t *testing.T, what, dir, journal string, at int) bool {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "ATOMICFILE_CHILD="+what, "ATOMICFILE_DIR="+dir, "ATOMICFILE_JOURNAL="+journal, fmt.Sprint("ATOMICFILE_AT=", at))
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		t.Fatalf("%v: %s", err, out)
	}
	return err != nil
}

// files are the files of a folder, by their names.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if d.IsDir() {
			all[rel+"/"] = ""
			return nil
		}
		src, err := os.ReadFile(name)
		info, _ := d.Info()
		all[rel] = info.Mode().String() + " " + string(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// begun is a folder with files.
func begun(t *testing.T) (dir, journal string) {
	t.Helper()
	dir, journal = t.TempDir(), filepath.Join(t.TempDir(), "journal")
	for name, src := range map[string]string{"changed": "old", "empty": "", "gone": "x", "same": "same"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, journal
}

// Wherever a run is stopped, the next one finds all of its files, or none, and nothing beside
// them; also where that one is stopped while it takes back, again and again.
func TestStoppedAnywhere(t *testing.T) {
	first, log := begun(t)
	killed(t, "make", first, log, 0)
	whole := files(t, first)
	stops := 0
	for at := 1; ; at++ {
		dir, journal := begun(t)
		before := files(t, dir)
		if !killed(t, "make", dir, journal, at) {
			break
		}
		stops++
		for again := 1; killed(t, "recover", dir, journal, again); again++ {
		}
		after := files(t, dir)
		if !maps.Equal(after, before) && !maps.Equal(after, whole) {
			t.Fatalf("stopped before change %d, there are %q", at, after)
		}
		if left := files(t, journal); len(left) > 2 && len(left) != 2+leftovers(left) { // the folder and the lock
			t.Fatalf("stopped before change %d, the journal has %q", at, left)
		}
		tx, err := Begin(journal)
		if err == nil {
			err = tx.Undo()
		}
		if left := files(t, journal); err != nil || len(left) != 2 {
			t.Fatalf("stopped before change %d, after another one that begins the journal has %q: %v", at, left, err)
		}
		if maps.Equal(after, whole) {
			continue // what is removed cannot be once more
		}
		if killed(t, "make", dir, journal, 0) || !maps.Equal(files(t, dir), whole) {
			t.Fatalf("stopped before change %d, the next run makes %q", at, files(t, dir))
		}
		if left := files(t, journal); len(left) != 2 {
			t.Fatalf("after a whole run the journal has %q", left)
		}
	}
	if stops < 15 {
		t.Errorf("stopped at %d changes", stops)
	}
}

// leftovers counts what a run that was stopped before its journal leaves for the next to remove.
func leftovers(names map[string]string) (n int) {
	for name := range names {
		if strings.HasPrefix(name, "old-") || strings.HasPrefix(name, "new-") || name == journalName+".new" {
			n++
		}
	}
	return n
}

// A file that somebody changed after a run was stopped stays as it is, and so does the journal
// until somebody has decided.
func TestChangedSince(t *testing.T) {
	dir, journal := begun(t)
	for at := 1; killed(t, "make", dir, journal, at); at++ {
		if src, err := os.ReadFile(filepath.Join(dir, "changed")); err == nil && string(src) == "new" {
			break
		}
		dir, journal = begun(t)
	}
	mine := filepath.Join(dir, "changed")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Recover(journal); err == nil || !strings.Contains(err.Error(), mine) || !strings.Contains(err.Error(), "remove") {
			t.Errorf("error %v", err)
		}
		if _, err := Begin(journal); err == nil {
			t.Error("another run begins")
		}
	}
	if src, err := os.ReadFile(mine); err != nil || string(src) != "mine" {
		t.Errorf("%q, %v", src, err)
	}
	if err := os.Remove(filepath.Join(journal, journalName)); err != nil {
		t.Fatal(err)
	}
	if found, err := Recover(journal); err != nil || found != nil {
		t.Errorf("%q, %v", found, err)
	}
	for name, src := range map[string]string{"not JSON": "{", "a relative name": `[{"name": "x"}]`} {
		if err := os.WriteFile(filepath.Join(journal, journalName), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(journal); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A file that has something else than what its new content was made from, or is gone, is not written, nor is any other.
func TestChangedBefore(t *testing.T) {
	for name, from := range map[string]string{"changed": "older", "nothing": "x", "empty": "x"} {
		dir, journal := begun(t)
		was := files(t, dir)
		tx, err := Begin(journal)
		if err != nil {
			t.Fatal(err)
		}
		err = tx.Make([]Edit{
			{Name: filepath.Join(dir, "same"), Write: Content([]byte("other")), From: []byte("same")},
			{Name: filepath.Join(dir, name), Write: Content([]byte("new")), From: []byte(from)},
		})
		if !errors.Is(err, ErrChanged) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "an earlier run") {
			t.Errorf("%s: it speaks of another run: %v", name, err)
		}
		if is := files(t, dir); !maps.Equal(is, was) {
			t.Errorf("%s: %v, wanted %v", name, is, was)
		}
		if found, err := Recover(journal); err != nil || found != nil {
			t.Errorf("%s: the next run finds %q, %v", name, found, err)
		}
	}
}

// What is left in the folder of the journal and cannot be removed is an error, also where
// the other one of its two is not there.
func TestBeginRefusesWhatItCannotRemove(t *testing.T) {
	for _, name := range []string{"old-0", "new-0", "new-1"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
		if name == "new-1" {
			if err := os.WriteFile(filepath.Join(dir, "old-0"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if tx, err := Begin(dir); err == nil || tx != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		tx, err := Begin(dir) // nobody has the folder
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Keep(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}
