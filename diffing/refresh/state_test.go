package refresh_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// files are the texts of a repository by name.
type files map[string][]byte

const (
	support = "packs/support/pack.json"
	sales   = "packs/sales/pack.json" // the support pack under another id: all that can be shared is
	finops  = "packs/finops/pack.json"
	card    = "packs/support/scorecards/acme-evals-7.json"
	prod    = "environments/prod.json"
	config  = ".packgate.yaml"
)

// repository returns the example repository with the pack of sales.
func repository(t testing.TB) files {
	t.Helper()
	all := files{}
	for _, name := range []string{support, finops, card, prod, config} {
		src, err := os.ReadFile(filepath.Join("../../examples/acme-support", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = src
	}
	all[sales] = edited(t, sales, all[support], replace("/pack_meta/pack_id", `"ctxpack.sales"`))
	return all
}

func replace(path, value string) finding.Operation {
	return finding.Operation{Op: "replace", Path: path, Value: value}
}

func add(path, value string) finding.Operation {
	return finding.Operation{Op: "add", Path: path, Value: value}
}

func remove(path string) finding.Operation { return finding.Operation{Op: "remove", Path: path} }

func edited(t testing.TB, name string, src []byte, operations ...finding.Operation) []byte {
	t.Helper()
	doc, _ := pack.Read(name, src, pack.DefaultLimits())
	out, err := pack.Edit(doc, operations)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// with returns the files with one of them edited.
func (f files) with(t testing.TB, name string, operations ...finding.Operation) files {
	t.Helper()
	return f.put(name, edited(t, name, f[name], operations...))
}

// put returns the files with one of them replaced or added; nil removes it.
func (f files) put(name string, src []byte) files {
	g := maps.Clone(f)
	g[name] = src
	if src == nil {
		delete(g, name)
	}
	return g
}

// state reads the files.
func (f files) state(t testing.TB) refresh.State {
	t.Helper()
	var s refresh.State
	for _, name := range slices.Sorted(maps.Keys(f)) {
		doc, _ := pack.Read(name, f[name], pack.DefaultLimits())
		switch {
		case name == config:
			c, err := repo.ParseConfig(config, f[name])
			if err != nil {
				t.Fatal(err)
			}
			s.Config = c
		case strings.HasPrefix(name, "environments/"):
			e := &repo.Environment{Document: doc}
			pack.Decode(doc.Root, e)
			s.Environments = append(s.Environments, e)
		case strings.HasSuffix(name, "/pack.json"):
			u := &repo.Unit{Name: name, Document: doc, Pack: pack.New(doc)}
			for _, other := range slices.Sorted(maps.Keys(f)) {
				if dir := path.Dir(name) + "/scorecards/"; strings.HasPrefix(other, dir) {
					d, _ := pack.Read(other, f[other], pack.DefaultLimits())
					u.Files = append(u.Files, &repo.SideFile{Kind: "scorecard", Name: other, Document: d})
				}
			}
			s.Packs = append(s.Packs, refresh.PackOf(u))
		}
	}
	return s
}

// triggers returns the triggers between two repositories, one a line.
func triggers(t testing.TB, base, head files) []string {
	t.Helper()
	var lines []string
	for _, x := range refresh.Triggers(base.state(t), head.state(t)) {
		lines = append(lines, line(x))
	}
	return lines
}

func line(x refresh.Trigger) string {
	at := x.File
	if x.Path != "" {
		at += " " + x.Path
	}
	return path.Base(path.Dir(x.Pack)) + ": " + string(x.Kind) + ": " + x.What + " (" + at + ")"
}
