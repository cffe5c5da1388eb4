package doctor

import (
	"slices"
	"strings"
	"testing"
)

// registered is a config by which packs are published, after reviews.
const registered = `publish: {registry: ghcr.io/acme/packs}
reviews: {major: [risk], roles: {risk: [ann]}}
`

// publisher is a workflow that publishes as it should.
const publisher = `on: {push: {branches: [main]}}
permissions: {}
concurrency: {group: packgate-publish, cancel-in-progress: false, queue: max}
jobs:
  publish:
    permissions: {contents: read, id-token: write, packages: write, pull-requests: read}
    steps:
      - {uses: "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", with: {fetch-depth: 0, persist-credentials: false}}
      - {uses: "acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683", with: {command: publish}}
`

// saidOfPublishing returns severity, check and hint, sorted, of what the doctor says of a
// job that publishes, without what it says of a repository that has no gate.
func saidOfPublishing(t *testing.T, workflow, config string) (said []string) {
	t.Helper()
	d := examinedWith(t, []byte(workflow), config)
	if len(d.NotChecked) > 0 {
		t.Fatalf("%+v", d.NotChecked)
	}
	for _, s := range d.Symptoms {
		if !slices.Contains([]string{"no-gate", "no-packs", "unknown-input", "no-pull-request", "no-merge-group", "no-second-stage", "no-owner"}, s.Check) {
			said = append(said, s.Severity+" "+s.Check+": "+s.Hint)
		}
	}
	slices.Sort(said)
	return said
}

