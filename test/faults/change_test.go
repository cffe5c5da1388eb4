//go:build unix

package faults_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// entry returns what a report says of the support pack, and its digest; nothing where
// it says nothing of it.
func entry(t *testing.T, out string) (text, digest string) {
	t.Helper()
	var r struct{ Packs []json.RawMessage }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("no whole report: %v\n%s", err, out)
	}
	for _, raw := range r.Packs {
		var p struct{ Path, Digest string }
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if p.Path == supportPack {
			return string(raw), p.Digest
		}
	}
	return "", ""
}

// What is said of a pack that somebody writes at the same time is said of one of its
// versions: each file is read once, and what was read in the middle of a change is not
// judged.
func TestChangedWhileRead(t *testing.T) {
	d := newDrill(t)
	name := filepath.Join(d.dir, supportPack)
	one, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(one, []byte(`"idempotency_key": {`), []byte(`"order_id": {`), 1)
	want := map[string]string{} // by digest
	for _, version := range [][]byte{one, other} {
		d.write(t, supportPack, string(version))
		_, out, _ := d.run(t, "", "check", "--format", "json")
		text, digest := entry(t, out)
		want[digest] = text
	}
	if len(want) != 2 {
		t.Fatalf("%d versions, wanted two", len(want))
	}
	beside := name + ".new"
	ways := map[string]func() error{
		"rewritten": func() error {
			return errors.Join(os.WriteFile(name, one, 0o644), os.WriteFile(name, other, 0o644))
		},
		"moved there": func() error {
			return errors.Join(os.WriteFile(beside, one, 0o644), os.Rename(beside, name), os.WriteFile(beside, other, 0o644), os.Rename(beside, name))
		},
		"removed": func() error { return errors.Join(os.Remove(name), os.WriteFile(name, one, 0o644)) },
		"a folder": func() error {
			return errors.Join(os.Remove(name), os.Mkdir(name, 0o755), os.Remove(name), os.WriteFile(name, one, 0o644))
		},
		"a pipe": func() error {
			return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o644), os.Remove(name), os.WriteFile(name, one, 0o644))
		},
	}
	for way, change := range ways {
		d.write(t, supportPack, string(one))
		stop, stopped := make(chan struct{}), make(chan error)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if err := change(); err != nil {
					stopped <- err
					return
				}
			}
		}()
		for range 4 {
			code, out, problems := d.run(t, "", "check", "--format", "json")
			text, digest := entry(t, out)
			if strings.Contains(problems, "goroutine ") || code < 0 || code > 4 {
				t.Fatalf("%s: exit status %d\n%s", way, code, problems)
			}
			if digest != "" && want[digest] != text {
				t.Errorf("%s: the report is of no version of the pack:\n%s", way, text)
			}
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Fatalf("%s: %v", way, err)
		}
	}
}

// A pipe or a device in the place of a file is refused at once.
func TestNoRegularFile(t *testing.T) {
	for _, name := range []string{supportPack, "packs/support/tool-surface.json", "packs/support/golden/refund-small.case.json", "packs/support/golden/refund-small.compiled.json", ".packgate.yaml", "environments/prod.json"} {
		d := newDrill(t)
		if err := errors.Join(os.Remove(filepath.Join(d.dir, name)), syscall.Mkfifo(filepath.Join(d.dir, name), 0o644)); err != nil {
			t.Fatal(err)
		}
		code, _, problems := d.run(t, "", "check")
		if code != 2 || !strings.Contains(problems, name+": this is not a regular file") {
			t.Errorf("%s: exit status %d; wanted 2 and that it is no file\n%s", name, code, problems)
		}
	}
}
