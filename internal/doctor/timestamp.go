package doctor

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// What the doctor checks of schedules: what publishes has none, and what signs timestamps has one
// that is often enough, an identity of its own, and nothing more.

// stamps reports whether the step signs timestamps.
func (s *step) stamps() bool { return s.input("command") == github.CommandTimestamp }

// checkSchedule looks for a schedule beside a job that signs what is published.
func (d *doctoring) checkSchedule(w *workflow) {
	if settings, ok := w.event(github.EventSchedule); ok {
		d.say(ailing, "publishing-schedule", placeOf(settings, w.on), "move the job that runs on a schedule to a workflow file of its own",
			"GitHub disables a workflow that has a schedule after 60 days without activity, and then nobody can start it to revoke a version or roll an environment back")
	}
}

// checkTimestamps looks at the workflows that sign timestamps, and at those that configs name.
func (d *doctoring) checkTimestamps(workflows []*workflow) {
	named := map[string]bool{}
	for _, c := range d.configs(workflows) {
		if c.Publish.Freshness.Node != nil {
			d.checkFreshness(c, workflows, named)
		}
	}
	for _, w := range workflows {
		if job := w.stamper(); job != nil && !named[w.base()] {
			d.say(aside, "timestamp", job.place(), "name it in publish.freshness of the config, or remove it",
				"the job %q signs timestamps, and no config trusts them", job.id)
		}
	}
}

