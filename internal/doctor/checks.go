package doctor

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// What the doctor checks. Each check has a name of its own, which a reader can look
// up in docs/doctor.md.

// lookAt looks at every workflow, and at what they are together.
func (d *doctoring) lookAt(ctx context.Context, workflows []*workflow) {
	var gating, commenting, keeping []*job
	for _, w := range workflows {
		d.checkTarget(w)
		for _, j := range w.jobs {
			if len(j.gates) == 0 && !j.scripted() {
				if j.helps() { // it plans shards, or merges what they found
					d.checkPins(j)
				}
				if uses := j.node.Get("uses"); uses != nil {
					d.skipped = append(d.skipped, notChecked{File: w.file, Reason: fmt.Sprintf("the job %q runs the workflow %q, which packgate does not read", j.id, textOf(uses))})
				}
				continue
			}
			switch {
			case slices.ContainsFunc(j.gates, (*step).comments):
				commenting = append(commenting, j)
			case j.scripted() || slices.ContainsFunc(j.gates, func(s *step) bool { return !s.keeps() }):
				gating = append(gating, j)
			default:
				keeping = append(keeping, j)
			}
		}
	}
	all := slices.Concat(gating, keeping)
	d.findSigning(all)
	d.checkGates(ctx, gating)
	for _, j := range keeping {
		d.checkJob(ctx, j, false)
	}
	d.checkSigners(all)
	d.checkTimestamps(workflows)
	d.checkNotices(all)
	if !slices.ContainsFunc(gating, func(j *job) bool { return len(j.gates) > 0 }) {
		d.packsOf(ctx, nil)
	}
	for _, j := range commenting {
		d.checkComments(j, gating)
	}
	if len(gating) > 0 && len(commenting) == 0 {
		d.say(aside, "no-second-stage", gating[0].place(), "add a workflow on workflow_run that runs packgate with command: comment",
			"pull requests from forks and of Dependabot get no comment, because their token may only read")
	}
}

// checkTarget looks for events that run with secrets, and with a token that may
// write, on what a stranger proposes.
func (d *doctoring) checkTarget(w *workflow) {
	event := w.startedBy(github.EventWorkflowRun, "pull_request_target")
	if event == "" {
		return
	}
	for _, j := range w.jobs {
		for _, s := range j.runs("actions/checkout") {
			ref := s.input("ref") + s.input("repository")
			if foreign().MatchString(ref) {
				d.say(ailing, "foreign-checkout", s.with("ref"), "use the event pull_request, or do not check out the pull request",
					"%s checks out what a pull request proposes, next to secrets and a token that may write", event)
			}
		}
	}
}

// foreign finds expressions that name what somebody else proposes.
var foreign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`github\.head_ref|pull_request\.head\b|pull_request\.merge_commit_sha|refs/pull/|pull_request\.number|event\.number|workflow_run\.(head_|pull_requests)`)
})

// checkGates looks at the jobs that gate.
func (d *doctoring) checkGates(ctx context.Context, jobs []*job) {
	if len(jobs) == 0 {
		at := finding.Location{File: d.files.Show(workflowFolder)}
		d.say(ailing, "no-gate", at, "add one, such as that of docs/action.md", "no workflow runs packgate")
		return
	}
	proposed := false
	for _, j := range jobs {
		_, onProposal := j.workflow.event(github.EventPullRequest)
		proposed = proposed || onProposal
		if _, ok := j.workflow.event("pull_request_target"); ok {
			d.say(ailing, "pull-request-target", j.workflow.place(), "use the event pull_request", "packgate refuses to run on pull_request_target")
		}
		if onProposal {
			d.checkProposal(j)
		}
		d.checkPermissions(j)
		d.checkJob(ctx, j, true)
	}
	if !proposed {
		d.say(ailing, "no-pull-request", jobs[0].workflow.place(), "add pull_request to the events", "the gate does not run on pull requests")
	}
}

