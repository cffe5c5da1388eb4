package doctor

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// What the doctor checks of jobs that publish. A workflow can be wrong about that
// only once the config names a registry.

// signs reports whether the step signs: by its command, or by one that is chosen by hand.
func (s *step) signs() bool {
	command := s.input("command")
	w := s.job.workflow
	byHand := w.startedBy(github.EventWorkflowDispatch) != "" && w.startedBy(github.Proposals()...) == ""
	return slices.Contains(github.SigningCommands(), command) || strings.Contains(command, "${{") && byHand
}

// keeps reports whether the step is about the registry alone, and gates nothing.
func (s *step) keeps() bool {
	return s.signs() || s.stamps() || s.notifies() || s.input("command") == github.CommandAudit
}

// signing is what is known of a job that signs.
type signing struct {
	registry string
	reviews  bool // what it publishes has to have been reviewed
}

// findSigning finds the jobs that sign, where a registry is configured. Where no job
// says that it publishes, it is the gate that does on a push to a branch.
func (d *doctoring) findSigning(jobs []*job) {
	said := slices.ContainsFunc(jobs, func(j *job) bool {
		return slices.ContainsFunc(j.gates, func(s *step) bool { return s.input("command") == github.CommandPublish })
	})
	for _, j := range jobs {
		for _, s := range j.gates {
			publishes := s.input("command") == github.CommandPublish || !said && s.input("command") == "" && j.workflow.pushed() && !s.comments()
			if !publishes && !s.signs() {
				continue
			}
			registry, reviews := d.registryOf(s)
			if known := d.signing[j]; registry != "" {
				d.signing[j] = signing{cmp.Or(known.registry, registry), known.reviews || publishes && reviews}
			}
		}
	}
}

// pushed reports whether a push to a branch starts the workflow.
func (w *workflow) pushed() bool {
	push, ok := w.event(github.EventPush)
	return ok && (push.Get("tags") == nil || push.Get("branches") != nil || push.Get("branches-ignore") != nil)
}

// registryOf returns the registry that a step publishes to, as step or config name
// it, and whether the config requires reviews; "" where neither does. What is wrong
// with a config is said elsewhere.
func (d *doctoring) registryOf(s *step) (registry string, reviews bool) {
	c, err := d.files.Config(s.input("config"))
	if err != nil {
		c = repo.DefaultConfig()
	}
	return cmp.Or(s.input("registry"), c.Publish.Registry.Value), c.Reviews.Demanded()
}

// checkSigners looks at the jobs that sign.
func (d *doctoring) checkSigners(jobs []*job) {
	for _, j := range jobs {
		if known, ok := d.signing[j]; ok {
			d.checkStart(j)
			d.checkSchedule(j.workflow)
			d.checkSigning(j, known)
			if j.proposal() == "" { // else it is told to publish in another job
				d.checkConcurrency(j)
			}
		}
	}
}

// checkStart looks at what starts a job that signs: packgate refuses to sign for
// what is not merged, and for nobody.
func (d *doctoring) checkStart(j *job) {
	w := j.workflow
	if !w.pushed() && w.startedBy(github.EventWorkflowDispatch, "workflow_call") == "" { // by hand, or by a workflow that decides it
		d.say(ailing, "never-signs", w.place(), "start it by push: branches: [main], or by workflow_dispatch",
			"the job %q should sign, and packgate signs only in runs of %s on a branch", j.id, strings.Join(github.SigningEvents(), " and "))
	}
	if event := j.proposal(); event != "" && j.grants().may("id-token", "write") {
		d.say(advice, "token-for-proposals", j.grants().node.NameLocation(), jobOfItsOwn,
			"runs of %s get id-token: write too, so a proposed change could request the identity that signs", event)
	}
}

// What a job that signs has to be granted, and how a gate gets to publish.
const (
	signingGrants = "permissions: {contents: read, id-token: write, packages: write, pull-requests: read}"
	jobOfItsOwn   = "publish in a job of its own, with command: publish, if: github.event_name == 'push' and " + signingGrants
)

// proposal returns the event by which a job runs for what is not merged; "" where none
// does, or the job's own condition looks at what started it.
func (j *job) proposal() string {
	condition := textOf(j.node.Get("if"))
	if strings.Contains(condition, "github.event_name") || strings.Contains(condition, "github.ref") {
		return ""
	}
	return j.workflow.startedBy(append(github.Proposals(), github.EventMergeGroup)...)
}

// checkSigning names what the token of a job that signs may not do.
func (d *doctoring) checkSigning(j *job, known signing) {
	g := j.grants()
	switch {
	case j.proposal() != "" && !g.may("id-token", "write"):
		d.say(ailing, "permissions", placeOf(g.node, j.node), jobOfItsOwn, "the job %q should publish on a push, and may not request an identity token to sign with", j.id)
		return
	case g.node == nil:
		d.say(ailing, "permissions", j.place(), "set "+signingGrants+" for the job",
			"the job %q may not request an identity token to sign with, which no repository grants by default", j.id)
		return
	}
	d.needs(j, g, need{ailing, "id-token", "write", "request an identity token to sign with"})
	if ofGitHub().MatchString(known.registry) {
		d.needs(j, g, need{ailing, "packages", "write", "push to " + known.registry})
	}
	d.needs(j, g, readsRepository)
	if known.reviews {
		d.needs(j, g, need{ailing, "pull-requests", "read", "read who approved, which the config requires"})
	}
}

// ofGitHub finds GitHub's own registries, which take the token of the job: that of
// github.com, and those of GitHub Enterprise Server.
var ofGitHub = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(ghcr\.io|containers\.[^/]+)(/|$)`) })

// checkConcurrency looks at what keeps two runs from publishing at once.
func (d *doctoring) checkConcurrency(j *job) {
	n := cmp.Or(j.node.Get("concurrency"), j.workflow.root.Get("concurrency"))
	const hint = "set concurrency: {group: packgate-publish, cancel-in-progress: false, queue: max} for the job"
	if n == nil {
		d.say(advice, "concurrency", j.place(), hint, "two runs of the job %q can publish at once", j.id)
		return
	}
	if unique().MatchString(cmp.Or(textOf(n), textOf(n.Get("group")))) {
		d.say(advice, "concurrency", n.NameLocation(), hint, "each run of the job %q is in a concurrency group of its own, so two can publish at once", j.id)
	}
	if cancel := n.Get("cancel-in-progress"); textOf(cancel) == "true" {
		d.say(advice, "concurrency", cancel.NameLocation(), "set cancel-in-progress: false, or to an expression that is true only for pull requests",
			"the next run can cancel a run while it publishes")
		if queue := n.Get("queue"); textOf(queue) == "max" {
			d.say(ailing, "concurrency", queue.NameLocation(), "set cancel-in-progress: false", "GitHub refuses a workflow with queue: max and cancel-in-progress: true")
		}
	} else if j.workflow.startedBy(github.EventWorkflowDispatch) != "" && textOf(n.Get("queue")) != "max" {
		d.say(advice, "concurrency", n.NameLocation(), "set queue: max beside the group; leave it out on a GitHub Enterprise Server that does not know it",
			"of the runs that wait, GitHub keeps the newest and cancels the others, which can be a revocation")
	}
}

// unique finds what differs from run to run in the name of a group.
var unique = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`github\.(sha|run_id|run_number|head_ref|event\.(after|head_commit))\b`)
})
