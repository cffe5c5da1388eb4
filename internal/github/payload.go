package github

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding/fault"
)

// payload is the part of GitHub's webhook payloads that is read. Members that
// decide something are pointers where "absent" must be told from "empty".
type payload struct {
	Action      string            `json:"action"`
	Repository  *repositoryObject `json:"repository"`
	PullRequest *struct {
		Number int `json:"number"`
		User   *struct {
			Login string `json:"login"`
		} `json:"user"`
		Base branchEnd `json:"base"`
		Head branchEnd `json:"head"`
	} `json:"pull_request"`
	MergeGroup *struct {
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
	} `json:"merge_group"`
	WorkflowRun *struct {
		ID         int64             `json:"id"`
		Attempt    int64             `json:"run_attempt"`
		Name       string            `json:"name"`
		Event      string            `json:"event"`
		HeadSHA    string            `json:"head_sha"`
		HeadBranch string            `json:"head_branch"`
		Conclusion string            `json:"conclusion"`
		HeadRepo   *repositoryObject `json:"head_repository"`
	} `json:"workflow_run"`
	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Deleted bool   `json:"deleted"`
}

// branchEnd is one side of a pull request.
type branchEnd struct {
	SHA  string            `json:"sha"`
	Ref  string            `json:"ref"`
	Repo *repositoryObject `json:"repo"`
}

// repositoryObject is a repository as payloads describe it.
type repositoryObject struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Fork          bool   `json:"fork"`
	Owner         struct {
		ID int64 `json:"id"`
	} `json:"owner"`
}

// queuePullRequest finds the number in the name of a merge queue's branch. The
// payload has no other place for it. The digits after it are the commit the
// entry was queued on and need not be base_sha.
var queuePullRequest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/pr-([0-9]+)-[0-9a-f]{40}(?:[0-9a-f]{24})?$`)
})

// readPayload fills the event from the payload; file is named in errors only.
func (ev *Event) readPayload(file string, data []byte) error {
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return malformed(file, data, err)
	}
	ev.Action = p.Action
	if r := p.Repository; r != nil {
		ev.DefaultBranch, ev.RepositoryFork = r.DefaultBranch, r.Fork
		ev.RepositoryID, ev.OwnerID = cmp.Or(ev.RepositoryID, identifier(r.ID)), cmp.Or(ev.OwnerID, identifier(r.Owner.ID))
	}
	var err error
	switch ev.Name {
	case EventPullRequest, EventReview:
		err = ev.fromPullRequest(&p)
	case EventMergeGroup:
		err = ev.fromMergeGroup(&p)
	case EventPush:
		err = ev.fromPush(&p)
	case EventWorkflowRun:
		err = ev.fromWorkflowRun(&p)
	default:
		ev.HeadSHA = ev.SHA
	}
	if err != nil {
		return &fault.Error{Kind: ErrPayload, Message: fmt.Sprintf("event payload %q of %s", file, ev.Name), Cause: err}
	}
	return nil
}

func (ev *Event) fromPullRequest(p *payload) (err error) {
	pr := p.PullRequest
	if pr == nil {
		return errors.New("no pull_request in it")
	}
	if pr.Number < 1 {
		return fmt.Errorf("pull_request.number is %d, wanted a positive number", pr.Number)
	}
	if ev.BaseSHA, err = sha("pull_request.base.sha", pr.Base.SHA); err != nil {
		return err
	}
	if ev.HeadSHA, err = sha("pull_request.head.sha", pr.Head.SHA); err != nil {
		return err
	}
	ev.PullRequest = pr.Number
	ev.BaseRef, ev.HeadRef = pr.Base.Ref, pr.Head.Ref
	if pr.User != nil {
		ev.Author = pr.User.Login
	}
	ev.Fork = pr.Head.Repo == nil || !strings.EqualFold(pr.Head.Repo.FullName, ev.Repository)
	return nil
}

func (ev *Event) fromMergeGroup(p *payload) (err error) {
	group := p.MergeGroup
	if group == nil {
		return errors.New("no merge_group in it")
	}
	if ev.BaseSHA, err = sha("merge_group.base_sha", group.BaseSHA); err != nil {
		return err
	}
	if ev.HeadSHA, err = sha("merge_group.head_sha", group.HeadSHA); err != nil {
		return err
	}
	ev.BaseRef, ev.HeadRef = branch(group.BaseRef), branch(group.HeadRef)
	if m := queuePullRequest().FindStringSubmatch(group.HeadRef); m != nil {
		if ev.PullRequest, err = strconv.Atoi(m[1]); err != nil {
			return fmt.Errorf("merge_group.head_ref is %q: %w", group.HeadRef, err)
		}
	}
	return nil
}

func (ev *Event) fromPush(p *payload) (err error) {
	if p.Deleted {
		return fmt.Errorf("the push deleted %q, so there is nothing to check", p.Ref)
	}
	if ev.HeadSHA, err = sha("after", p.After); err != nil {
		return err
	}
	// A push that creates its branch or tag has no commit before it.
	if !isZero(p.Before) {
		if ev.BaseSHA, err = sha("before", p.Before); err != nil {
			return err
		}
	}
	ev.Ref = cmp.Or(p.Ref, ev.Ref)
	ev.HeadRef = branch(ev.Ref)
	ev.BaseRef = ev.HeadRef
	return nil
}

func (ev *Event) fromWorkflowRun(p *payload) (err error) {
	run := p.WorkflowRun
	switch {
	case run == nil:
		return errors.New("no workflow_run in it")
	case p.Action != "completed":
		return fmt.Errorf("action is %q, wanted completed: a run that has not ended has nothing to post", p.Action)
	case run.ID < 1:
		return fmt.Errorf("workflow_run.id is %d, wanted a positive number", run.ID)
	case run.Attempt < 1:
		return fmt.Errorf("workflow_run.run_attempt is %d, wanted a positive number", run.Attempt)
	}
	if ev.HeadSHA, err = sha("workflow_run.head_sha", run.HeadSHA); err != nil {
		return err
	}
	ev.Run = WorkflowRun{
		ID: run.ID, Attempt: run.Attempt, Workflow: run.Name, Event: run.Event,
		HeadSHA: ev.HeadSHA, HeadBranch: run.HeadBranch, Conclusion: run.Conclusion,
	}
	if run.HeadRepo != nil {
		ev.Run.HeadOwner, _, _ = strings.Cut(run.HeadRepo.FullName, "/")
	}
	return nil
}

// identifier returns a number of GitHub's as it is compared; "" where there is none.
func identifier(id int64) string {
	if id < 1 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// branch returns a branch's name without refs/heads/; other refs stay whole.
func branch(ref string) string {
	return strings.TrimPrefix(ref, "refs/heads/")
}

// malformed names the byte at which the JSON reader gave up.
func malformed(file string, data []byte, err error) error {
	var (
		offset    = int64(len(data))
		syntax    *json.SyntaxError
		wrongType *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrongType):
		offset = wrongType.Offset
	}
	return &fault.Error{Kind: ErrPayload,
		Message: fmt.Sprintf("event payload %q is not what GitHub sends, at byte %d of %d", file, offset, len(data)), Cause: err}
}