// configs returns the configs of the repository and of the steps that name one. What is wrong with
// one is said elsewhere.
func (d *doctoring) configs(workflows []*workflow) (list []*repo.Config) {
	names := map[string]bool{"": true}
	for _, w := range workflows {
		for _, j := range w.jobs {
			for _, s := range j.gates {
				names[s.input("config")] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if c, err := d.files.Config(name); err == nil && !strings.Contains(name, "${{") {
			list = append(list, c)
		}
	}
	return list
}

// base returns the name of the file of a workflow, without its folder.
func (w *workflow) base() string { return path.Base(w.file) }

// stamper returns the first job that signs timestamps; nil for none.
func (w *workflow) stamper() *job {
	i := slices.IndexFunc(w.jobs, func(j *job) bool { return slices.ContainsFunc(j.gates, (*step).stamps) })
	if i < 0 {
		return nil
	}
	return w.jobs[i]
}

// checkFreshness looks at the workflow that a config trusts for timestamps.
func (d *doctoring) checkFreshness(c *repo.Config, workflows []*workflow, named map[string]bool) {
	f := c.Publish.Freshness
	repository, rest, _ := strings.Cut(f.WorkflowURI(), "/.github/workflows/")
	name, _, _ := strings.Cut(rest, "@")
	at := placeOf(f.Workflow.Node, f.Node)
	if publisher := c.Publish.Identity.RepositoryURI(); name == "" || publisher != "" && publisher != repository {
		d.skipped = append(d.skipped, notChecked{File: at.File, Reason: "the workflow of publish.freshness is in another repository than the one that publishes"})
		return
	}
	named[name] = true
	i := slices.IndexFunc(workflows, func(w *workflow) bool { return w.base() == name })
	if i < 0 {
		d.say(ailing, "timestamp", at, "write it with packgate init, or name the one that signs timestamps",
			"publish.freshness names the workflow %q, which is not in the repository: no version can be loaded once the last timestamp is too old", name)
		return
	}
	w := workflows[i]
	d.checkRefresh(w, f)
	job := w.stamper()
	if job == nil {
		d.say(ailing, "timestamp", w.place(), "add a job that runs packgate with command: timestamp", "publish.freshness names this workflow, and it does not sign timestamps")
		return
	}
	d.checkStamper(job, c)
}

// checkRefresh looks at what starts a workflow that signs timestamps, and how often.
func (d *doctoring) checkRefresh(w *workflow, f repo.Freshness) {
	for _, m := range membersOf(w.on) {
		if !slices.Contains(github.TimestampEvents(), m) {
			d.say(advice, "timestamp", w.place(), "remove it", "%s starts the workflow that signs timestamps, which only a schedule or a person should start", m)
		}
	}
	if w.startedBy(github.EventWorkflowDispatch) == "" {
		d.say(advice, "timestamp", w.place(), "add workflow_dispatch to the events", "nobody can start the workflow that signs timestamps by hand once GitHub has disabled it or a run has failed")
	}
	schedule, ok := w.event(github.EventSchedule)
	if !ok {
		d.say(ailing, "timestamp", w.place(), "add schedule to the events", "no schedule starts the workflow that signs timestamps, so the registry becomes stale some time after the last run")
		return
	}
	times, err := f.Times()
	if err != nil {
		return // the config is said to be wrong elsewhere
	}
	var lines []cron
	for _, item := range itemsOf(schedule) {
		line := textOf(item.Get("cron"))
		c, ok := parseCron(line)
		if !ok {
			d.say(ailing, "timestamp", item.Location(), "write five fields, such as 41 */6 * * *", "%q is not a schedule", line)
			return
		}
		lines = append(lines, c)
	}
	switch gap, ok := longestGap(lines); {
	case !ok || gap >= times.MaxAge:
		d.say(ailing, "timestamp", placeOf(schedule, w.on), "start it as often as publish.freshness.refresh says: "+times.Refresh.String(),
			"more time may pass between two timestamps than publish.freshness.max_age, which is %s", times.MaxAge)
	case gap > times.Refresh:
		d.say(advice, "timestamp", placeOf(schedule, w.on), "start it as often as publish.freshness.refresh says: "+times.Refresh.String(),
			"up to %s pass between two timestamps, and publish.freshness.refresh is %s", gap, times.Refresh)
	}
}

// checkStamper looks at the job that signs timestamps, and at what else its identity could sign.
func (d *doctoring) checkStamper(j *job, c *repo.Config) {
	g := j.grants()
	if g.node == nil {
		d.say(ailing, "permissions", j.place(), "set permissions: {contents: read, id-token: write, packages: write} for the job",
			"the job %q may not request an identity token to sign with, which no repository grants by default", j.id)
	}
	d.needs(j, g, need{ailing, "id-token", "write", "request an identity token to sign with"})
	d.needs(j, g, readsRepository)
	for _, s := range j.gates {
		if registry, _ := d.registryOf(s); s.stamps() && ofGitHub().MatchString(registry) {
			d.needs(j, g, need{ailing, "packages", "write", "push to " + registry})
		}
	}
	for _, scope := range slices.Sorted(maps.Keys(g.scope)) {
		if g.scope[scope] == "write" && scope != "id-token" && scope != "packages" {
			d.say(advice, "permissions", g.node.NameLocation(), "remove "+scope+": write", "the job %q may write %s, which a timestamp does not need", j.id, scope)
		}
	}
	if g.all == "write" {
		d.say(advice, "permissions", g.node.NameLocation(), "name contents: read, id-token: write and packages: write only", "the job %q may write everything", j.id)
	}
	d.checkAlone(j)
}

// checkAlone looks for other code that could sign as the identity of the timestamps.
func (d *doctoring) checkAlone(j *job) {
	const hint = "give it a workflow file of its own"
	for _, other := range j.workflow.jobs {
		if other != j && other.grants().may("id-token", "write") {
			d.say(advice, "timestamp", other.place(), hint, "the job %q may sign as the identity that is trusted only for timestamps", other.id)
		}
	}
	for _, s := range j.steps {
		checksOut := slices.Contains(j.runs("actions/checkout"), s)
		if !checksOut && !(slices.Contains(j.gates, s) && s.stamps()) {
			d.say(advice, "timestamp", s.place(), hint, "a step beside the one that signs timestamps could sign them too")
		}
	}
}
