package github

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runner returns the variables a runner sets, for an event and its payload.
func runner(name, file string) map[string]string {
	return map[string]string{
		"GITHUB_ACTOR":       "kim",
		"GITHUB_API_URL":     "https://api.github.com",
		"GITHUB_EVENT_NAME":  name,
		"GITHUB_EVENT_PATH":  file,
		"GITHUB_REF":         "refs/heads/main",
		"GITHUB_REPOSITORY":  "acme/packs",
		"GITHUB_RUN_ATTEMPT": "2",
		"GITHUB_RUN_ID":      "9876543210",
		"GITHUB_SERVER_URL":  "https://github.com",
		"GITHUB_SHA":         strings.Repeat("33", 20),
		"GITHUB_WORKSPACE":   "/github/workspace",
	}
}

func getenv(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestReadEvent(t *testing.T) {
	sha := func(pair string) string { return strings.Repeat(pair, 20) }
	common := Event{
		SHA: sha("33"), Ref: "refs/heads/main", Repository: "acme/packs", DefaultBranch: "main",
		ServerURL: "https://github.com", APIURL: "https://api.github.com",
		RunID: "9876543210", RunAttempt: "2", Actor: "kim", Workspace: "/github/workspace",
		RepositoryID: "71001",
	}
	pullRequest := func(number int, fork bool) func(*Event) {
		return func(ev *Event) {
			ev.Action, ev.PullRequest, ev.Fork = "synchronize", number, fork
			ev.BaseSHA, ev.BaseRef = sha("11"), "main"
			ev.HeadSHA, ev.HeadRef = sha("22"), "refund-limit"
		}
	}
	reviewed := func(number int, fork bool) func(*Event) {
		return func(ev *Event) {
			pullRequest(number, fork)(ev)
			ev.Action, ev.Author = "submitted", "mona"
		}
	}
	for _, c := range []struct {
		file, name string
		want       func(*Event)
	}{
		{"pull_request", EventPullRequest, pullRequest(104, false)},
		{"pull_request_fork", EventPullRequest, pullRequest(105, true)},
		{"pull_request_fork_deleted", EventPullRequest, pullRequest(106, true)},
		{"pull_request_review", EventReview, reviewed(104, false)},
		{"pull_request_review_fork", EventReview, reviewed(105, true)},
		{"merge_group", EventMergeGroup, func(ev *Event) {
			ev.Action, ev.PullRequest = "checks_requested", 104
			ev.BaseSHA, ev.BaseRef = sha("55"), "main"
			ev.HeadSHA, ev.HeadRef = sha("44"), "gh-readonly-queue/main/pr-104-"+sha("66")
		}},
		{"push", EventPush, func(ev *Event) {
			ev.BaseSHA, ev.HeadSHA, ev.BaseRef, ev.HeadRef = sha("aa"), sha("bb"), "main", "main"
			ev.OwnerID = "801"
		}},
		{"push_in_fork", EventPush, func(ev *Event) {
			ev.BaseSHA, ev.HeadSHA, ev.BaseRef, ev.HeadRef = sha("aa"), sha("bb"), "main", "main"
			ev.RepositoryFork, ev.RepositoryID, ev.OwnerID = true, "71999", "802"
		}},
		{"push_new_branch", EventPush, func(ev *Event) {
			ev.Ref, ev.HeadSHA, ev.BaseRef, ev.HeadRef = "refs/heads/topic/new", sha("bb"), "topic/new", "topic/new"
		}},
		{"workflow_dispatch", EventWorkflowDispatch, func(ev *Event) { ev.HeadSHA = sha("33") }},
		{"schedule", EventSchedule, func(ev *Event) { ev.HeadSHA = sha("33") }},
		{"workflow_run", EventWorkflowRun, func(ev *Event) {
			ev.Action, ev.HeadSHA = "completed", sha("22")
			ev.Run = WorkflowRun{ID: 7000000001, Attempt: 2, Workflow: "packs", Event: EventPullRequest, HeadSHA: sha("22"),
				HeadOwner: "visitor", HeadBranch: "refund-limit", Conclusion: "failure"}
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			want := common
			want.Name = c.name
			c.want(&want)
			got, err := ReadEvent(getenv(runner(c.name, filepath.Join("testdata", c.file+".json"))), os.ReadFile)
			if err != nil {
				t.Fatal(err)
			}
			if *got != want {
				t.Errorf("got  %+v\nwant %+v", *got, want)
			}
		})
	}
}

func TestReadEventErrors(t *testing.T) {
	const pr = `{"pull_request":{"number":7,"base":{"sha":"BASE"},"head":{"sha":"HEAD"}}}`
	full := strings.NewReplacer("BASE", strings.Repeat("1", 40), "HEAD", strings.Repeat("2", 64))
	for _, c := range []struct {
		name    string
		set     map[string]string
		payload string
		kind    error
		want    string
	}{
		{"laptop", map[string]string{"GITHUB_SHA": "", "GITHUB_EVENT_PATH": ""}, pr, ErrNotActions,
			"not set: GITHUB_EVENT_PATH, GITHUB_SHA; this command runs inside GitHub Actions only; use `packgate check`"},
		{"target", map[string]string{"GITHUB_EVENT_NAME": "pull_request_target"}, pr, ErrRefused, "use `on: pull_request`"},
		{"unknown", map[string]string{"GITHUB_EVENT_NAME": "issues"}, pr, ErrUnknownEvent,
			`event "issues" is not supported, wanted one of merge_group, pull_request, pull_request_review, push, schedule, workflow_dispatch, workflow_run`},
		{"sha", map[string]string{"GITHUB_SHA": "main"}, pr, ErrNotActions, `GITHUB_SHA is "main", wanted 40 or 64`},
		{"repository", map[string]string{"GITHUB_REPOSITORY": "acme/packs/x"}, pr, ErrNotActions, "wanted owner/name"},
		{"run", map[string]string{"GITHUB_RUN_ID": "7\n8"}, pr, ErrNotActions, `GITHUB_RUN_ID is "7\n8"`},
		{"attempt", map[string]string{"GITHUB_RUN_ATTEMPT": "first"}, pr, ErrNotActions, "GITHUB_RUN_ATTEMPT"},
		{"repository id", map[string]string{"GITHUB_REPOSITORY_ID": "x"}, pr, ErrNotActions, `GITHUB_REPOSITORY_ID is "x", wanted a number`},
		{"owner id", map[string]string{"GITHUB_REPOSITORY_OWNER_ID": "-1"}, pr, ErrNotActions, `GITHUB_REPOSITORY_OWNER_ID is "-1", wanted a number`},
		{"server", map[string]string{"GITHUB_SERVER_URL": "github.com"}, pr, ErrNotActions, "GITHUB_SERVER_URL"},
		{"syntax", nil, `{"action": "opened",, }`, ErrPayload, `"event.json" is not what GitHub sends, at byte 21 of 23`},
		{"cut", nil, `{"action": "opened"`, ErrPayload, "at byte 19 of 19"},
		{"type", nil, `{"pull_request": {"number": "7"}}`, ErrPayload, "at byte 31 of 33"},
		{"not an object", nil, `[]`, ErrPayload, "at byte 1 of 2"},
		{"null", nil, `null`, ErrPayload, "no pull_request in it"},
		{"number", nil, `{"pull_request":{}}`, ErrPayload, "pull_request.number is 0"},
		{"base", nil, pr, ErrPayload, `pull_request.base.sha is "BASE"`},
		{"head", nil, strings.Replace(full.Replace(pr), strings.Repeat("2", 64), strings.Repeat("0", 40), 1),
			ErrPayload, "pull_request.head.sha is all zeros"},
		{"no group", map[string]string{"GITHUB_EVENT_NAME": EventMergeGroup}, pr, ErrPayload, "no merge_group in it"},
		{"group base", map[string]string{"GITHUB_EVENT_NAME": EventMergeGroup}, `{"merge_group":{"base_sha":"x"}}`,
			ErrPayload, `merge_group.base_sha is "x"`},
		{"group number", map[string]string{"GITHUB_EVENT_NAME": EventMergeGroup},
			full.Replace(`{"merge_group":{"base_sha":"BASE","head_sha":"HEAD","head_ref":"q/main/pr-99999999999999999999-BASE"}}`),
			ErrPayload, "value out of range"},
		{"push before", map[string]string{"GITHUB_EVENT_NAME": EventPush}, full.Replace(`{"before":"","after":"HEAD"}`),
			ErrPayload, `before is ""`},
		{"no push", map[string]string{"GITHUB_EVENT_NAME": EventPush}, pr, ErrPayload, `after is ""`},
		{"no run", map[string]string{"GITHUB_EVENT_NAME": EventWorkflowRun}, pr, ErrPayload, "no workflow_run in it"},
		{"run not ended", map[string]string{"GITHUB_EVENT_NAME": EventWorkflowRun}, `{"action":"requested","workflow_run":{}}`,
			ErrPayload, `action is "requested", wanted completed`},
		{"run without id", map[string]string{"GITHUB_EVENT_NAME": EventWorkflowRun}, `{"action":"completed","workflow_run":{}}`,
			ErrPayload, "workflow_run.id is 0"},
		{"run without attempt", map[string]string{"GITHUB_EVENT_NAME": EventWorkflowRun}, `{"action":"completed","workflow_run":{"id":1}}`,
			ErrPayload, "workflow_run.run_attempt is 0"},
		{"run without head", map[string]string{"GITHUB_EVENT_NAME": EventWorkflowRun}, `{"action":"completed","workflow_run":{"id":1,"run_attempt":1,"head_sha":"../x"}}`,
			ErrPayload, `workflow_run.head_sha is "../x"`},
		{"large", nil, strings.Repeat(" ", MaxPayload+1), ErrTooLarge, "has 10485761 bytes, wanted at most 10485760"},
	} {
		t.Run(c.name, func(t *testing.T) {
			variables := runner(EventPullRequest, "event.json")
			maps.Copy(variables, c.set)
			_, err := ReadEvent(getenv(variables), func(string) ([]byte, error) { return []byte(c.payload), nil })
			if !errors.Is(err, c.kind) {
				t.Fatalf("got %v, wanted kind %v", err, c.kind)
			}
			if !strings.Contains(told(err), c.want) {
				t.Errorf("got %q, wanted %q in it", err, c.want)
			}
		})
	}
}

// GitHub gives the runs of forks and of Dependabot a token that may only read.
func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		ev   Event
		want bool
	}{
		{Event{Name: EventPullRequest, Actor: "kim"}, false},
		{Event{Name: EventPullRequest, Actor: "kim", Fork: true}, true},
		{Event{Name: EventReview, Actor: "kim"}, false},
		{Event{Name: EventReview, Actor: "kim", Fork: true}, true},
		{Event{Name: EventMergeGroup, Actor: "kim", Fork: true}, false},
		{Event{Name: EventPullRequest, Actor: "dependabot[bot]"}, true},
		{Event{Name: EventMergeGroup, Actor: "dependabot[bot]"}, false},
	} {
		if got := c.ev.ReadOnly(); got != c.want {
			t.Errorf("%+v: got %v", c.ev, got)
		}
	}
}

