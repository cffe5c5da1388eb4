package doctor

import (
	"cmp"
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/workflows"
	"github.com/contextosai/packgate/report/render"
)

// What the doctor reads of a workflow: its events, the jobs that run packgate, and
// their steps, as GitHub documents them ("Workflow syntax for GitHub Actions").

const workflowFolder = workflows.Folder

// workflow is one workflow file.
type workflow struct {
	file string // as messages show it
	root *pack.Node
	on   *pack.Node
	jobs []*job
}

// job is one job of a workflow.
type job struct {
	workflow *workflow
	id       string
	node     *pack.Node
	steps    []*step
	gates    []*step // that run packgate, and do more than link what another one has written

	reviewed bool // a config that a step of it uses names who has to approve
}

// step is one step of a job.
type step struct {
	job  *job
	node *pack.Node
	uses string // the action, as it is written; "" for a script
}

// RunsPackgate reports whether a job of a workflow runs packgate. A job whose steps all
// name a config of one's own, or comment alone, does not count, nor does one that audits or signs
// timestamps; nil is for none.
func RunsPackgate(doc *pack.Document, own func(config string) bool) bool {
	return slices.ContainsFunc(newWorkflow(doc, false).jobs, func(j *job) bool {
		if own != nil && !slices.ContainsFunc(j.gates, func(s *step) bool { return !s.comments() && !own(s.input("config")) }) {
			return false
		}
		return slices.ContainsFunc(j.gates, func(s *step) bool { return s.signs() || !s.keeps() }) || j.scripted()
	})
}

// readWorkflows reads the workflows of the repository.
func (d *doctoring) readWorkflows() (list []*workflow, err error) {
	names, err := workflows.Find(d.files)
	if err != nil {
		return nil, err
	}
	own := d.isOwn()
	for _, name := range names {
		doc, err := d.files.YAML(name)
		var problem *repo.Problem
		if errors.As(err, &problem) {
			d.skipped = append(d.skipped, notChecked{File: d.files.Show(name), Reason: "it cannot be read: " + problem.Error()})
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, newWorkflow(doc, own))
	}
	return list, nil
}

// isOwn reports whether the repository is that of the action itself.
func (d *doctoring) isOwn() bool {
	if there, err := d.files.Exists("action.yml"); !there || err != nil {
		return false
	}
	doc, err := d.files.YAML("action.yml")
	return err == nil && textOf(doc.Root.Get("name")) == "packgate"
}

// newWorkflow reads a workflow. Own says that the repository is packgate's own, which
// runs its action from the checkout.
func newWorkflow(doc *pack.Document, own bool) *workflow {
	w := &workflow{file: doc.File, root: doc.Root, on: doc.Root.Get("on")}
	jobs := doc.Root.Get("jobs")
	if jobs == nil {
		return w
	}
	for _, m := range jobs.Members {
		j := &job{workflow: w, id: m.Name, node: m.Value}
		if steps := m.Value.Get("steps"); steps != nil {
			for _, n := range steps.Items {
				s := &step{job: j, node: n, uses: textOf(n.Get("uses"))}
				j.steps = append(j.steps, s)
				if (ours().MatchString(s.uses) || own && s.uses == "./") && s.input("command") != github.CommandLink {
					j.gates = append(j.gates, s)
				}
			}
		}
		w.jobs = append(w.jobs, j)
	}
	return w
}

// textOf returns a scalar as it is written; "" for what is none.
func textOf(n *pack.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == pack.Bool:
		return strconv.FormatBool(n.Bool)
	case n.Kind == pack.String || n.Kind == pack.Number:
		return n.Text
	}
	return ""
}

// textsOf returns a list of texts, or the one text that may stand for a list.
func textsOf(n *pack.Node) (texts []string) {
	if n == nil {
		return nil
	}
	if n.Kind != pack.Array {
		return []string{textOf(n)}
	}
	for _, item := range n.Items {
		texts = append(texts, textOf(item))
	}
	return texts
}

// membersOf returns the names in an object, or the texts that may stand for one.
func membersOf(n *pack.Node) (names []string) {
	if n == nil || n.Kind != pack.Object {
		return textsOf(n)
	}
	for _, m := range n.Members {
		names = append(names, m.Name)
	}
	return names
}

// itemsOf returns the items of a list; none of what is no list.
func itemsOf(n *pack.Node) []*pack.Node {
	if n == nil || n.Kind != pack.Array {
		return nil
	}
	return n.Items
}

// event returns the value of an event that starts the workflow; ok is false where
// it does not. An event without settings has no value that says anything.
func (w *workflow) event(name string) (settings *pack.Node, ok bool) {
	if w.on == nil {
		return nil, false
	}
	if w.on.Kind == pack.Object {
		settings = w.on.Get(name)
		return settings, settings != nil
	}
	return nil, slices.Contains(textsOf(w.on), name)
}

// startedBy returns the first of some events that starts the workflow; "" where none does.
func (w *workflow) startedBy(events ...string) string {
	for _, name := range events {
		if _, ok := w.event(name); ok {
			return name
		}
	}
	return ""
}