// changed returns a text with each of the pairs replaced once; every one must be there.
func changed(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("there is no %q to change", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// publishCase is a change to the publisher, by pairs, and what is said of it.
type publishCase struct {
	name   string
	change []string
	config string
	want   []string
}

func publishCases() []publishCase {
	const (
		open   = "publish: {registry: ghcr.io/acme/packs}\n"
		push   = "push: {branches: [main]}"
		all    = "permissions: {contents: read, id-token: write, packages: write, pull-requests: read}"
		group  = "warning concurrency: set concurrency: {group: packgate-publish, cancel-in-progress: false, queue: max} for the job"
		queue  = "warning concurrency: set queue: max beside the group; leave it out on a GitHub Enterprise Server that does not know it"
		start  = "error never-signs: start it by push: branches: [main], or by workflow_dispatch"
		alone  = "warning token-for-proposals: " + jobOfItsOwn
		grant  = "error permissions: add "
		onDisk = "warning persisted-credentials: set persist-credentials: false"
	)
	return []publishCase{
		{"well", nil, registered, nil},
		{"by hand", []string{push, "workflow_dispatch: {}"}, registered, nil},
		{"called", []string{push, "workflow_call: {}"}, registered, nil},
		{"another command", []string{"command: publish", "command: revoke", ", pull-requests: read", ""}, registered, nil},
		{"a command by hand", []string{push, "workflow_dispatch: {}", "command: publish", `command: "${{ inputs.command }}"`, "packages: write", "packages: read"},
			registered, []string{grant + "packages: write"}},
		{"an audit", []string{"command: publish", "command: audit", all, "permissions: {contents: read}"}, registered, nil},
		{"no identity", []string{"id-token: write, ", ""}, registered, []string{grant + "id-token: write"}},
		{"an identity to read", []string{"id-token: write", "id-token: read"}, registered, []string{grant + "id-token: write"}},
		{"no packages", []string{"packages: write", "packages: read"}, registered, []string{grant + "packages: write"}},
		{"no packages elsewhere", []string{"packages: write, ", ""}, "publish: {registry: registry.acme.example/packs}\n", nil},
		{"no packages in a folder", []string{"packages: write, ", ""}, "publish: {registry: 'oci:./registry'}\n", nil},
		{"no packages of a server", []string{"packages: write, ", ""}, "publish: {registry: containers.acme.example/packs}\n", []string{grant + "packages: write"}},
		{"no contents", []string{"contents: read, ", ""}, registered, []string{grant + "contents: read"}},
		{"no reviews", []string{", pull-requests: read", ""}, registered, []string{grant + "pull-requests: read"}},
		{"no reviews wanted", []string{", pull-requests: read", ""}, open, nil},
		{"everything", []string{all, "permissions: write-all"}, registered, []string{"error signer-opens-issues: remove issues: write, and notify in a workflow of its own"}},
		{"everything to read", []string{all, "permissions: read-all"}, registered, []string{grant + "id-token: write", grant + "packages: write"}},
		{"nothing", []string{"    " + all + "\n", ""}, registered, []string{
			grant + "contents: read", grant + "id-token: write", grant + "packages: write", grant + "pull-requests: read"}},
		{"no permissions", []string{"    " + all + "\n", "", "permissions: {}\n", ""}, registered, []string{"error permissions: set " + all + " for the job"}},
		{"no group", []string{"concurrency: {group: packgate-publish, cancel-in-progress: false, queue: max}\n", ""}, registered, []string{group}},
		{"a group by name", []string{"{group: packgate-publish, cancel-in-progress: false, queue: max}", "packgate"}, registered, nil},
		{"a group by name, started by hand", []string{"{group: packgate-publish, cancel-in-progress: false, queue: max}", "packgate", push, push + ", workflow_dispatch: "}, registered, []string{queue}},
		{"a group of which one run waits", []string{"queue: max", "queue: single", push, push + ", workflow_dispatch: "}, registered, []string{queue}},
		{"a group that all runs wait in", []string{push, push + ", workflow_dispatch: "}, registered, nil},
		{"a group of each run", []string{"packgate-publish", `"packs-${{ github.sha }}"`}, registered, []string{group}},
		{"a group that ends runs", []string{"in-progress: false, queue: max", "in-progress: true"}, registered, []string{
			"warning concurrency: set cancel-in-progress: false, or to an expression that is true only for pull requests"}},
		{"a group that GitHub refuses", []string{"in-progress: false", "in-progress: true"}, registered, []string{
			"error concurrency: set cancel-in-progress: false", "warning concurrency: set cancel-in-progress: false, or to an expression that is true only for pull requests"}},
		{"a group that ends some", []string{"in-progress: false", "in-progress: \"${{ github.event_name == 'pull_request' }}\""}, registered, nil},
		{"on a schedule", []string{push, "schedule: [{cron: '0 4 * * *'}]"}, registered, []string{start, "error publishing-schedule: move the job that runs on a schedule to a workflow file of its own"}},
		{"on tags", []string{"branches: [main]", "tags: ['v*']"}, registered, []string{start}},
		{"on tags too", []string{"branches: [main]", "branches: [main], tags: ['v*']"}, registered, nil},
		{"for proposals", []string{"on: {", "on: {pull_request: {}, pull_request_review: {}, "}, registered, []string{alone}},
		{"for a queue", []string{"on: {", "on: {merge_group: {}, "}, registered, []string{alone}},
		{"for proposals, and chosen", []string{"on: {", "on: {pull_request: {}, pull_request_review: {}, ", "  publish:\n", "  publish:\n    if: github.event_name == 'push'\n"}, registered, nil},
		{"a failure that is ignored", []string{"command: publish}", "command: publish}, continue-on-error: true"}, registered, []string{
			"error verdict-ignored: remove it; to report without failing, set the input fail-on to never"}},
		{"no checkout", []string{"actions/checkout@", "actions/cache@"}, registered, []string{"error no-checkout: add a step that uses actions/checkout before it"}},
		{"credentials on disk", []string{", persist-credentials: false", ""}, registered, []string{onDisk}},
		{"no history", []string{"fetch-depth: 0, ", ""}, registered, []string{"warning fetch-depth: set fetch-depth: 0"}},
		{"some history", []string{"fetch-depth: 0", "fetch-depth: 2"}, registered, []string{"warning fetch-depth: set fetch-depth: 0"}},
		{"no history, and nobody to approve", []string{"fetch-depth: 0, ", ""}, "strict: true\n", nil},
		{"not pinned", []string{"packgate@11bd71901bbe5b1630ceea73d27597364c9af683", "packgate@v1"}, registered, []string{
			"warning not-pinned: pin it to a full commit SHA, with the version in a comment"}},
		{"the tag of a release", []string{"acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683", "contextosai/packgate@v1.2.3"}, registered, []string{
			"note not-pinned: in its place, write the commit that git ls-remote https://github.com/contextosai/packgate refs/tags/v1.2.3 prints, and the version in a comment"}},
		{"the tag of another action", []string{"actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", "actions/checkout@v4.2.2"}, registered, []string{
			"warning not-pinned: pin it to a full commit SHA, with the version in a comment"}},
		{"no registry", []string{"id-token: write, packages: write, ", ""}, "strict: true\n", nil},
		{"a registry of the step", []string{"command: publish", "command: publish, registry: ghcr.io/acme", "packages: write, ", ""}, "", []string{grant + "packages: write"}},
	}
}

// What a workflow that publishes can lack, a change at a time.
func TestDoctorPublishing(t *testing.T) {
	for _, c := range publishCases() {
		t.Run(c.name, func(t *testing.T) {
			if got := saidOfPublishing(t, changed(t, publisher, c.change), c.config); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// The gate publishes on a push to a branch where no job says that it publishes; what
// it needs for that is not too much then.
func TestDoctorGateThatPublishes(t *testing.T) {
	const gate = `on: {pull_request: {}, pull_request_review: {}, merge_group: {}, push: {branches: [main]}}
permissions: {}
concurrency: packs
jobs:
  gate:
    permissions: {contents: read, pull-requests: write, checks: write}
    steps:
      - {uses: "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", with: {fetch-depth: 0, persist-credentials: false}}
      - {uses: "acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683"}
`
	const apart = `  publish:
    if: github.event_name == 'push'
    permissions: {contents: read, id-token: write, packages: write, pull-requests: read}
    steps:
      - {uses: "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", with: {fetch-depth: 0, persist-credentials: false}}
      - {uses: "acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683", with: {command: publish}}
`
	granted := []string{"checks: write}", "checks: write, id-token: write, packages: write}"}
	const alone = "warning token-for-proposals: " + jobOfItsOwn
	for _, c := range []struct {
		name, text, config string
		want               []string
	}{
		{"lacks", gate, registered, []string{"error permissions: " + jobOfItsOwn}},
		{"has", changed(t, gate, granted), registered, []string{alone}},
		{"no registry", changed(t, gate, granted), "", []string{"warning permissions: remove id-token: write", "warning permissions: remove packages: write"}},
		{"another job", gate + apart, registered, nil},
		{"another job, both", changed(t, gate, granted) + apart, registered, []string{"warning permissions: remove id-token: write", "warning permissions: remove packages: write"}},
		{"on tags", changed(t, gate, []string{"push: {branches: [main]}", "push: {tags: [v1]}"}), registered, nil},
	} {
		if got := saidOfPublishing(t, c.text, c.config); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
