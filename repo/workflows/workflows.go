// Package workflows knows what the workflows of a repository run of packgate, and what of
// that differs between two versions of them.
package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Folder is where GitHub looks for workflows, and nowhere below it.
const Folder = ".github/workflows"

// Find returns the workflow files of a repository.
func Find(files *repo.Files) ([]string, error) {
	return files.Find(nil, Folder+"/*.yml", Folder+"/*.yaml")
}

// mostActions bounds the local actions of one repository that are looked into.
const mostActions = 100

// Gates are the jobs of a repository that run packgate, with what decides how they do.
type Gates struct {
	files   *repo.Files
	parts   map[part]stated
	texts   map[string]bool  // scalars of the jobs
	broken  map[string]bool  // workflows that cannot be read
	actions map[string]bool  // local ones that were looked into
	called  map[string]*file // by steps, and by one another
}

// part is one thing that decides how packgate runs.
type part struct {
	file string
	kind kind
	name string // of the job, the event or the member
}

type kind string

const (
	event   kind = "event"
	member  kind = "member"  // of a workflow, for all of its jobs
	job     kind = "job"     // without the pins of the actions that it uses
	version kind = "version" // of packgate in a job
	action  kind = "action"  // a local one
	script  kind = "script"  // a file that a step calls
	unread  kind = "unread"  // a file that speaks of packgate and is not understood
)

// stated is what a version says of a part, and where.
type stated struct {
	says string
	at   finding.Location
}

