package gating

import (
	"bytes"
	"encoding/asn1"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/gittest"
)

// No single edit of a file that gating a pack reads leaves the report what it was, unless
// it says the same in other words.
func TestNoEditIsUnseen(t *testing.T) {
	const edits = 1
	folders := []string{"packs/linked", "packs/finops"}
	if testing.Short() {
		folders = folders[:1]
	}
	dir := gittest.Committed(t, linkedFiles(t))
	for _, folder := range folders {
		before, read := reported(t, dir, folder)
		if len(read) < 5 {
			t.Errorf("gating %s reads %q alone", folder, read)
		}
		for _, name := range read {
			file := filepath.Join(dir, filepath.FromSlash(name))
			was, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range edits {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(len(was))))
				what, now := edited(t, r, name, was)
				if bytes.Equal(was, now) {
					continue
				}
				if err := os.WriteFile(file, now, 0o644); err != nil {
					t.Fatal(err)
				}
				if after, _ := reported(t, dir, folder); after == before {
					t.Errorf("%s: %s of %s is not seen", folder, what, name)
				}
			}
			if err := os.WriteFile(file, was, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if after, _ := reported(t, dir, folder); after != before {
			t.Errorf("%s: all is as it was, and the report is another one", folder)
		}
	}
}

// linkedFiles changes the example so that a pack is in a folder behind a link, another one
// is beside it, and a file beside it is a link.
func linkedFiles(t *testing.T) func(dir string) {
	return func(dir string) {
		shelf := filepath.Join(dir, "shelf")
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.CopyFS(shelf, os.DirFS(filepath.Join(dir, "packs", "support"))))
		src, err := os.ReadFile(filepath.Join(shelf, "pack.json"))
		must(err)
		for name, id := range map[string]string{"pack.json": "ctxpack.linked", "other.pack.json": "ctxpack.beside"} {
			must(os.WriteFile(filepath.Join(shelf, name), bytes.ReplaceAll(src, []byte("ctxpack.support"), []byte(id)), 0o644))
		}
		must(os.Rename(filepath.Join(shelf, "tool-surface.json"), filepath.Join(dir, "rows.json")))
		must(os.Symlink("../rows.json", filepath.Join(shelf, "tool-surface.json")))
		must(os.Symlink("../shelf", filepath.Join(dir, "packs", "linked")))
		card := filepath.Join(shelf, "scorecards", "acme-evals-7.json")
		src, err = os.ReadFile(card)
		must(err)
		must(os.WriteFile(card+".sigstore.json", fmt.Appendf(nil, `{"signs": %q}`, pack.DigestOf(src)), 0o644))
		name := filepath.Join(dir, repo.ConfigName)
		src, err = os.ReadFile(name)
		must(err)
		must(os.WriteFile(name, append(src, "evaluator: {workflow: acme/evals/.github/workflows/measure.yml@refs/heads/main}\n"...), 0o644))
	}
}

// naming is an evaluator whose signature names the digest of what it signs.
type naming struct{}

// Signed says why a bundle does not name the content.
func (naming) Signed(content, bundle []byte) error {
	var b struct{ Signs string }
	if err := json.Unmarshal(bundle, &b); err != nil || b.Signs != string(pack.DigestOf(content)) {
		return fmt.Errorf("it signs %s (%v)", b.Signs, err)
	}
	return nil
}

// sum finds digests, which differ with every byte.
var sum = regexp.MustCompile(`[0-9a-f]{12,64}`)

// reported returns the report of the packs of a folder against the last commit, without
// digests, and the files that were read for it.
func reported(t *testing.T, dir, folder string) (report string, read []string) {
	t.Helper()
	w, base, err := OpenWith(t.Context(), filepath.Join(dir, filepath.FromSlash(folder)), "HEAD", Settings{
		Evaluators: func(repo.Identity, []byte) (gate.Evaluator, error) { return naming{}, nil },
	})
	if err != nil {
		return err.Error(), nil
	}
	defer w.Close()
	defer base.Close()
	files, recorder := w.Files.Recorded()
	w.Files = files
	r := testRun(FailOnError)
	if err := r.All(t.Context(), Inputs{Workspace: w, Base: base}); err != nil {
		return err.Error(), nil
	}
	r.Settle()
	var b strings.Builder
	if err := model.JSON(&b, r.Report); err != nil {
		t.Fatal(err)
	}
	for _, name := range contentsOf(t, recorder) {
		if strings.HasPrefix(name, folder+"/") {
			read = append(read, name)
		}
	}
	return sum.ReplaceAllString(b.String(), "…"), append(read, repo.ConfigName, "environments/prod.json")
}

// contentsOf returns the files of which a recorder has the content.
func contentsOf(t *testing.T, recorder *repo.Recorder) (names []string) {
	t.Helper()
	recording, ok := recorder.Recording()
	if !ok {
		t.Fatal("there is no recording")
	}
	src, err := recording.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var facts []struct {
		How, Kind, Size int64
		Absent          bool
		Name, Digest    []byte
	}
	if _, err := asn1.Unmarshal(src, &facts); err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if f.How == 'r' && !f.Absent {
			names = append(names, string(f.Name))
		}
	}
	return names
}

// edited returns the content of a file with one edit, and says which.
func edited(t *testing.T, r *rand.Rand, name string, src []byte) (what string, now []byte) {
	t.Helper()
	if path.Ext(name) != ".json" {
		return "a member more", fmt.Appendf(slices.Clone(src), "shared_packs: [ctxpack.x%d]\n", r.IntN(9))
	}
	doc, faults := pack.Read(name, src, pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%s: %v", name, faults[0].Message)
	}
	var values []*pack.Node
	for todo := []*pack.Node{doc.Root}; len(todo) > 0; {
		n := todo[0]
		todo = todo[1:]
		if n != doc.Root {
			values = append(values, n)
		}
		todo = append(todo, n.Items...)
		for _, m := range n.Members {
			todo = append(todo, m.Value)
		}
	}
	at := values[r.IntN(len(values))]
	op := finding.Operation{Op: "replace", Path: at.Pointer()}
	switch kind := r.IntN(4); {
	case kind == 0:
		op.Op = "remove"
	case at.Kind == pack.String:
		op.Value = pack.CompactJSON(at.Text + "x")
	case at.Kind == pack.Number:
		op.Value = pack.CompactJSON(at.Number + 1)
	case at.Kind == pack.Bool:
		op.Value = pack.CompactJSON(!at.Bool)
	default:
		op.Value = `"x"`
	}
	now, err := pack.Edit(doc, []finding.Operation{op})
	if err != nil {
		t.Fatal(err)
	}
	return op.Op + " " + op.Path, now
}

// Of a change no file is read that it does not bring and that belongs to no pack.
func TestNoFileOfOthersIsRead(t *testing.T) {
	dir := gittest.Committed(t, func(dir string) {
		for _, name := range []string{"a.yaml", "b.yaml"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("pack_meta: {}\npolicy_layer: {}\ntooling_layer: {}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
	w, base, err := OpenWith(t.Context(), dir, "HEAD", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer base.Close()
	change, err := base.Change(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change.names["b.yaml"] = github.Modified
	files, recorder := w.Files.Recorded()
	w.Files = files
	found, err := Inputs{Workspace: w, Base: base}.overlooked(t.Context(), change)
	if err != nil || len(found) != 1 || found[0].Location.File != w.Files.Show("b.yaml") {
		t.Errorf("found are %v, and the error is %v", found, err)
	}
	if read := contentsOf(t, recorder); !slices.Equal(read, []string{"b.yaml"}) {
		t.Errorf("%q was read", read)
	}
}