// Addresses lead to the server of the event, and to commits alone.
func TestAddresses(t *testing.T) {
	ev := Event{Name: EventPush, ServerURL: "https://git.acme.example", Repository: "acme/packs", RunID: "5", RunAttempt: "2"}
	if got, want := ev.RunURL(), "https://git.acme.example/acme/packs/actions/runs/5/attempts/2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ev.Name, ev.Run = EventWorkflowRun, WorkflowRun{ID: 7, Attempt: 1}
	if got, want := ev.RunURL(), "https://git.acme.example/acme/packs/actions/runs/7/attempts/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	commit := strings.Repeat("ab", 20)
	if got, want := ev.BlobURL(commit), "https://git.acme.example/acme/packs/blob/"+commit+"/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := ev.BlobURL("../../x"); got != "" {
		t.Errorf("got %s for what is no commit", got)
	}
}

// The same payload with both forms of a SHA must pass, or the failures above
// would prove nothing.
func TestReadEventLongSHA(t *testing.T) {
	body := `{"pull_request":{"number":7,"base":{"sha":"` + strings.Repeat("A", 64) + `"},"head":{"sha":"` + strings.Repeat("2", 40) + `"}}}`
	ev, err := ReadEvent(getenv(runner(EventPullRequest, "e")), func(string) ([]byte, error) { return []byte(body), nil })
	if err != nil {
		t.Fatal(err)
	}
	if ev.BaseSHA != strings.Repeat("a", 64) {
		t.Errorf("base %q is not in lower case", ev.BaseSHA)
	}
}