// checkProposal looks at the events of a job that gates proposals, and names its status.
func (d *doctoring) checkProposal(j *job) {
	w := j.workflow
	event, _ := w.event(github.EventPullRequest)
	if types := event.Get("types"); types != nil {
		for _, wanted := range []string{"opened", "reopened", "synchronize"} {
			if !slices.Contains(textsOf(types), wanted) {
				d.say(ailing, "missing-type", types.NameLocation(), "leave out types, or add "+wanted, "the gate does not run on pull requests of type %s", wanted)
			}
		}
	}
	for _, filter := range []string{"paths", "paths-ignore"} {
		if n := event.Get(filter); n != nil {
			d.say(ailing, "path-filter", n.NameLocation(), "remove it: the gate finds out which packs a change concerns, and succeeds at once if there are none",
				"a workflow that %s keeps from running reports no status, and a pull request waits forever for one that is required", filter)
		}
	}
	if _, ok := w.event(github.EventMergeGroup); !ok {
		d.say(advice, "no-merge-group", w.place(), "add merge_group to the events", "the gate does not run in a merge queue, and a queue waits forever for a required status")
	}
	if j.sharded() {
		d.checkShards(j)
	} else if name, ok := j.status(); ok {
		d.statuses = append(d.statuses, name)
	} else {
		d.say(aside, "status-unknown", j.place(), "give the job a plain name and no matrix, so that there is one status to require", "the name of the status of the job %q is known only in a run", j.id)
	}
}

// checkPermissions names what a gating job may not do and should, or may and need not.
func (d *doctoring) checkPermissions(j *job) {
	g := j.grants()
	if g.node == nil {
		d.say(advice, "permissions", j.place(), "set permissions: {} for the workflow, and contents: read, pull-requests: write and checks: write for the job",
			"the job %q may do whatever the repository grants by default", j.id)
		return
	}
	at := g.node.NameLocation()
	if g.all == "write" {
		d.say(advice, "permissions", at, "name contents: read, pull-requests: write and checks: write only", "the job %q may write everything", j.id)
	}
	d.needs(j, g, readsRepository)
	// Without the action nothing is delivered, nor by a shard, and a comment may be unwanted.
	if len(j.gates) > 0 && !j.sharded() {
		if slices.ContainsFunc(j.gates, func(s *step) bool { return s.input("comment") != string(github.CommentNever) }) {
			d.needs(j, g, need{advice, "pull-requests", "write", "write the comment"})
		}
		d.needs(j, g, need{aside, "checks", "write", "write a check run, so that at most ten findings of a level are shown beside the code"})
	}
	useful := []string{"checks", "pull-requests", "security-events"}
	if _, signs := d.signing[j]; signs {
		useful = append(useful, "id-token", "packages")
	}
	for _, scope := range slices.Sorted(maps.Keys(g.scope)) {
		if g.scope[scope] == "write" && !slices.Contains(useful, scope) {
			d.say(advice, "permissions", at, "remove "+scope+": write", "the job %q may write %s, which the gate does not need", j.id, scope)
		}
	}
}

// need is what a job cannot do without a permission, and how much that matters.
type need struct{ severity, scope, access, lost string }

// readsRepository is what every job needs that gates or signs.
var readsRepository = need{ailing, "contents", "read", "read the repository, unless that is public"}

// needs names what a job may not do and should, where its permissions are said.
func (d *doctoring) needs(j *job, g grants, n need) {
	if g.node != nil && !g.may(n.scope, n.access) {
		d.say(n.severity, "permissions", g.node.NameLocation(), fmt.Sprintf("add %s: %s", n.scope, n.access), "the job %q may not %s", j.id, n.lost)
	}
}