// place returns where the workflow says what starts it.
func (w *workflow) place() finding.Location { return placeOf(w.on, w.root) }

// name returns what GitHub calls the workflow.
func (w *workflow) name() string {
	return cmp.Or(textOf(w.root.Get("name")), workflowFolder+"/"+path.Base(w.file))
}

// status returns the name of the status of a job; ok is false where only a run knows it.
func (j *job) status() (name string, ok bool) {
	name = j.id
	if n := j.node.Get("name"); n != nil {
		name = textOf(n)
	}
	return name, !strings.Contains(name, "${{") && j.node.Get("strategy").Get("matrix") == nil
}

// place returns where the job begins: at its name.
func (j *job) place() finding.Location { return j.node.NameLocation() }

// runs returns the steps of a job that run an action, owner/name.
func (j *job) runs(action string) (steps []*step) {
	for _, s := range j.steps {
		name, _, _ := strings.Cut(s.uses, "@")
		if strings.EqualFold(name, action) {
			steps = append(steps, s)
		}
	}
	return steps
}

// ours finds the action wherever it is kept: a fork or a mirror has its name too.
var ours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(docker://\S+/|[\w.-]+/)packgate([@:]\S*)?$`) })

// script finds a shell script that runs the gate.
var script = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)\bpackgate\s+(action|check)\b`) })

// scripted reports whether a script of the job runs the gate.
func (j *job) scripted() bool {
	return slices.ContainsFunc(j.steps, func(s *step) bool { return script().MatchString(textOf(s.node.Get("run"))) })
}

// helps reports whether a script of the job runs packgate, be it for other jobs alone.
func (j *job) helps() bool {
	return slices.ContainsFunc(j.steps, func(s *step) bool {
		run := textOf(s.node.Get("run"))
		return merging().MatchString(run) || installs().MatchString(run)
	})
}

// merging finds a shell script that puts the reports of shards together.
var merging = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)\bpackgate\s+merge\b`) })

// sharded reports whether a job gates one part of the packs alone.
func (j *job) sharded() bool {
	return slices.ContainsFunc(j.gates, func(s *step) bool { return s.input("shard") != "" })
}

// mergers returns the jobs that need a job and put the reports of its shards together.
func (j *job) mergers() (jobs []*job) {
	for _, other := range j.workflow.jobs {
		merges := slices.ContainsFunc(other.steps, func(s *step) bool { return merging().MatchString(textOf(s.node.Get("run"))) })
		if merges && slices.Contains(textsOf(other.node.Get("needs")), j.id) {
			jobs = append(jobs, other)
		}
	}
	return jobs
}

// leavesReport reports whether a job uploads what the second stage looks for: the JSON
// report alone, also after the gate has failed.
func (j *job) leavesReport() bool {
	return slices.ContainsFunc(j.runs("actions/upload-artifact"), func(s *step) bool {
		condition := textOf(s.node.Get("if"))
		return s.input("name") == github.ReportArtifact && slices.Contains([]string{render.SummaryFile, render.JSONFile}, path.Base(s.input("path"))) && len(s.lines("path")) == 1 &&
			(strings.Contains(condition, "always()") || strings.Contains(condition, "!cancelled()"))
	})
}

// input returns what the step gives to an input of its action.
func (s *step) input(name string) string {
	return strings.TrimSpace(textOf(s.node.Get("with").Get(name)))
}

// lines returns an input that holds one item a line.
func (s *step) lines(name string) (items []string) {
	for line := range strings.Lines(s.input(name)) {
		if line = strings.TrimSpace(line); line != "" {
			items = append(items, line)
		}
	}
	return items
}

// with returns where the step gives an input; where it stands itself if it does not.
func (s *step) with(name string) finding.Location {
	return placeOf(s.node.Get("with").Get(name), s.node)
}

// place returns where the step names its action, or begins.
func (s *step) place() finding.Location {
	if n := s.node.Get("uses"); n != nil {
		return n.Location()
	}
	return s.node.Location()
}

// comments reports whether the step runs the second stage.
func (s *step) comments() bool {
	_, afterRun := s.job.workflow.event("workflow_run")
	return s.input("command") == github.CommandComment || s.input("command") == "" && afterRun
}

// grants is what a job lets its token do.
type grants struct {
	node  *pack.Node // where it is said; nil where nothing is
	all   string     // read or write, where everything is granted alike
	scope map[string]string
}

// grants returns the permissions of a job: its own, or else those of the workflow.
func (j *job) grants() grants {
	n := cmp.Or(j.node.Get("permissions"), j.workflow.root.Get("permissions"))
	g := grants{node: n, scope: map[string]string{}}
	if n == nil || n.Kind != pack.Object {
		g.all = strings.TrimSuffix(textOf(n), "-all")
		return g
	}
	for _, m := range n.Members {
		g.scope[m.Name] = textOf(m.Value)
	}
	return g
}

// may reports whether the token may read or write a scope, as far as it is said.
func (g grants) may(scope, access string) bool {
	have := g.all + g.scope[scope] // one of the two is empty
	return have == "write" || have == access
}
