package github

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
)

// MaxPayload is the largest event payload that is read, in bytes. GitHub caps
// its payloads at 25 MB and real ones of these events stay far below 1 MB.
const MaxPayload = 10 << 20

// The events that packgate runs on, by the name GitHub gives them.
const (
	EventPullRequest      = "pull_request"
	EventReview           = "pull_request_review" // somebody approved, asked for changes, or took that back
	EventMergeGroup       = "merge_group"
	EventPush             = "push"
	EventWorkflowDispatch = "workflow_dispatch"
	EventSchedule         = "schedule"
	EventWorkflowRun      = "workflow_run"
)

// Event is what started the job: the runner's variables and the part of the
// payload that packgate acts upon. SHAs are lower case and of full length.
type Event struct {
	Name   string // one of the event constants of this package
	Action string // the payload's activity type ("opened", "synchronize", "checks_requested"), empty for events without one

	SHA string // GITHUB_SHA, the commit the run belongs to. For pull_request that is the merge commit GitHub prepared, not the head of the branch.
	Ref string // GITHUB_REF, or the payload's ref for a push
	// BaseSHA is the commit the change is compared with: the tip of the base
	// branch (pull_request), the commit the group was built on (merge_group), the
	// commit before the push. It is empty for a push that created its branch or
	// tag and for events that change nothing.
	BaseSHA          string
	HeadSHA          string // the commit that is proposed, or was pushed, or is being worked on
	BaseRef, HeadRef string // BaseRef and HeadRef name the branches, without refs/heads/. HeadRef is chosen by the author of a pull request.
	PullRequest      int    // the number of the pull request, zero if there is none
	Author           string // the login of whoever opened the pull request that is proposed; empty where the payload does not say
	// Fork is true for a pull request from another repository, whose run has a
	// token that may only read. A deleted head repository counts as a fork.
	Fork bool
	Run  WorkflowRun // the run that ended, for workflow_run alone

	Repository     string // owner/name of the repository that runs the workflow
	DefaultBranch  string // the repository's default branch, empty where the payload does not say
	RepositoryFork bool   // true where that repository is a fork itself, as far as the payload says
	// RepositoryID and OwnerID are the decimal numbers of the repository and of the
	// account that owns it, which stay when names change hands; empty where neither
	// the runner nor the payload says.
	RepositoryID, OwnerID string
	ServerURL             string // the GitHub server ("https://github.com", or GitHub Enterprise Server), without a slash at its end
	APIURL                string // GITHUB_API_URL, the REST API of that server
	RunID, RunAttempt     string // RunID and RunAttempt are decimal numbers that name this run
	Actor                 string // the login that caused the run; "dependabot[bot]" runs with a token that may only read
	// Workspace is GITHUB_WORKSPACE, the folder of the checkout. The current
	// folder of a container action is not reliable, so this is the root to use.
	Workspace string
}

// WorkflowRun is a run of another workflow, as the event workflow_run describes it.
type WorkflowRun struct {
	ID, Attempt     int64  // ID and Attempt name the run
	Workflow, Event string // the name of its workflow, and Event what started it
	HeadSHA         string // the commit that was proposed or pushed; for pull_request it is the head of the branch, not the merge commit
	// HeadOwner and HeadBranch say where that commit was: the owner of the
	// repository that proposed it, empty where that is gone, and its branch.
	HeadOwner, HeadBranch string
	Conclusion            string // how it ended: success, failure, cancelled, …
}

// RunURL returns the address of the run that the event is about, on the server of
// the event: that which ended, for workflow_run, and else the run itself.
func (ev *Event) RunURL() string {
	id, attempt := ev.RunID, ev.RunAttempt
	if ev.Name == EventWorkflowRun {
		id, attempt = strconv.FormatInt(ev.Run.ID, 10), strconv.FormatInt(ev.Run.Attempt, 10)
	}
	return fmt.Sprintf("%s/%s/actions/runs/%s/attempts/%s", ev.ServerURL, ev.Repository, id, attempt)
}