// Read reads the workflows of a repository, whose root the files begin at.
func Read(files *repo.Files) (*Gates, error) {
	g := &Gates{files: files, parts: map[part]stated{}, texts: map[string]bool{}, broken: map[string]bool{}, actions: map[string]bool{}, called: map[string]*file{}}
	names, err := Find(files)
	if unseen := new(repo.Unseen); err != nil && !errors.As(err, &unseen) {
		return nil, err
	}
	for _, name := range names {
		if err := g.workflow(name); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Has reports whether a job that runs packgate has a text, be it an input or an item of
// its matrix.
func (g *Gates) Has(text string) bool { return g.texts[text] }

func (g *Gates) workflow(name string) error {
	doc, err := g.files.YAML(name)
	if errors.Is(err, repo.ErrUse) {
		g.broken[name] = true
		return g.opaque(part{name, unread, ""})
	}
	if err != nil {
		return err
	}
	jobs := doc.Root.Get("jobs")
	if jobs == nil {
		return nil
	}
	gates := map[string]bool{}
	for _, m := range jobs.Members {
		if gates[m.Name], err = g.runs(m.Value); err != nil {
			return err
		}
	}
	needed(jobs, gates)
	for _, m := range jobs.Members {
		if gates[m.Name] {
			g.job(part{name, job, m.Name}, m.Value)
		}
	}
	if slices.Contains(slices.Collect(maps.Values(gates)), true) {
		g.setting(name, doc.Root)
	}
	return nil
}

// opaque adds a file as a whole, if it is about packgate.
func (g *Gates) opaque(p part) error {
	src, err := fs.ReadFile(g.files.Tree(), p.file)
	if err == nil && speaks(string(src)) {
		g.parts[p] = stated{string(pack.DigestOf(src)), finding.Location{File: g.files.Show(p.file)}}
	}
	return err
}

// speaks reports whether a text has to do with packgate.
func speaks(text string) bool { return strings.Contains(strings.ToLower(text), "packgate") }

// runs reports whether a job runs packgate, by itself or by a local action or workflow.
// These are looked into.
func (g *Gates) runs(n *pack.Node) (found bool, err error) {
	for text := range texts(n) {
		found = found || speaks(text)
		if !strings.HasPrefix(text, "./") {
			continue
		}
		local, err := g.local(path.Clean(text))
		if err != nil {
			return false, err
		}
		found = found || local
	}
	called, err := g.scripts(n, ".")
	return found || called, err
}

// local reports whether a local action or workflow runs packgate, and adds it if it does.
func (g *Gates) local(at string) (bool, error) {
	for _, name := range []string{at, path.Join(at, "action.yml"), path.Join(at, "action.yaml")} {
		p := part{name, action, ""}
		if _, known := g.parts[p]; known || g.actions[name] {
			return known, nil
		}
		if !fs.ValidPath(name) || !slices.Contains([]string{".yml", ".yaml"}, path.Ext(name)) || len(g.actions) >= mostActions {
			continue
		}
		if info, err := fs.Stat(g.files.Tree(), name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		g.actions[name] = true
		doc, err := g.files.YAML(name)
		switch {
		case errors.Is(err, repo.ErrUse):
			err = g.opaque(p)
		case err != nil:
			return false, err
		default:
			called, err := g.scripts(doc.Root, path.Dir(name))
			if err != nil {
				return false, err
			}
			for text := range texts(doc.Root) {
				if called || speaks(text) {
					g.parts[p] = stated{pack.CompactJSON(unpinned(doc.Root.Any(), nil)), finding.Location{File: doc.File}}
				}
			}
		}
		_, known := g.parts[p]
		return known, err
	}
	return false, nil
}

// needed adds the jobs that others wait for: where these are skipped, so are those.
func needed(jobs *pack.Node, gates map[string]bool) {
	for range jobs.Members {
		for _, m := range jobs.Members {
			if !gates[m.Name] {
				continue
			}
			for text := range texts(m.Value.Get("needs")) {
				if jobs.Get(text) != nil {
					gates[text] = true
				}
			}
		}
	}
}

func (g *Gates) job(p part, n *pack.Node) {
	for text := range texts(n) {
		g.texts[text] = true
	}
	var pins []string
	g.parts[p] = stated{pack.CompactJSON(unpinned(n.Any(), &pins)), n.NameLocation()}
	p.kind = version
	slices.Sort(pins)
	g.parts[p] = stated{strings.Join(slices.Compact(pins), ", "), n.NameLocation()}
}

// setting adds what holds for all jobs of a workflow.
func (g *Gates) setting(file string, root *pack.Node) {
	for _, name := range []string{"concurrency", "defaults", "env", "permissions"} {
		s := stated{at: finding.Location{File: g.files.Show(file)}}
		if n := root.Get(name); n != nil {
			s = stated{pack.CompactJSON(n.Any()), n.NameLocation()}
		}
		g.parts[part{file, member, name}] = s
	}
	on := root.Get("on")
	switch {
	case on == nil:
	case on.Kind == pack.Object:
		for _, m := range on.Members {
			g.parts[part{file, event, m.Name}] = stated{pack.CompactJSON(m.Value.Any()), m.Value.NameLocation()}
		}
	default:
		for text := range texts(on) {
			g.parts[part{file, event, text}] = stated{"null", on.Location()}
		}
	}
}

// texts yields the texts in a value, however deep they are.
func texts(n *pack.Node) func(func(string) bool) {
	return func(yield func(string) bool) {
		todo := []*pack.Node{n}
		for len(todo) > 0 {
			n := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; n == nil {
				continue
			}
			if n.Kind == pack.String && !yield(n.Text) {
				return
			}
			todo = append(todo, n.Items...)
			for _, m := range n.Members {
				todo = append(todo, m.Value)
			}
		}
	}
}

// unpinned returns a value without the pins of the actions that it uses. Those of packgate
// are added to a list.
func unpinned(v any, pins *[]string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unpinned(v[i], pins)
		}
	case map[string]any:
		for name := range v {
			text, ok := v[name].(string)
			if name != "uses" || !ok || strings.HasPrefix(text, "./") {
				v[name] = unpinned(v[name], pins)
				continue
			}
			at := cmp.Or(strings.LastIndex(text, "@")+1, strings.LastIndex(text, ":")+1)
			if at <= len("docker:") {
				continue
			}
			v[name] = text[:at]
			if pins != nil && speaks(text) {
				*pins = append(*pins, text[at:])
			}
		}
	}
	return v
}

// Difference is one way in which the run of packgate differs.
type Difference struct {
	At   finding.Location // in the later version, as far as that has it
	What string           // in words
}

// Compare returns what a later version runs otherwise than an earlier one. What only the
// later one has takes nothing back.
func Compare(before, after *Gates) (list []Difference) {
	gone := map[string]bool{}
	for _, p := range slices.SortedFunc(maps.Keys(before.parts), compareParts) {
		was := before.parts[p]
		is, there := after.parts[p]
		if there && is.says == was.says || gone[p.file] || !there && p.kind == version { // which is said of its job
			continue
		}
		d := Difference{At: finding.Location{File: after.files.Show(p.file)}}
		if there {
			d.At = is.at
		}
		switch _, err := fs.Stat(after.files.Tree(), p.file); {
		case err != nil:
			d.What, gone[p.file] = "the file, which runs packgate, is gone", true
		case after.broken[p.file] && p.kind != unread:
			d.What, gone[p.file] = "the file, which runs packgate, cannot be read", true
		default:
			d.What = p.words(was, is, there)
		}
		list = append(list, d)
	}
	return list
}

func compareParts(a, b part) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
}

// words says what became of a part.
func (p part) words(was, is stated, there bool) string {
	switch {
	case p.kind == event && !there:
		return fmt.Sprintf("packgate no longer runs on %q", p.name)
	case p.kind == event:
		return fmt.Sprintf("packgate runs on %q under other conditions", p.name)
	case p.kind == member:
		return fmt.Sprintf("%q, which holds for the job that runs packgate, differs", p.name)
	case p.kind == version:
		return fmt.Sprintf("the job %q runs packgate at %q and ran it at %q", p.name, is.says, was.says)
	case p.kind == job && !there:
		return fmt.Sprintf("the job %q no longer runs packgate", p.name)
	case p.kind == job:
		return fmt.Sprintf("the job %q, which runs packgate, differs", p.name)
	}
	return "the file, which runs packgate, differs"
}
