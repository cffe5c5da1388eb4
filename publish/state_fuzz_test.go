package publish

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/contextosai/packgate/publish/registry"
)

// kept returns what a run that was cut off would have kept of each pack of the
// examples, with the artifact that it is of.
func kept(f *testing.F) (artifacts []*registry.Artifact, states [][]byte) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("..", "examples", "*", "packs", "*", "pack.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no packs to begin with (%v)", err)
	}
	w := worldOf(f, nil, "oci:./registry", f.TempDir())
	state := &StateFolder{folder: f.TempDir()}
	for _, file := range files {
		content, err := os.ReadFile(file)
		w.must(err)
		c := candidate("1.0.0", "")
		c.Content = content
		a, err := registry.NewArtifact(c.Pack, c.Version, c.Content)
		w.must(err)
		bundle, err := w.signer.Sign(context.Background(), w.statement(c, a))
		w.must(err)
		path, err := state.save(saved{Pack: c.name(), Manifest: a.Digest, Bundle: bundle, Report: c.Report})
		w.must(err)
		source, err := os.ReadFile(path)
		w.must(err)
		artifacts, states = append(artifacts, a), append(states, source)
	}
	return artifacts, states
}

// FuzzState holds of any bytes in the place of saved state: they are used where they
// are of this version and this manifest alone, else there is one line that says why
// not; what is used is written again as what reads the same; and where a bundle in it
// verifies, it is about what was signed.
func FuzzState(f *testing.F) {
	artifacts, states := kept(f)
	for _, source := range states {
		f.Add(source)
		f.Add(source[:len(source)/2])
		f.Add(bytes.Replace(source, []byte("v1"), []byte("v0"), 1))
		f.Add(bytes.Replace(source, []byte(`"bundle":"`), []byte(`"bundle":"AAAA`), 1))
	}
	f.Add([]byte(`{"format": "packgate.publish-state.v1", "format": "\u001b[31m\n"}`))
	f.Add([]byte(`{"format": 7}`))
	a, name := artifacts[0], support+"@1.0.0"
	verifier := verifierOf(f, signerOf(f, "trusted"))
	state := &StateFolder{folder: f.TempDir()}
	path, err := state.file(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 1<<16 {
			return
		}
		write(t, path, source)
		got, note := state.load(name, a)
		if (got == nil) == (note == "") {
			t.Fatalf("used %v, and said %q", got, note)
		}
		if got == nil {
			if strings.ContainsAny(note, "\n\r\x1b") || !utf8.ValidString(note) || len(note) > 2*len(source)+1000 {
				t.Errorf("said %q", note)
			}
			return
		}
		if got.Pack != name || got.Manifest != a.Digest || got.Format != stateFormat {
			t.Errorf("state of %q with manifest %q is used", got.Pack, got.Manifest)
		}
		if _, err := state.save(*got); err != nil {
			t.Fatal(err)
		}
		if again, note := state.load(name, a); !reflect.DeepEqual(again, got) {
			t.Errorf("written again it reads %+v, not %+v (%s)", again, got, note)
		}
		v, err := verifier.Verify(got.Bundle)
		if err == nil && !slices.ContainsFunc(artifacts, func(a *registry.Artifact) bool { return a.Digest == v.Statement.Version().Manifest }) {
			t.Errorf("a bundle about %q verifies, which nobody signed", v.Statement.Version().Manifest)
		}
	})
}
