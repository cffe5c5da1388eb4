package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/statement"
)

// forge writes index and lists anew from the files that are there, as whoever changes an export
// would.
func (w *world) forge(dir string) {
	w.t.Helper()
	var events []Event
	reports := func(digest string) []byte {
		src, err := os.ReadFile(filepath.Join(dir, nameAt("reports", digest)))
		if err != nil {
			return nil
		}
		return src
	}
	_ = filepath.WalkDir(filepath.Join(dir, "statements"), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if v, err := w.trust.Publisher.Verify(w.read(name, "")); err == nil {
			found, err := eventsOf(v, reports)
			if err != nil {
				w.t.Fatal(err)
			}
			events = append(events, found...)
		}
		return nil
	})
	sorted(events)
	list, err := lines(events)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(dir, EventsFile, list)
	if list, err = table(events); err != nil {
		w.t.Fatal(err)
	}
	w.write(dir, TableFile, list)
	w.indexed(dir)
}

// indexed writes the digests of the files that are there into the index.
func (w *world) indexed(dir string) {
	w.t.Helper()
	index := &Index{}
	src := w.read(dir, IndexFile)
	if err := json.Unmarshal(src, index); err != nil {
		w.t.Fatal(err)
	}
	index.Files = map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if relative, _ := filepath.Rel(dir, name); err == nil && !e.IsDir() && relative != IndexFile {
			index.Files[filepath.ToSlash(relative)] = digestOf(w.read(name, ""))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if src, err = index.bytes(); err != nil {
		w.t.Fatal(err)
	}
	w.write(dir, IndexFile, src)
}

// lines changes the lines of a list, and makes the index fit.
func (w *world) lines(dir, file string, change func(lines []string) []string) {
	w.t.Helper()
	w.write(dir, file, []byte(strings.Join(change(strings.SplitAfter(string(w.read(dir, file)), "\n")), "")))
	w.indexed(dir)
}

// swap puts each of two files of a folder in the place of the other, and makes the index fit.
func (w *world) swap(dir, folder string) {
	w.t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil || len(list) < 2 {
		w.t.Fatal(list, err)
	}
	one, other := filepath.Join(folder, list[0].Name()), filepath.Join(folder, list[1].Name())
	src := w.read(dir, one)
	w.write(dir, one, w.read(dir, other))
	w.write(dir, other, src)
	w.indexed(dir)
}

// drop removes the statement of an event.
func (w *world) drop(dir, event string) {
	w.t.Helper()
	for _, e := range w.check(dir).Events {
		if e.Event == event {
			if err := os.Remove(filepath.Join(dir, nameAt("statements", e.Statement))); err != nil && !errors.Is(err, os.ErrNotExist) {
				w.t.Fatal(err)
			}
		}
	}
}

// Whatever is changed in an export is found, also where everything that is not signed was made
// to fit; and what cannot be found because its proof is gone is said not to be checked.
func TestTamperedExport(t *testing.T) {
	w := newWorld(t)
	whole := w.export()
	stranger, _ := signerOf(t, "stranger", 0)
	for name, c := range map[string]struct {
		change     func(dir string)
		problem    string
		notChecked string
	}{
		"an event changed": {func(dir string) {
			w.write(dir, EventsFile, bytes.Replace(w.read(dir, EventsFile), []byte("lena"), []byte("cid"), 1))
		}, EventsFile + " is", ""},
		"a cell changed": {func(dir string) {
			w.write(dir, TableFile, bytes.Replace(w.read(dir, TableFile), []byte("lena"), []byte("cid"), 1))
		}, TableFile + " is", ""},
		"a line less": {func(dir string) {
			w.lines(dir, EventsFile, func(lines []string) []string { return lines[1:] })
		}, EventsFile, ""},
		"a row less, in the table alone": {func(dir string) {
			w.lines(dir, TableFile, func(lines []string) []string { return slices.Delete(lines, 1, 2) })
		}, TableFile, ""},
		"a line twice": {func(dir string) {
			w.lines(dir, EventsFile, func(lines []string) []string { return append(lines[:1:1], lines...) })
		}, EventsFile, ""},
		"lines in another order": {func(dir string) {
			w.lines(dir, EventsFile, func(lines []string) []string { lines[0], lines[1] = lines[1], lines[0]; return lines })
		}, EventsFile, ""},
		"rows in another order, in the table alone": {func(dir string) {
			w.lines(dir, TableFile, func(lines []string) []string { lines[1], lines[2] = lines[2], lines[1]; return lines })
		}, TableFile, ""},
		"cut off": {func(dir string) {
			w.lines(dir, EventsFile, func(lines []string) []string { lines[0] = lines[0][:10]; return lines[:1] })
		}, EventsFile, ""},
		"emptied": {func(dir string) {
			w.lines(dir, TableFile, func([]string) []string { return nil })
		}, TableFile, ""},
		"two statements swapped": {func(dir string) { w.swap(dir, "statements") }, "statements/", ""},
		"two records swapped":    {func(dir string) { w.swap(dir, "records") }, "records/", ""},
		"a statement cut off": {func(dir string) {
			list, err := os.ReadDir(filepath.Join(dir, "statements"))
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("statements", list[0].Name())
			w.write(dir, name, w.read(dir, name)[:100])
			w.indexed(dir)
		}, "statements/", ""},
		"a folder that is a link": {func(dir string) {
			err := errors.Join(os.Rename(filepath.Join(dir, "statements"), filepath.Join(dir, "..", "statements")), os.Symlink(filepath.Join("..", "statements"), filepath.Join(dir, "statements")))
			if err != nil {
				t.Fatal(err)
			}
		}, "statements", ""},
		"a file more":        {func(dir string) { w.write(dir, "reports/more.json", []byte("{}")) }, "reports/more.json is not in the index", ""},
		"a statement gone":   {func(dir string) { w.drop(dir, Deprecated) }, "is not there", ""},
		"a link":             {func(dir string) { w.remove(dir, EventsFile); w.link(dir, TableFile, EventsFile) }, "it is not a regular file", ""},
		"a deprecation less": {func(dir string) { w.drop(dir, Deprecated); w.forge(dir) }, "no statement says so", ""},
		"a pin less":         {func(dir string) { w.drop(dir, Pinned); w.forge(dir) }, "no statement says so", ""},
		"a deprecation less, without status": {func(dir string) {
			w.drop(dir, Deprecated)
			w.remove(dir, "status", "records")
			w.forge(dir)
		}, "", "whether anything was left out: the registry has no status"},
		"a version less, without timestamp": {func(dir string) {
			w.remove(dir, TimestampFile)
			w.forge(dir)
		}, "", "whether the publisher's status was the newest: there is no timestamp of it"},
		"another status": {func(dir string) {
			w.write(dir, StatusFile, bytes.Replace(w.read(dir, StatusFile), []byte("deprecated"), []byte("revoked"), 1))
			w.forge(dir)
		}, "the signed status is about", ""},
		"a stranger's statement": {func(dir string) {
			src, err := statement.State{Version: statement.Version{Pack: support + "@1.1.0", Manifest: digestOf([]byte("m")), Content: digestOf([]byte("c"))},
				State: statement.StateRevoked, Reason: "r", Actor: "a", Time: noon}.Statement()
			if err != nil {
				t.Fatal(err)
			}
			bundle, err := stranger.Sign(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			w.write(dir, nameOf("statements", bundle), bundle)
			w.forge(dir)
		}, "statements/", ""},
		"another report": {func(dir string) {
			w.remove(dir, nameOf("reports", []byte(report)))
			w.write(dir, nameOf("reports", []byte(`{"packs":[]}`)), []byte(`{"packs":[]}`))
			w.forge(dir)
		}, "no signed statement names", ""},
		"a report less": {func(dir string) { w.remove(dir, nameOf("reports", []byte(report))); w.forge(dir) }, "", "what was waived for"},
		"a config less": {func(dir string) { w.remove(dir, nameOf("configs", config)); w.forge(dir) }, "", "the bytes of the config"},
		"another registry": {func(dir string) {
			w.write(dir, IndexFile, bytes.Replace(w.read(dir, IndexFile), []byte(`"registry": "oci:`), []byte(`"registry": "oci:/x`), 1))
		}, "the export is of the registry", ""},
		"a pack less": {func(dir string) {
			w.write(dir, IndexFile, bytes.Replace(w.read(dir, IndexFile), []byte(`"`+support+`"`), []byte(`"ctxpack.other"`), 1))
		}, "which the index does not name", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "export")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			c.change(dir)
			got := w.check(dir)
			has := func(list []string, text string) bool {
				return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, text) })
			}
			if c.problem != "" && !has(got.Problems, c.problem) {
				t.Errorf("the problems are %q, wanted %q", got.Problems, c.problem)
			}
			if c.problem == "" && (len(got.Problems) > 0 || !has(got.NotChecked, c.notChecked)) {
				t.Errorf("the problems are %q and not checked is %q, wanted %q there", got.Problems, got.NotChecked, c.notChecked)
			}
		})
	}
}