// checkJob looks at what matters in every job that runs packgate; the gates need a base too.
func (d *doctoring) checkJob(ctx context.Context, j *job, gates bool) {
	deciding := []*pack.Node{j.node}
	for _, s := range j.gates {
		deciding = append(deciding, s.node)
	}
	for _, n := range deciding {
		if n := n.Get("continue-on-error"); n != nil && textOf(n) != "false" {
			d.say(ailing, "verdict-ignored", n.NameLocation(), "remove it; to report without failing, set the input fail-on to never", "continue-on-error turns every verdict into success")
		}
		if cond := n.Get("if"); gates && cond != nil {
			d.say(advice, "may-be-skipped", cond.NameLocation(), "remove the condition: the gate succeeds at once if the change concerns no pack", "a skipped job counts as passed")
		}
	}
	// What became of a shard is for the job to say that merges, which always runs.
	if needs := j.node.Get("needs"); gates && needs != nil && j.node.Get("if") == nil && !j.sharded() {
		d.say(advice, "may-be-skipped", needs.NameLocation(), "remove needs: from the gate", "the gate is skipped when a job that it needs fails, and a skipped job counts as passed")
	}
	checkouts := j.runs("actions/checkout")
	if len(checkouts) == 0 {
		d.say(ailing, "no-checkout", j.place(), "add a step that uses actions/checkout before it", "the job %q checks out nothing", j.id)
	}
	for _, s := range checkouts {
		if s.input("persist-credentials") != "false" {
			d.say(advice, "persisted-credentials", s.with("persist-credentials"), "set persist-credentials: false", "the checkout leaves the token on disk, where every later step can read it")
		}
	}
	d.checkPins(j)
	for _, s := range j.gates {
		d.checkInputs(s)
		d.packsOf(ctx, s)
	}
	for _, s := range checkouts {
		d.checkDepth(s, gates)
	}
}

// checkDepth looks whether a checkout has the history that its job needs: all of it where
// somebody has to approve, and the base where the job gates. The steps of the job have been
// looked at. A depth that is an expression is for a run to say.
func (d *doctoring) checkDepth(s *step, gates bool) {
	depth := s.input("fetch-depth")
	n, err := strconv.Atoi(depth)
	if depth == "" {
		n, err = 1, nil // what actions/checkout does by itself
	}
	switch {
	case err != nil || n <= 0:
	case s.job.reviewed:
		d.say(advice, "fetch-depth", s.with("fetch-depth"), "set fetch-depth: 0",
			"the config names who has to approve, and approvals of earlier commits count only where the checkout has the history")
	case gates && n == 1:
		d.say(advice, "fetch-depth", s.with("fetch-depth"), "set fetch-depth: 2", "the checkout has no base to compare with, so it has to be fetched")
	}
}

// checkPins looks for actions, and installs of packgate itself, that can become another program.
func (d *doctoring) checkPins(j *job) {
	for _, s := range j.steps {
		for _, m := range installs().FindAllStringSubmatch(textOf(s.node.Get("run")), -1) {
			if !exactVersion().MatchString(m[1]) {
				d.say(advice, "not-pinned", placeOf(s.node.Get("run"), s.node), "name an exact version, such as packgate@v1.2.3", "%q can become another program", m[0])
			}
		}
		if s.uses == "" || strings.HasPrefix(s.uses, "./") || pinned().MatchString(s.uses) {
			continue
		}
		severity, hint := advice, "pin it to a full commit SHA, with the version in a comment"
		if m := releaseTag().FindStringSubmatch(s.uses); m != nil {
			severity, hint = aside, "in its place, write the commit that git ls-remote https://github.com/contextosai/packgate refs/tags/"+m[1]+" prints, and the version in a comment"
		}
		d.say(severity, "not-pinned", s.place(), hint, "the action %q can be moved to other code", s.uses)
	}
}

