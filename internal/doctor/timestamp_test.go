package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// fresh is a config by which timestamps count that the workflow a.yml signs.
const fresh = `publish:
  registry: ghcr.io/acme/packs
  identity: {workflow: acme/packs/.github/workflows/publish.yml@refs/heads/main}
  freshness: {workflow: acme/packs/.github/workflows/a.yml@refs/heads/main, refresh: 6h, max_age: 24h}
`

// stamper is a workflow that signs timestamps as it should.
const stamper = `on: {schedule: [{cron: "41 */6 * * *"}], workflow_dispatch: {}}
permissions: {}
jobs:
  timestamp:
    permissions: {contents: read, id-token: write, packages: write}
    steps:
      - {uses: "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", with: {persist-credentials: false}}
      - {uses: "acme/packgate@11bd71901bbe5b1630ceea73d27597364c9af683", with: {command: timestamp}}
`

// What a workflow that signs timestamps can lack, and what it can have too much, a change at a time.
func TestDoctorTimestamps(t *testing.T) {
	const often = "start it as often as publish.freshness.refresh says: 6h0m0s"
	const alone = "warning timestamp: give it a workflow file of its own"
	for _, c := range []struct {
		name   string
		change []string
		config string
		want   []string
	}{
		{"as it should be", nil, fresh, nil},
		{"no config names it", nil, registered, []string{"note timestamp: name it in publish.freshness of the config, or remove it"}},
		{"another file", nil, strings.Replace(fresh, "/a.yml", "/b.yml", 1), []string{
			"error timestamp: write it with packgate init, or name the one that signs timestamps",
			"note timestamp: name it in publish.freshness of the config, or remove it"}},
		{"it signs no timestamp", []string{"command: timestamp", "command: audit"}, fresh, []string{"error timestamp: add a job that runs packgate with command: timestamp"}},
		{"no clock", []string{`schedule: [{cron: "41 */6 * * *"}], `, ""}, fresh, []string{"error timestamp: add schedule to the events"}},
		{"a clock of no times", []string{`[{cron: "41 */6 * * *"}]`, `[]`}, fresh, []string{"error timestamp: " + often}},
		{"a clock that nobody reads", []string{"41 */6 * * *", "41 25 * * *"}, fresh, []string{"error timestamp: write five fields, such as 41 */6 * * *"}},
		{"seldom", []string{"41 */6", "41 */8"}, fresh, []string{"warning timestamp: " + often}},
		{"too seldom", []string{"41 */6", "41 5"}, fresh, []string{"error timestamp: " + often}},
		{"not on Sundays", []string{"41 */6 * * *", "41 */6 * * 1-6"}, fresh, []string{"error timestamp: " + often}},
		{"two clocks", []string{`{cron: "41 */6 * * *"}`, `{cron: "41 */12 * * *"}, {cron: "41 6-23/12 * * *"}`}, fresh, nil},
		{"nobody can start it", []string{", workflow_dispatch: {}", ""}, fresh, []string{"warning timestamp: add workflow_dispatch to the events"}},
		{"a push starts it", []string{"on: {", "on: {push: {}, "}, fresh, []string{"warning timestamp: remove it"}},
		{"no identity", []string{"id-token: write, ", ""}, fresh, []string{"error permissions: add id-token: write"}},
		{"no packages", []string{", packages: write", ", packages: read"}, fresh, []string{"error permissions: add packages: write"}},
		{"a folder", []string{", packages: write", ""}, strings.Replace(fresh, "ghcr.io/acme/packs", "oci:./registry", 1), nil},
		{"no contents", []string{"contents: read, ", ""}, fresh, []string{"error permissions: add contents: read"}},
		{"more than it needs", []string{"packages: write", "packages: write, issues: write"}, fresh, []string{"warning permissions: remove issues: write"}},
		{"all", []string{"permissions: {contents: read, id-token: write, packages: write}", "permissions: write-all"}, fresh, []string{
			"warning permissions: name contents: read, id-token: write and packages: write only"}},
		{"what the repository grants", []string{"    permissions: {contents: read, id-token: write, packages: write}\n", "", "permissions: {}\n", ""}, fresh, []string{
			"error permissions: set permissions: {contents: read, id-token: write, packages: write} for the job"}},
		{"another job", []string{"jobs:\n", "jobs:\n  other:\n    permissions: {id-token: write}\n    steps: [{run: sign}]\n"}, fresh, []string{alone}},
		{"another job without an identity", []string{"jobs:\n", "jobs:\n  other:\n    steps: [{run: count}]\n"}, fresh, nil},
		{"another step", []string{"    steps:\n", "    steps:\n      - {run: make}\n"}, fresh, []string{alone}},
		{"not pinned", []string{"packgate@11bd71901bbe5b1630ceea73d27597364c9af683", "packgate@v0"}, fresh, []string{
			"warning not-pinned: pin it to a full commit SHA, with the version in a comment"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := saidOfPublishing(t, changed(t, stamper, c.change), c.config); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	elsewhere := strings.Replace(fresh, "acme/packs/.github/workflows/a.yml", "acme/clock/.github/workflows/a.yml", 1)
	if d := examinedWith(t, []byte(stamper), elsewhere); len(d.NotChecked) != 1 || !strings.Contains(d.NotChecked[0].Reason, "another repository") {
		t.Errorf("of a workflow of another repository it says %+v", d.NotChecked)
	}
}

// The longest time between two starts, as GitHub reads its schedules.
func TestLongestGap(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		lines []string
		want  time.Duration
		ok    bool
	}{
		{[]string{"* * * * *"}, time.Minute, true},
		{[]string{"*/15 * * * *"}, 15 * time.Minute, true},
		{[]string{"5/20 * * * *"}, 20 * time.Minute, true},
		{[]string{"0 */5 * * *"}, 5 * time.Hour, true}, // and four at midnight
		{[]string{"41 5 * * *"}, day, true},
		{[]string{"41 5,17 * * *"}, day / 2, true},
		{[]string{"0 0 * * MON"}, 7 * day, true},
		{[]string{"0 0 * * sun,WED"}, 4 * day, true},
		{[]string{"0 0 1 * *"}, 31 * day, true},
		{[]string{"0 0 1 jan *"}, 366 * day, true},
		{[]string{"0 0 13 * 5"}, 7 * day, true}, // the 13th, and every Friday
		{[]string{"0 0 29 2 *"}, 0, false},
		{[]string{"0 0 31 2 *"}, 0, false},
		{[]string{"0 0 * * *", "0 12 * * *"}, day / 2, true},
		{nil, 0, false},
	} {
		var lines []cron
		for _, text := range c.lines {
			line, ok := parseCron(text)
			if !ok {
				t.Fatalf("%q is refused", text)
			}
			lines = append(lines, line)
		}
		if got, ok := longestGap(lines); got != c.want || ok != c.ok {
			t.Errorf("%q: %s, %t; wanted %s, %t", c.lines, got, ok, c.want, c.ok)
		}
	}
	for _, text := range []string{"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "*/0 * * * *", "5-1 * * * *",
		"a * * * *", "-1 * * * *", "1- * * * *", "1,,2 * * * *", "1/ * * * *", "@daily", "* * * FOO *", "*/61 * * * *", "+1 * * * *", "1-2-3 * * * *"} {
		if _, ok := parseCron(text); ok {
			t.Errorf("%q is taken", text)
		}
	}
}

// A workflow that publishes has no schedule, however else it starts.
func TestDoctorPublishingSchedule(t *testing.T) {
	const moved = "error publishing-schedule: move the job that runs on a schedule to a workflow file of its own"
	for _, on := range []string{"on: {schedule: [{cron: '0 4 * * *'}], ", "on: {workflow_dispatch: {}, schedule: [{cron: '0 4 * * *'}], "} {
		if got := saidOfPublishing(t, changed(t, publisher, []string{"on: {", on}), registered); !slices.Equal(got, []string{moved}) {
			t.Errorf("%s: %q", on, got)
		}
	}
	if got := saidOfPublishing(t, changed(t, publisher, []string{"on: {push: {branches: [main]}}", "on: [push, schedule]"}), registered); !slices.Equal(got, []string{moved}) {
		t.Errorf("events without settings: %q", got)
	}
}