// BlobURL returns the address of the files of a commit, to which the name of a file
// is appended; "" for what is no name of a commit.
func (ev *Event) BlobURL(commit string) string {
	if !isSHA(commit) {
		return ""
	}
	return fmt.Sprintf("%s/%s/blob/%s/", ev.ServerURL, ev.Repository, commit)
}

// Proposal reports whether the run is about a pull request that is open for review.
func (ev *Event) Proposal() bool { return slices.Contains(Proposals(), ev.Name) }

// Proposals returns the events that run on the merge of a pull request into its base, sorted.
func Proposals() []string { return []string{EventPullRequest, EventReview} }

// ReadOnly reports whether GitHub gives the run a token that may only read,
// whatever the workflow grants: pull requests from forks and of Dependabot.
func (ev *Event) ReadOnly() bool {
	return ev.Proposal() && (ev.Fork || ev.Actor == "dependabot[bot]")
}

// signingLines are what the job that signs has to have.
const signingLines = "permissions: {contents: read, id-token: write, packages: write, pull-requests: read}"

// What a job lacks that may not ask for an identity token.
const (
	signingHint   = "set in the job that publishes: " + signingLines
	timestampHint = "set in the job that signs timestamps: permissions: {contents: read, id-token: write, packages: write}"
)

// SigningEvents are the events of which a run may sign, sorted. A run for a pull
// request or a merge queue is about what is not merged, a later run is not about the
// commit it runs at, and one that a clock starts is asked for by nobody.
func SigningEvents() []string { return []string{EventPush, EventWorkflowDispatch} }

