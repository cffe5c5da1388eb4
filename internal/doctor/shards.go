package doctor

import (
	"regexp"
	"slices"
	"strings"
)

// merging finds a shell script that puts the reports of shards together.
var merging = regexp.MustCompile(`(?m)\bpackgate\s+merge\b`)

// sharded reports whether a job gates one part of the packs alone.
func (j *job) sharded(own bool) bool {
	return slices.ContainsFunc(j.packgates(own), func(s *step) bool { return s.input("shard") != "" })
}

// mergers returns the jobs of the same workflow that need a job and put the reports
// of its shards together.
func (j *job) mergers() (jobs []*job) {
	for _, other := range j.workflow.jobs {
		merges := slices.ContainsFunc(other.steps, func(s *step) bool { return merging.MatchString(textOf(s.node.Get("run"))) })
		if merges && slices.Contains(textsOf(other.node.Get("needs")), j.id) {
			jobs = append(jobs, other)
		}
	}
	return jobs
}

// checkShards looks for the job that makes one verdict of those of a matrix, and
// names its status to require. It has to run whatever became of the shards.
func (d *doctoring) checkShards(j *job) {
	mergers := j.mergers()
	if len(mergers) == 0 {
		d.say(advice, "not-merged", j.place(), "add a job that needs it, with if: always(), and runs packgate merge over the reports: docs/action.md",
			"nothing makes one verdict of those of the shards of the job %q", j.id)
	}
	for _, m := range mergers {
		if name, ok := m.status(); ok {
			d.statuses = append(d.statuses, name)
		}
		if cond := textOf(m.node.Get("if")); !strings.Contains(cond, "always()") {
			d.say(advice, "may-be-skipped", m.place(), "set if: always() for the job", "the job %q is skipped when a shard fails, and what is skipped counts as passed", m.id)
		}
	}
	if g := j.grants(); g.node != nil && g.may("checks", "write") {
		d.say(advice, "permissions", g.node.NameLocation(), "remove checks: write", "each shard writes a check run over that of the others")
	}
}
