package doctor

import (
	"slices"
	"testing"
)

// notifier is a workflow that notifies as it should.
const notifier = `on: {schedule: [{cron: "41 5 * * *"}], workflow_dispatch: {}}
permissions: {}
concurrency: {group: packgate-notify, cancel-in-progress: false}
jobs:
  notify:
    permissions: {contents: read, issues: write, packages: read}
    steps:
      - {uses: "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", with: {fetch-depth: 0, persist-credentials: false}}
      - {uses: "acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683", with: {command: notify}}
`

func TestDoctorNotices(t *testing.T) {
	const own = "set " + notifyGrants + " for a job of its own"
	for _, c := range []struct {
		name   string
		base   string
		change []string
		want   []string
	}{
		{"as it should be", notifier, nil, nil},
		{"by hand alone", notifier, []string{`schedule: [{cron: "41 5 * * *"}], `, ""}, nil},
		{"on a push", notifier, []string{`schedule: [{cron: "41 5 * * *"}], workflow_dispatch: {}`, "push: {branches: [main]}"}, []string{"error never-notifies: start it by schedule"}},
		{"it may sign", notifier, []string{"issues: write", "issues: write, id-token: write"}, []string{"error notifier-may-sign: " + own}},
		{"it may do everything", notifier, []string{"{contents: read, issues: write, packages: read}", "write-all"}, []string{"error notifier-may-sign: " + own}},
		{"it may not write issues", notifier, []string{"issues: write, ", ""}, []string{"error permissions: add issues: write"}},
		{"what it may is not said", notifier, []string{"    permissions: {contents: read, issues: write, packages: read}\n", "", "permissions: {}\n", ""}, []string{"error permissions: set " + notifyGrants + " for the job"}},
		{"two at once", notifier, []string{"concurrency: {group: packgate-notify, cancel-in-progress: false}\n", ""},
			[]string{"warning concurrency: set concurrency: {group: packgate-notify, cancel-in-progress: false} for the job"}},
		{"what signs may write issues", publisher, []string{"contents: read", "contents: read, issues: write"}, []string{"error signer-opens-issues: remove issues: write, and notify in a workflow of its own"}},
		{"what signs may read them", publisher, []string{"contents: read", "contents: read, issues: read"}, nil},
	} {
		if got := saidOfPublishing(t, changed(t, c.base, c.change), registered); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, wanted %q", c.name, got, c.want)
		}
	}
}