// MaySign returns nil where the run may sign what it publishes: it was started by a
// push to a branch or by hand on one, not in a fork, and its job may ask for an
// identity token. Whether the identity is the one that is wanted is not looked at.
//
// The error is of kind ErrRefused where the run must not sign, and of kind
// ErrForbidden where its job lacks the permission.
func (ev *Event) MaySign(getenv func(string) string) error {
	refuse := func(hint, format string, args ...any) error {
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch branch, onBranch := strings.CutPrefix(ev.Ref, "refs/heads/"); {
	case ev.Name != EventPush && ev.Name != EventWorkflowDispatch:
		return refuse("publish in a job of its own, `on: push: branches: [main]`, with "+signingLines,
			"a run of %s does not sign, wanted one of %s", ev.Name, strings.Join(SigningEvents(), ", "))
	case !onBranch || branch == "":
		return refuse("publish on a push to the branch: `on: push: branches: [main]`", "%q is not a branch: packgate signs only on branches", ev.Ref)
	case ev.RepositoryFork:
		return refuse("publish in the repository that was forked, or keep the job from running here: `if: ${{ !github.event.repository.fork }}`",
			"%s is a fork, and forks do not publish", ev.Repository)
	}
	return tokenService(getenv, signingHint)
}

// TimestampEvents are the events of which a run may sign timestamps, sorted.
func TimestampEvents() []string { return []string{EventSchedule, EventWorkflowDispatch} }

// MayTimestamp is MaySign for a run that signs timestamps and nothing else: it was started by
// a clock, or by hand.
func (ev *Event) MayTimestamp(getenv func(string) string) error {
	refuse := func(hint, format string, args ...any) error {
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case !slices.Contains(TimestampEvents(), ev.Name):
		return refuse("sign timestamps in a workflow file of its own, `on: schedule` and `workflow_dispatch`",
			"a run of %s does not sign timestamps, wanted one of %s", ev.Name, strings.Join(TimestampEvents(), ", "))
	case !strings.HasPrefix(ev.Ref, "refs/heads/"):
		return refuse("start it on the default branch", "%q is not a branch: packgate signs only on branches", ev.Ref)
	case ev.RepositoryFork:
		return refuse("keep the job from running here: `if: ${{ !github.event.repository.fork }}`", "%s is a fork, and forks do not sign timestamps", ev.Repository)
	}
	return tokenService(getenv, timestampHint)
}

// NotifyEvents are the events of which a run may tell what happened to published packs, sorted.
func NotifyEvents() []string { return []string{EventSchedule, EventWorkflowDispatch} }

// MayNotify returns nil where the run may open issues and send events: it was started by a clock or by
// hand on the default branch, whose config says who is notified, and its job cannot sign. The error is of
// kind ErrRefused.
func (ev *Event) MayNotify(getenv func(string) string) error {
	refuse := func(hint, format string, args ...any) error {
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	const own = "move notices to a job of their own, with permissions: {contents: read, issues: write, packages: read}"
	switch {
	case !slices.Contains(NotifyEvents(), ev.Name):
		return refuse(own+", on schedule and workflow_dispatch", "a run of %s does not send notices, wanted one of %s", ev.Name, strings.Join(NotifyEvents(), ", "))
	case ev.RepositoryFork:
		return refuse("keep the job from running here: `if: ${{ !github.event.repository.fork }}`", "%s is a fork, and forks do not send notices", ev.Repository)
	case ev.Name != EventSchedule && (ev.DefaultBranch == "" || ev.Ref != "refs/heads/"+ev.DefaultBranch):
		return refuse("start it on the default branch", "the run is of %q, wanted the default branch, whose config says who is notified", ev.Ref)
	case getenv(tokenURL) != "" || getenv(tokenToken) != "":
		return refuse(own, "the job may ask for an identity token, and what opens issues must not be able to sign")
	}
	return nil
}

// ReadEvent reads the runner's variables through getenv and the payload they
// point to through readFile. Its errors are of kind ErrNotActions, ErrRefused
// (pull_request_target), ErrUnknownEvent, ErrPayload or ErrTooLarge.
func ReadEvent(getenv func(string) string, readFile func(string) ([]byte, error)) (*Event, error) {
	if err := requireVariables(getenv); err != nil {
		return nil, err
	}
	name := getenv("GITHUB_EVENT_NAME")
	if err := checkName(name); err != nil {
		return nil, err
	}
	ev := &Event{
		Name:       name,
		SHA:        strings.ToLower(getenv("GITHUB_SHA")),
		Ref:        getenv("GITHUB_REF"),
		Repository: getenv("GITHUB_REPOSITORY"),
		ServerURL:  strings.TrimRight(getenv("GITHUB_SERVER_URL"), "/"),
		APIURL:     strings.TrimRight(getenv("GITHUB_API_URL"), "/"),
		RunID:      getenv("GITHUB_RUN_ID"),
		RunAttempt: getenv("GITHUB_RUN_ATTEMPT"),
		Actor:      getenv("GITHUB_ACTOR"),
		Workspace:  getenv("GITHUB_WORKSPACE"),

		RepositoryID: getenv("GITHUB_REPOSITORY_ID"),
		OwnerID:      getenv("GITHUB_REPOSITORY_OWNER_ID"),
	}
	if err := ev.checkVariables(); err != nil {
		return nil, err
	}
	file := getenv("GITHUB_EVENT_PATH")
	data, err := readFile(file)
	if err != nil {
		return nil, &fault.Error{Kind: ErrPayload, Message: fmt.Sprintf("cannot read the event payload %q", file), Cause: err}
	}
	if len(data) > MaxPayload {
		return nil, &fault.Error{Kind: ErrTooLarge,
			Message: fmt.Sprintf("event payload %q has %d bytes, wanted at most %d", file, len(data), MaxPayload)}
	}
	if err := ev.readPayload(file, data); err != nil {
		return nil, err
	}
	return ev, nil
}

// requireVariables names every missing variable at once. The runner sets all of
// these for every step, so one that is missing means another place to run.
func requireVariables(getenv func(string) string) error {
	wanted := []string{
		"GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "GITHUB_RUN_ATTEMPT",
		"GITHUB_RUN_ID", "GITHUB_SERVER_URL", "GITHUB_SHA", "GITHUB_WORKSPACE",
	}
	missing := slices.DeleteFunc(wanted, func(name string) bool { return getenv(name) != "" })
	if len(missing) == 0 {
		return nil
	}
	return &fault.Error{
		Kind:    ErrNotActions,
		Message: "not set: " + strings.Join(missing, ", ") + "; this command runs inside GitHub Actions only",
		Hint:    "use `packgate check` on a laptop or in another CI system",
	}
}

// checkName refuses what packgate must not or cannot run on, before anything of
// the payload is read.
func checkName(name string) error {
	supported := []string{EventMergeGroup, EventPullRequest, EventReview, EventPush, EventSchedule, EventWorkflowDispatch, EventWorkflowRun}
	switch {
	case slices.Contains(supported, name):
		return nil
	case name == "pull_request_target":
		return &fault.Error{
			Kind: ErrRefused,
			Message: "pull_request_target is refused: it runs on the base branch with secrets and a token that may write, " +
				"so the change itself would either not be checked or be checked out next to those secrets",
			Hint: "use `on: pull_request`, which checks the merge of the change with a token that may only read for forks",
		}
	}
	return &fault.Error{
		Kind:    ErrUnknownEvent,
		Message: fmt.Sprintf("event %q is not supported, wanted one of %s", name, strings.Join(supported, ", ")),
		Hint:    "change the `on:` of the workflow",
	}
}

// checkVariables holds the variables to the form they are documented to have,
// because SHA, repository, run and server end up in requests and in markers.
func (ev *Event) checkVariables() error {
	var problem string
	server, err := url.Parse(ev.ServerURL)
	owner, name, slash := strings.Cut(ev.Repository, "/")
	switch {
	case !isSHA(ev.SHA):
		problem = fmt.Sprintf("GITHUB_SHA is %q, wanted 40 or 64 hexadecimal digits", ev.SHA)
	case !slash || owner == "" || name == "" || strings.Contains(name, "/"):
		problem = fmt.Sprintf("GITHUB_REPOSITORY is %q, wanted owner/name", ev.Repository)
	case !isNumber(ev.RunID):
		problem = fmt.Sprintf("GITHUB_RUN_ID is %q, wanted a number", ev.RunID)
	case !isNumber(ev.RunAttempt):
		problem = fmt.Sprintf("GITHUB_RUN_ATTEMPT is %q, wanted a number", ev.RunAttempt)
	case ev.RepositoryID != "" && !isNumber(ev.RepositoryID):
		problem = fmt.Sprintf("GITHUB_REPOSITORY_ID is %q, wanted a number", ev.RepositoryID)
	case ev.OwnerID != "" && !isNumber(ev.OwnerID):
		problem = fmt.Sprintf("GITHUB_REPOSITORY_OWNER_ID is %q, wanted a number", ev.OwnerID)
	case err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http":
		problem = fmt.Sprintf("GITHUB_SERVER_URL is %q, wanted an address such as https://github.com", ev.ServerURL)
	default:
		return nil
	}
	return &fault.Error{Kind: ErrNotActions, Message: problem}
}

// isSHA reports whether s is the full name of a git object, SHA-1 or SHA-256,
// in lower case.
func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// isZero reports whether s is the all-zero name by which GitHub says that there
// is no such commit.
func isZero(s string) bool {
	return isSHA(s) && strings.Trim(s, "0") == ""
}

func isNumber(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// sha returns s in lower case if it names a git object, and otherwise an error
// that says which member of the payload it came from.
func sha(member, s string) (string, error) {
	lower := strings.ToLower(s)
	if !isSHA(lower) {
		return "", fmt.Errorf("%s is %q, wanted 40 or 64 hexadecimal digits", member, s)
	}
	if isZero(lower) {
		return "", errors.New(member + " is all zeros, wanted a commit")
	}
	return lower, nil
}
