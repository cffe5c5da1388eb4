// Package doctor looks for what keeps the gate of a repository from working, or leaves it
// open, in the workflows that are there.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// The doctor reads workflows as they are in the repository. It does not ask
// GitHub, so what is set there (branch protection, default permissions, what a
// reusable workflow does) is beyond it, and said to be.

// The severities of what the doctor says.
const (
	ailing = "error"   // the gate does not work, or is open
	advice = "warning" // it works, and less well or less safely than it could
	aside  = "note"    // what one should know
)

// severities returns them all, the gravest first.
func severities() []string { return []string{ailing, advice, aside} }

// symptom is one thing that the doctor names.
type symptom struct {
	Check    string `json:"check"`
	Severity string `json:"severity"` // error, warning or note
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Diagnosis is what the doctor says of one repository.
type Diagnosis struct {
	Version  int        `json:"version"`
	Result   string     `json:"result"` // pass, or fail where there is an error
	Symptoms []*symptom `json:"symptoms"`
	// Statuses are the names to require in branch protection, sorted.
	Statuses   []string     `json:"required_statuses"`
	NotChecked []notChecked `json:"not_checked"`
	// NotSeen is what decides too, and is not in the checkout.
	NotSeen []string `json:"not_seen"`
}

// notChecked is a part of the repository that the doctor could not look into.
type notChecked struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Examine reads the workflows of the git repository that a folder is in, or of the folder
// itself. Explain returns an error in the report's form.
func Examine(ctx context.Context, dir string, explain func(error) []model.Problem) (*Diagnosis, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, found, err := gating.Above(abs, filepath.FromSlash(workflowFolder), ".git")
	if err != nil {
		return nil, err
	}
	if !found {
		root = abs
	}
	files, err := repo.OpenFiles(root, gating.Display(root))
	if err != nil {
		return nil, err
	}
	defer files.Close() // only read from
	d := &doctoring{
		root: root, files: files, explain: explain, signing: map[*job]signing{},
		symptoms: []*symptom{}, statuses: []string{}, skipped: []notChecked{},
	}
	workflows, err := d.readWorkflows()
	if err != nil {
		return nil, err
	}
	d.lookAt(ctx, workflows)
	d.checkOwners(workflows)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return d.diagnosis(), nil
}

// doctoring is one run of the doctor over a repository.
type doctoring struct {
	root     string
	files    *repo.Files
	explain  func(error) []model.Problem
	signing  map[*job]signing // the jobs that sign
	symptoms []*symptom
	statuses []string
	skipped  []notChecked
	deciding []string // files that decide what is checked, published and run, relative to the root
}

// say adds a symptom of a value in a workflow; l may be without a line.
func (d *doctoring) say(severity, check string, l finding.Location, hint, format string, args ...any) {
	d.symptoms = append(d.symptoms, &symptom{
		Check: check, Severity: severity, File: l.File, Line: l.Start.Line, Column: l.Start.Column,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// diagnosis sums up: errors first, then by place.
func (d *doctoring) diagnosis() *Diagnosis {
	order := severities()
	slices.SortStableFunc(d.symptoms, func(a, b *symptom) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Check, b.Check), cmp.Compare(a.Message, b.Message),
		)
	})
	d.symptoms = slices.CompactFunc(d.symptoms, func(a, b *symptom) bool { return *a == *b })
	slices.Sort(d.statuses)
	out := &Diagnosis{Version: 1, Result: string(model.Passed), Symptoms: d.symptoms, Statuses: slices.Compact(d.statuses), NotChecked: d.skipped, NotSeen: unseen}
	if countOf(d.symptoms, ailing) > 0 {
		out.Result = string(model.Failed)
	}
	return out
}

func countOf(symptoms []*symptom, severity string) (n int) {
	for _, s := range symptoms {
		if s.Severity == severity {
			n++
		}
	}
	return n
}

// Write writes the diagnosis for a person, or as JSON.
func (r *Diagnosis) Write(w io.Writer, format string) error {
	if format == "json" {
		return model.WriteJSON(w, r)
	}
	var b strings.Builder
	for _, s := range r.Symptoms {
		b.WriteString(s.text())
	}
	for _, n := range r.NotChecked {
		fmt.Fprintf(&b, "%s: not checked: %s\n", render.Visible(n.File), render.Visible(n.Reason))
	}
	for _, name := range r.Statuses {
		fmt.Fprintf(&b, "require the status %q in the rules of the branch\n", render.Visible(name))
	}
	for _, what := range r.NotSeen {
		fmt.Fprintf(&b, "not seen from here: %s\n", what)
	}
	b.WriteString(r.sum())
	_, err := io.WriteString(w, render.Inert(b.String()))
	return err
}

// text returns place, severity and check, message, and what to do.
func (s *symptom) text() string {
	place := ""
	switch {
	case s.Line > 0:
		place = fmt.Sprintf("%s:%d:%d: ", render.Visible(s.File), s.Line, s.Column)
	case s.File != "":
		place = render.Visible(s.File) + ": "
	}
	text := fmt.Sprintf("%s%s %s: %s\n", place, s.Severity, s.Check, render.Visible(s.Message))
	if s.Hint != "" {
		text += fmt.Sprintf("  → %s\n", render.Visible(s.Hint))
	}
	return text
}

// sum returns the verdict and how many symptoms there are of each severity.
func (r *Diagnosis) sum() string {
	var counts []string
	for _, severity := range severities() {
		counts = append(counts, pack.Counted(countOf(r.Symptoms, severity), severity))
	}
	mark := "✓"
	if r.Result != string(model.Passed) {
		mark = "✗"
	}
	return fmt.Sprintf("%s %s: %s\n", mark, r.Result, strings.Join(counts, " · "))
}

// packsOf says what is wrong with config and packs as a step names them; nil for
// those of the repository itself.
func (d *doctoring) packsOf(ctx context.Context, s *step) {
	config, patterns := "", []string(nil)
	at := func(string) finding.Location { return finding.Location{File: d.files.Show(".")} }
	if s != nil {
		config, patterns, at = s.input("config"), s.lines("packs"), s.with
	}
	if strings.Contains(config+strings.Join(patterns, ""), "${{") {
		d.skipped = append(d.skipped, notChecked{File: s.node.Document().File, Reason: "config and packs are expressions, which only a run can resolve"})
		return
	}
	if config != "" {
		local := path.Clean(config)
		switch there, err := d.files.Exists(local); {
		case err != nil:
			d.say(ailing, "config", at("config"), "", "%v", err)
			return
		case !there || !filepath.IsLocal(local):
			d.say(ailing, "config", at("config"), "name it relative to the root of the repository", "there is no config %q in the repository", config)
			return
		}
		config = filepath.Join(d.root, filepath.FromSlash(config))
	}
	w, err := gating.Open(ctx, d.root, gating.Settings{Config: config, Packs: patterns})
	if err != nil {
		for _, p := range d.explain(err) {
			l := at("config")
			if p.File != "" {
				l = finding.Location{File: p.File, Start: finding.Position{Line: p.Line, Column: p.Column}}
			}
			d.say(ailing, "config", l, p.Hint, "%s", p.Message)
		}
		return
	}
	defer w.Close()
	d.decideIn(w)
	d.checkReviews(s, w.Config)
	for _, e := range w.Environments {
		if e.Unconfirmed.Value {
			d.say(advice, "unconfirmed-catalog", placeOf(e.Unconfirmed.Node, e.Document.Root), `remove "unconfirmed" once a person has read the lists`,
				"nobody has confirmed the catalog of environment %q: it lists what packs name, and nothing is checked against it", e.Name())
		}
	}
	if len(w.Packs) == 0 {
		d.say(ailing, "no-packs", at("packs"), "name the pack files in the config or in the input packs, for example packs/*/pack.json",
			"there is no pack here: looked for %s", strings.Join(w.Patterns, ", "))
	}
}

// placeOf returns where a value stands; that of the fallback where it is missing.
func placeOf(n, fallback *pack.Node) finding.Location {
	if n == nil {
		return fallback.Location()
	}
	return n.NameLocation()
}