func TestReadEventFiles(t *testing.T) {
	_, err := ReadEvent(getenv(runner(EventPush, "testdata/absent.json")), os.ReadFile)
	if !errors.Is(err, ErrPayload) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent payload: got %v", err)
	}
	_, err = ReadEvent(getenv(runner(EventPush, "testdata/push_deleted_branch.json")), os.ReadFile)
	if err == nil || !strings.Contains(err.Error(), `the push deleted "refs/heads/topic/old"`) {
		t.Errorf("deleted branch: got %v", err)
	}
}

// Whatever the payload, reading it ends, and what it accepts names commits.
func FuzzReadEvent(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	names := []string{EventPullRequest, EventReview, EventMergeGroup, EventPush, EventWorkflowDispatch, EventSchedule, EventWorkflowRun}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := range names {
			f.Add(uint8(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := names[int(which)%len(names)]
		ev, err := ReadEvent(getenv(runner(name, "event.json")), func(string) ([]byte, error) { return data, nil })
		if err != nil {
			if !errors.Is(err, ErrPayload) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("error without a kind: %v", err)
			}
			return
		}
		if !isSHA(ev.HeadSHA) || isZero(ev.HeadSHA) {
			t.Errorf("head %q was accepted", ev.HeadSHA)
		}
		if ev.BaseSHA != "" && (!isSHA(ev.BaseSHA) || isZero(ev.BaseSHA)) {
			t.Errorf("base %q was accepted", ev.BaseSHA)
		}
		if (ev.PullRequest > 0) != ev.Proposal() && name != EventMergeGroup {
			t.Errorf("%s has pull request %d", name, ev.PullRequest)
		}
	})
}
