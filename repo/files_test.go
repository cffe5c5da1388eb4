package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

func TestProblem(t *testing.T) {
	place := finding.Location{File: "a.yaml", Start: finding.Position{Line: 3, Column: 7}}
	one := &Problem{Location: place, Message: "this is wrong", Hint: "fix it"}
	two := &Problem{Location: finding.Location{File: "b"}, Message: "so is this"}
	many := Problems{one, two, {Message: "and this"}}
	if got, want := many.Error(), "a.yaml:3:7: this is wrong\nb: so is this\nand this"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, err := range []error{one, many, fmt.Errorf("load: %w", one), fmt.Errorf("load: %w", many), errors.Join(errors.New("x"), many)} {
		if !errors.Is(err, ErrUse) {
			t.Errorf("%v is not of wrong use", err)
		}
	}
	if errors.Is(one, fs.ErrNotExist) || errors.Is(many, fs.ErrNotExist) {
		t.Error("a problem is taken for every error")
	}
	if err := (Problems{}).Err(); err != nil {
		t.Errorf("no problems are the error %v", err)
	}
	if err := Unreadable(nil); err != nil {
		t.Errorf("no faults are the error %v", err)
	}
}

func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pack.json")
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none"): "as/named: there is no such folder",
		link:                       "as/named: there is no such folder",
		file:                       "as/named: this is not a folder",
		filepath.Join(file, "sub"): "as/named: there is no such folder",
	} {
		_, err := OpenFiles(name, "as/named")
		if err == nil {
			t.Errorf("%s is opened", name)
			continue
		}
		if got := show(t, err); !strings.HasPrefix(got, want+"\n  hint: ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	f := open(t, dir)
	if f.Show("a/b.json") != "repo/a/b.json" || f.Show(".") != "repo" {
		t.Errorf("shown as %s and %s", f.Show("a/b.json"), f.Show("."))
	}
	for name, want := range map[string]bool{
		"pack.json": true, "link": true, "none": false, "pack.json/none": false, "../" + filepath.Base(dir): false,
	} {
		if got, err := f.Exists(name); got != want || err != nil {
			t.Errorf("Exists(%q) is %v, %v; wanted %v", name, got, err, want)
		}
	}
}

// What is not a regular file below the root is refused, in words and at once.
func TestRefusedFiles(t *testing.T) {
	f, dir := tree(t, map[string]string{"a/pack.json": "{}", "d/pack.json/x": "", "own.json": `{"a": 1}`})
	outside := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(outside, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"in.json": "a/pack.json", "in-folder": "a", "chain.json": "in.json", "dangling.json": "none.json", "loop.json": "loop.json",
		"out.json": outside, "up.json": "../" + filepath.Base(filepath.Dir(outside)) + "/secret.json", "out-folder": filepath.Dir(outside), "device.json": "/dev/zero",
		"folder.json": "a",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"own.json", "in.json", "chain.json", "in-folder/pack.json", "./own.json", "a/../own.json"} {
		d, faults, err := f.Document(name, pack.DefaultLimits())
		if err != nil || len(faults) > 0 || d.Root == nil || d.File != f.Show(name) {
			t.Errorf("%s: %v, %v", name, faults, err)
		}
	}
	const gone, out = "this symbolic link points to nothing inside the repository", "this path points outside the repository"
	for name, want := range map[string]string{
		"none.json": "there is no such file", "a/none/x.json": "there is no such file",
		"d/pack.json": "this is not a regular file", "folder.json": "this is not a regular file", "pipe.json": "this is not a regular file", ".": "this is not a regular file",
		"dangling.json": gone, "loop.json": gone, "out.json": gone, "up.json": gone, "device.json": gone,
		"out-folder/secret.json": out + " through a symbolic link",
		"../x.json":              out, "a/../../x.json": out, outside: out, "": out,
		"own.json/x": "there is no such file",
	} {
		_, _, err := f.Document(name, pack.DefaultLimits())
		if err == nil {
			t.Errorf("%s is read", name)
			continue
		}
		if got := show(t, err); !strings.HasPrefix(got, f.Show(name)+": "+want+"\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What the machine refuses is no wrong use, and says what it was about.
func TestFailures(t *testing.T) {
	long := strings.Repeat("x", 300) + ".json"
	f, _ := tree(t, nil)
	_, _, err := f.Document(long, pack.DefaultLimits())
	if err == nil || errors.Is(err, ErrUse) || !strings.HasPrefix(err.Error(), "read repo/"+long+": ") || strings.Count(err.Error(), long) != 1 {
		t.Errorf("a name that is too long: %v", err)
	}
}

func TestLargeFiles(t *testing.T) {
	f, _ := tree(t, map[string]string{"a.json": `{"a": 12}`, "b.json": `{"a": 1}`})
	limits := pack.DefaultLimits()
	limits.MaxBytes = 8
	d, faults, err := f.Document("a.json", limits)
	want, wantFaults := pack.Read("repo/a.json", []byte(`{"a": 12}`), limits)
	if err != nil || d.Root != nil || len(d.Source) != 0 || want.Root != nil || !reflect.DeepEqual(faults, wantFaults) {
		t.Errorf("%v, %v: want %v", faults, err, wantFaults)
	}
	if d, faults, err := f.Document("b.json", limits); err != nil || len(faults) > 0 || d.Root == nil {
		t.Errorf("at the limit: %v, %v", faults, err)
	}
}

// A file beyond the limit costs nothing but a look at its size.
func TestLargeFilesAreNotLoaded(t *testing.T) {
	f, dir := tree(t, map[string]string{"a.json": ""})
	const size = 64 << 20
	if err := os.Truncate(filepath.Join(dir, "a.json"), size); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, faults, err := f.Document("a.json", pack.DefaultLimits())
	runtime.ReadMemStats(&after)
	if err != nil || len(faults) != 1 || faults[0].Kind != pack.Limit {
		t.Errorf("%v, %v", faults, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > size/8 {
		t.Errorf("reading took %d bytes of memory", used)
	}
}
