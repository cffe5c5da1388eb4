package repo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What cannot be looked at again makes no recording.
func TestNoRecording(t *testing.T) {
	for name, look := range map[string]func(f *Files, dir string) error{
		"a file beyond the limit": func(f *Files, _ string) error { _, _, err := f.read("a.json", 3); return err },
		"a file read in part": func(f *Files, _ string) error {
			file, err := f.tree.Open("a.json")
			if err != nil {
				return err
			}
			_, err = file.Read(make([]byte, 2))
			return errors.Join(err, file.Close())
		},
		"an opened folder": func(f *Files, _ string) error {
			file, err := f.tree.Open("d")
			if err != nil {
				return err
			}
			return file.Close()
		},
		"a file that is changed": func(f *Files, dir string) error {
			_, _, err := f.read("a.json", 100)
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, "a.json"), []byte("[]"), 0o644))
			_, _, again := f.read("a.json", 100)
			return errors.Join(err, again)
		},
		"a file that comes": func(f *Files, dir string) error {
			f.Exists("new")
			err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o644)
			f.Exists("new")
			return err
		},
		"a name that cannot be": func(f *Files, _ string) error { f.Exists("../x"); return nil },
		"where a link leads":    func(f *Files, _ string) error { _, _ = fs.ReadLink(f.tree, "a.json"); return nil },
	} {
		f, dir := tree(t, map[string]string{"a.json": `{"a": 1}`, "d/x": ""})
		recorded, recorder := f.Recorded()
		if _, ok := recorder.Recording(); !ok {
			t.Fatal("nothing was looked at, and that makes no recording")
		}
		if err := look(recorded, dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if rec, ok := recorder.Recording(); ok {
			t.Errorf("%s makes the recording %v", name, rec)
		}
	}
}

// A file that was read twice, or to its end in pieces, is one.
func TestReadTwice(t *testing.T) {
	f, _ := tree(t, map[string]string{"a.json": `{"a": 1}`})
	recorded, recorder := f.Recorded()
	for range 2 {
		if _, _, err := recorded.read("a.json", 100); err != nil {
			t.Fatal(err)
		}
	}
	file, err := recorded.tree.Open("a.json")
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Read(make([]byte, 1))
	}
	if err != io.EOF || file.Close() != nil {
		t.Fatal(err)
	}
	if rec, ok := recorder.Recording(); !ok || !rec.Holds(f) {
		t.Errorf("%v, %v", rec, ok)
	}
}

// Links are told from what they lead to, and what leads nowhere from what is not there.
func TestRecordedLinks(t *testing.T) {
	f, dir := tree(t, map[string]string{"d/a.json": `{}`, "d/b.json": `{}`})
	link := filepath.Join(dir, "d", "link.json")
	point := func(to string) {
		t.Helper()
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	point("a.json")
	recorded, recorder := f.Recorded()
	if _, _, err := recorded.read("d/link.json", 100); err != nil {
		t.Fatal(err)
	}
	rec, ok := recorder.Recording()
	if !ok || !rec.Holds(f) {
		t.Fatalf("%v, %v", rec, ok)
	}
	point("b.json") // which has the same content
	if !rec.Holds(f) {
		t.Error("the same type and content are another answer")
	}
	for _, to := range []string{"none.json", ".", "../../x"} {
		point(to)
		if rec.Holds(f) {
			t.Errorf("the recording holds over a link to %s", to)
		}
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link, []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if rec.Holds(f) {
		t.Error("the recording holds over a file in place of a link")
	}
}

// A pipe in the place of a file keeps nobody waiting who holds a recording against it.
func TestRecordedPipe(t *testing.T) {
	f, dir := tree(t, beside)
	_, rec := unitOf(t, f, "packs/a/pack.json")
	name := filepath.Join(dir, "packs", "a", "golden", "one.case.json")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if rec.Holds(f) {
		t.Error("the recording holds over a pipe")
	}
}

func TestDigest(t *testing.T) {
	f, _ := tree(t, map[string]string{"a": "one", "b": "one", "c": "two", "d/x": ""})
	a, ok := f.Digest("a", 3)
	b, same := f.Digest("b", 3)
	c, other := f.Digest("c", 3)
	if !ok || !same || !other || a != b || a == c {
		t.Errorf("%x %v, %x %v, %x %v", a, ok, b, same, c, other)
	}
	for name, most := range map[string]int64{"a": 2, "d": 10, "none": 10, "../a": 10} {
		if _, ok := f.Digest(name, most); ok {
			t.Errorf("%q with at most %d bytes has a digest", name, most)
		}
	}
}
