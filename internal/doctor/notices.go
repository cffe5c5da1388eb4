package doctor

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/internal/github"
)

// What the doctor checks of jobs that tell people what happens to published packs. They read what
// others wrote and open issues, so they must not be able to sign; and what signs opens none.

const notifyGrants = "permissions: {contents: read, issues: write, packages: read}"

// notifies reports whether the step tells people what happens to published packs.
func (s *step) notifies() bool { return s.input("command") == github.CommandNotify }

// checkNotices looks at the jobs that notify, and at those that sign and could.
func (d *doctoring) checkNotices(jobs []*job) {
	for _, j := range jobs {
		_, signs := d.signing[j]
		if signs && j.grants().may("issues", "write") && j.grants().node != nil {
			d.say(ailing, "signer-opens-issues", j.grants().node.NameLocation(), "remove issues: write, and notify in a workflow of its own",
				"the job %q signs, and may write issues", j.id)
		}
		if slices.ContainsFunc(j.gates, (*step).notifies) {
			d.checkNotifier(j)
		}
	}
}

// checkNotifier looks at a job that notifies.
func (d *doctoring) checkNotifier(j *job) {
	w, g := j.workflow, j.grants()
	if w.startedBy(append(github.NotifyEvents(), "workflow_call")...) == "" {
		d.say(ailing, "never-notifies", w.place(), "start it by schedule", "the job %q should notify, and packgate notifies only in runs of %s", j.id, strings.Join(github.NotifyEvents(), " and "))
	}
	switch {
	case g.node == nil:
		d.say(ailing, "permissions", j.place(), "set "+notifyGrants+" for the job", "the job %q may not write issues, unless the repository grants that by default", j.id)
	case g.may("id-token", "write"):
		d.say(ailing, "notifier-may-sign", g.node.NameLocation(), "set "+notifyGrants+" for a job of its own", "the job %q opens issues, and may request the identity that signs: packgate refuses to notify there", j.id)
	}
	d.needs(j, g, need{ailing, "issues", "write", "open issues"})
	d.needs(j, g, readsRepository)
	if j.node.Get("concurrency") == nil && w.root.Get("concurrency") == nil {
		d.say(advice, "concurrency", j.place(), "set concurrency: {group: packgate-notify, cancel-in-progress: false} for the job",
			"two runs of the job %q can run at once, and open two issues before one of them is closed", j.id)
	}
}
