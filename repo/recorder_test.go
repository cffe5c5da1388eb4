package repo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// beside is a repository in which two packs share a folder, and a third has its own.
var beside = map[string]string{
	"packs/a/pack.json":                  `{"pack_meta": {"pack_id": "p.a"}}`,
	"packs/a/b.pack.json":                `{"pack_meta": {"pack_id": "p.b"}}`,
	"packs/a/golden/one.case.json":       `{"case": "one"}`,
	"packs/a/golden/one.compiled.json":   `{"compiled": 1}`,
	"packs/a/golden/two.case.json":       `{"case": "two"}`,
	"packs/a/overlays/prod.json":         `{"overlay": "prod"}`,
	"packs/a/scorecards/s.json":          `{}`,
	"packs/a/replay/r.packet.json":       `{"replay_packet_id": "r"}`,
	"packs/a/replay/r.meta.json":         `{}`,
	"packs/a/replay/d.record.json":       `{"record_id": "d"}`,
	"packs/a/tool-surface.json":          `{"surface": []}`,
	"packs/c/pack.json":                  `{"pack_meta": {"pack_id": "p.c"}}`,
	"packs/c/golden/far.case.json":       `{"case": "far"}`,
	"environments/prod.json":             `{"environment": "prod"}`,
	"packs/a/golden/deep/none.case.json": `{}`,
}

// unitOf reads a unit and returns all of it as text, with what was looked at.
func unitOf(t *testing.T, f *Files, name string) (string, Recording) {
	t.Helper()
	recorded, recorder := f.Recorded()
	u, err := recorded.Unit(name, DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	rec, ok := recorder.Recording()
	if !ok {
		t.Fatalf("reading %s makes no recording", name)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %v\n", u.Name, u.Document.Source, u.Faults)
	for _, s := range u.Files {
		fmt.Fprintf(&out, "%s %s %s %v\n", s.Kind, s.Name, s.Document.Source, s.Faults)
	}
	for _, c := range u.Cases {
		if c.Snapshot != nil {
			fmt.Fprintf(&out, "%s %s\n", c.Snapshot.Name, c.Snapshot.Source)
		}
	}
	return out.String(), rec
}

// What is read through a recorder is what is read without one.
func TestRecordedIsTheSame(t *testing.T) {
	f, _ := tree(t, beside)
	recorded, _ := f.Recorded()
	for _, name := range []string{"packs/a/pack.json", "packs/c/pack.json"} {
		with, _ := unitOf(t, f, name)
		again, _ := unitOf(t, recorded, name)
		if with != again || !strings.Contains(with, "golden") {
			t.Errorf("%s with two recorders:\n%s\nwith one:\n%s", name, again, with)
		}
	}
	for _, name := range []string{"none.json", "../x.json", "packs"} {
		_, _, want := f.read(name, 10)
		if _, _, err := recorded.read(name, 10); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, wanted %v", name, err, want)
		}
	}
}

// change is one thing that can be done to the files of a pack.
type change struct {
	name string
	seen bool // by the pack that is recorded
	do   func(dir string) error
}

func changes() []change {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	var all []change
	for name := range beside {
		ours := strings.HasPrefix(name, "packs/a/") && !strings.Contains(name, "/deep/")
		all = append(all,
			change{"edit " + name, ours, func(dir string) error { return os.WriteFile(at(dir, name), []byte(`{"x": 1}`), 0o644) }},
			change{"turn a byte of " + name, ours, func(dir string) error {
				return os.WriteFile(at(dir, name), []byte(strings.Replace(beside[name], "{", "[", 1)), 0o644)
			}},
			change{"remove " + name, ours, func(dir string) error { return os.Remove(at(dir, name)) }},
			change{"put a folder in place of " + name, ours, func(dir string) error {
				return errors.Join(os.Remove(at(dir, name)), os.Mkdir(at(dir, name), 0o755))
			}},
			change{"touch " + name, false, func(dir string) error { return os.Chmod(at(dir, name), 0o600) }},
		)
	}
	for name, ours := range map[string]bool{
		"packs/a/golden/new.case.json": true, "packs/a/golden/two.compiled.json": true, "packs/a/new.pack.json": true,
		"packs/a/overlays/new.json": true, "packs/a/replay/new.record.json": true, "packs/c/new.json": false, "new.json": false,
	} {
		all = append(all, change{"add " + name, ours, func(dir string) error { return os.WriteFile(at(dir, name), []byte(`{}`), 0o644) }})
	}
	slices.SortFunc(all, func(a, b change) int { return strings.Compare(a.name, b.name) })
	return all
}

// A recording holds until something changes that it is about, and holds again once
// that is taken back.
func TestEveryChangeIsSeen(t *testing.T) {
	for _, c := range changes() {
		f, dir := tree(t, beside)
		before, rec := unitOf(t, f, "packs/a/pack.json")
		if !rec.Holds(f) {
			t.Fatal("the recording does not hold over the files that it is of")
		}
		if err := c.do(dir); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if rec.Holds(f) == c.seen {
			t.Errorf("%s: the recording holds: %v", c.name, !c.seen)
		}
		if !c.seen {
			if after, _ := unitOf(t, f, "packs/a/pack.json"); after != before {
				t.Errorf("%s: the recording holds, and the pack is another one", c.name)
			}
		}
		for name, content := range beside { // put everything back
			full := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(full); err == nil && info.IsDir() {
				if err := os.Remove(full); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(c.name, "add ") && !rec.Holds(f) {
			t.Errorf("%s, and back: the recording does not hold", c.name)
		}
	}
}

// What was looked at is kept as bytes, the same each time.
func TestRecordingAsBytes(t *testing.T) {
	f, _ := tree(t, beside)
	_, rec := unitOf(t, f, "packs/a/pack.json")
	_, same := unitOf(t, f, "packs/a/pack.json")
	src, err := rec.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := same.MarshalBinary(); !bytes.Equal(src, again) {
		t.Error("one pack has two recordings")
	}
	var back Recording
	if err := back.UnmarshalBinary(src); err != nil || !slices.Equal(back.facts, rec.facts) {
		t.Errorf("%v: %v, wanted %v", err, back.facts, rec.facts)
	}
	for i := range src {
		if err := new(Recording).UnmarshalBinary(src[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are a recording", i, len(src))
		}
	}
	if err := new(Recording).UnmarshalBinary(append(bytes.Clone(src), 0)); err == nil {
		t.Error("a byte more is a recording")
	}
}

// Bytes that are read as a recording are written back as they were, or at least as
// the same recording.
func FuzzRecording(f *testing.F) {
	for _, rec := range []Recording{{}, {[]fact{{look{lookRead, "a"}, answer{size: 7}}, {look{lookStat, ""}, answer{kind: os.ModeDir}}, {look{lookList, "b"}, answer{absent: true}}}}} {
		src, err := rec.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var rec, again Recording
		if rec.UnmarshalBinary(src) != nil {
			return
		}
		out, err := rec.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(out); err != nil || !slices.Equal(rec.facts, again.facts) {
			t.Errorf("%v: %v, wanted %v", err, again.facts, rec.facts)
		}
	})
}

// Several may look at a time.
func TestRecorderAtOnce(t *testing.T) {
	f, _ := tree(t, beside)
	_, want := unitOf(t, f, "packs/a/pack.json")
	recorded, recorder := f.Recorded()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := recorded.Unit("packs/a/pack.json", DefaultConfig()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if rec, ok := recorder.Recording(); !ok || !slices.Equal(rec.facts, want.facts) {
		t.Errorf("%v: %v, wanted %v", ok, rec.facts, want.facts)
	}
}