// releaseTag finds the tag of one release of packgate, which is moved by nobody but an attacker: the
// others move with each release.
var releaseTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^contextosai/packgate(?:/setup)?@(v[0-9]+\.[0-9]+\.[0-9]+)$`)
})

// installs finds where a script has Go fetch packgate, and at which version.
var installs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`github\.com/contextosai/packgate@([^\s;&|"']+)`) })

// exactVersion matches what Go's checksum database keeps to one content: a version with three
// numbers, or a commit.
var exactVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(v[0-9]+\.[0-9]+\.[0-9]+\S*|[0-9a-f]{40})$`) })

// pinned finds the name of an action that means one content for ever.
var pinned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`@(sha256:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{64})$`) })

// checkInputs looks at what a step gives to the action: GitHub passes on nothing
// that the action does not know, with a warning that nobody reads.
func (d *doctoring) checkInputs(s *step) {
	with := s.node.Get("with")
	if with == nil || with.Kind != pack.Object {
		return
	}
	for _, m := range with.Members {
		if slices.Contains(github.ActionInputs(), m.Name) {
			continue
		}
		hint := "use one of " + strings.Join(github.ActionInputs(), ", ")
		if near := schemas.Nearest(m.Name, github.ActionInputs()); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		d.say(ailing, "unknown-input", m.Value.NameLocation(), hint, "packgate has no input %q", m.Name)
	}
}

// checkComments looks at a job that posts what a run of the gate left behind.
func (d *doctoring) checkComments(j *job, gating []*job) {
	w := j.workflow
	after, ok := w.event(github.EventWorkflowRun)
	if !ok {
		d.say(ailing, "second-stage", w.place(), "start it by workflow_run", "packgate posts comments of other runs only on workflow_run")
	} else {
		d.checkAfter(w, after, gating)
	}
	g := j.grants()
	d.needs(j, g, need{ailing, "actions", "read", "download the report of the run"})
	d.needs(j, g, need{ailing, "pull-requests", "write", "write the comment"})
	if g.node == nil || g.all == "write" {
		d.say(advice, "permissions", j.place(), "set permissions: {} for the workflow, and actions: read and pull-requests: write for the job",
			"the job %q may do more than it needs", j.id)
	}
	for _, s := range j.runs("actions/checkout") {
		d.say(ailing, "foreign-checkout", s.place(), "remove it: the second stage needs only the report",
			"the second stage checks out code, next to a token that may write")
	}
	d.checkPins(j)
	for _, s := range j.gates {
		d.checkInputs(s)
	}
}

// checkAfter looks at which runs the second stage follows, and what these leave behind.
func (d *doctoring) checkAfter(w *workflow, after *pack.Node, gating []*job) {
	if !slices.Equal(textsOf(after.Get("types")), []string{"completed"}) {
		d.say(ailing, "second-stage", placeOf(after.Get("types"), after), "set types: [completed]", "the second stage has to run when the gate has ended, and only then")
	}
	followed := textsOf(after.Get("workflows"))
	at := placeOf(after.Get("workflows"), after)
	for _, g := range gating {
		if !slices.Contains(followed, g.workflow.name()) {
			continue
		}
		if !slices.ContainsFunc(append(g.mergers(), g), (*job).leavesReport) {
			d.say(ailing, "no-artifact", g.place(), fmt.Sprintf("upload only the report file, as the artifact %s, even if the gate fails", github.ReportArtifact),
				"the job %q leaves no report for the second stage", g.id)
		}
		return
	}
	d.say(ailing, "second-stage", at, "name the workflow that runs the gate", "the second stage follows %q, and none of them runs the gate", followed)
}

// checkShards looks for the job that makes one verdict of those of a matrix, and
// names its status to require. It has to run whatever became of the shards.
func (d *doctoring) checkShards(j *job) {
	mergers := j.mergers()
	if len(mergers) == 0 {
		d.say(advice, "not-merged", j.place(), "add a job that needs it, with if: always(), and runs packgate merge over the reports: docs/action.md",
			"nothing merges the verdicts of the shards of the job %q into one", j.id)
	}
	for _, m := range mergers {
		if name, ok := m.status(); ok {
			d.statuses = append(d.statuses, name)
		}
		if cond := textOf(m.node.Get("if")); !strings.Contains(cond, "always()") {
			d.say(advice, "may-be-skipped", m.place(), "set if: always() for the job", "the job %q is skipped when a shard fails, and a skipped job counts as passed", m.id)
		}
	}
	if g := j.grants(); g.node != nil && g.may("checks", "write") {
		d.say(advice, "permissions", g.node.NameLocation(), "remove checks: write", "each shard overwrites the check run of the others")
	}
}
