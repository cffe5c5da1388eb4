package stack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Run is a run of a workflow on GitHub. The zero value of a field means that of a push
// to the branch main of acme/packs, whose workflow is packs.yml.
type Run struct {
	// Issuer issues the token of the job; Stack.GitHub in general.
	Issuer *Issuer
	// Repository is owner/name of the repository.
	Repository string
	// Workflow is the file name of the workflow.
	Workflow string
	// Calls is the workflow of another repository that the job's workflow calls, as
	// owner/name/path@ref: the one that the certificate names.
	Calls string
	// Ref is the full name of what was pushed.
	Ref string
	// Event is the name of the event.
	Event string
	// Before and SHA are the commits before and after the push.
	Before, SHA string
	// Expired makes the tokens ones that have expired.
	Expired bool
	// NoToken leaves the token out, as in a job without "id-token: write".
	NoToken bool
	// Gate, where there is one, is in front of the issuer.
	Gate *Gate
	// API is the address of GitHub's API, and Token the job's token for it.
	API, Token string
}

// The ids of the repository acme/packs and of its owner; every other repository has
// others.
const (
	RepositoryID = "10101"
	OwnerID      = "20202"
)

// withDefaults returns the run with every field that the claims need.
func (r Run) withDefaults() Run {
	for field, value := range map[*string]string{
		&r.Repository: "acme/packs", &r.Workflow: "packs.yml", &r.Ref: "refs/heads/main", &r.Event: "push",
		&r.SHA: strings.Repeat("0123456789", 4), &r.Before: strings.Repeat("0", 40), &r.API: "http://127.0.0.1:1",
	} {
		if *field == "" {
			*field = value
		}
	}
	return r
}

// ids returns those of repository and owner.
func (r Run) ids() (repository, owner string) {
	if r.Repository == "acme/packs" {
		return RepositoryID, OwnerID
	}
	return "30303", "40404"
}

func (r Run) workflow() string {
	return r.Repository + "/.github/workflows/" + r.Workflow + "@" + r.Ref
}

// JobWorkflow returns the workflow that the certificate of the job names, as
// owner/name/path@ref.
func (r Run) JobWorkflow() string {
	if r.Calls != "" {
		return r.Calls
	}
	return r.withDefaults().workflow()
}

// Claims returns what GitHub puts into the token of a job of the run.
func (r Run) Claims() Claims {
	r = r.withDefaults()
	owner, _, _ := strings.Cut(r.Repository, "/")
	id, ownerID := r.ids()
	workflow := r.workflow()
	return Claims{
		"sub": "repo:" + r.Repository + ":ref:" + r.Ref,
		"ref": r.Ref, "ref_type": "branch", "ref_protected": "true", "head_ref": "", "base_ref": "",
		"sha": r.SHA, "repository": r.Repository, "repository_owner": owner,
		"repository_id": id, "repository_owner_id": ownerID, "repository_visibility": "public",
		"run_id": "4242", "run_number": "7", "run_attempt": "1", "event_name": r.Event,
		"actor": "octocat", "actor_id": "12", "workflow": "packs",
		"workflow_ref": workflow, "workflow_sha": r.SHA,
		"job_workflow_ref": r.JobWorkflow(), "job_workflow_sha": r.SHA,
		"runner_environment": "github-hosted",
	}
}

// Env returns the environment that the runner gives to a step of the job. Workspace
// is the checkout; the payload of the event, the files for outputs and summary, and
// the home folder are in dir.
func (r Run) Env(dir, workspace string) ([]string, error) {
	r = r.withDefaults()
	payload, err := json.Marshal(r.payload())
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"event.json": string(payload), "output": "", "summary": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	owner, _, _ := strings.Cut(r.Repository, "/")
	id, ownerID := r.ids()
	env := []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_ACTION=packgate", "GITHUB_ACTOR=octocat",
		"GITHUB_API_URL=" + r.API, "GITHUB_SERVER_URL=https://github.com",
		"GITHUB_EVENT_NAME=" + r.Event, "GITHUB_EVENT_PATH=" + filepath.Join(dir, "event.json"),
		"GITHUB_JOB=publish", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"),
		"GITHUB_REF=" + r.Ref, "GITHUB_REF_NAME=" + branch(r.Ref), "GITHUB_REF_TYPE=branch",
		"GITHUB_REPOSITORY=" + r.Repository, "GITHUB_REPOSITORY_OWNER=" + owner,
		"GITHUB_REPOSITORY_ID=" + id, "GITHUB_REPOSITORY_OWNER_ID=" + ownerID,
		"GITHUB_RUN_ATTEMPT=1", "GITHUB_RUN_ID=4242", "GITHUB_RUN_NUMBER=7", "GITHUB_SHA=" + r.SHA,
		"GITHUB_WORKFLOW=packs", "GITHUB_WORKFLOW_REF=" + r.workflow(),
		"GITHUB_WORKSPACE=" + workspace,
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "RUNNER_ARCH=X64", "RUNNER_OS=Linux", "RUNNER_TEMP=" + dir,
	}
	if r.NoToken {
		return env, nil
	}
	lifetime := 5 * time.Minute
	if r.Expired {
		lifetime = -time.Minute
	}
	job := r.Issuer.Job(r.Claims(), lifetime)
	if r.Gate != nil {
		if job.RequestURL, err = r.Gate.Before(job.RequestURL); err != nil {
			return nil, err
		}
	}
	return append(env, "ACTIONS_ID_TOKEN_REQUEST_URL="+job.RequestURL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN="+job.RequestToken), nil
}

// payload is the part of GitHub's payload that says what happened where.
func (r Run) payload() map[string]any {
	owner, name, _ := strings.Cut(r.Repository, "/")
	id, ownerID := r.ids()
	return map[string]any{
		"ref": r.Ref, "before": r.Before, "after": r.SHA, "deleted": false, "created": false,
		"repository": map[string]any{
			"id": json.Number(id), "full_name": r.Repository, "name": name, "fork": false, "default_branch": "main",
			"html_url": "https://github.com/" + r.Repository,
			"owner":    map[string]any{"login": owner, "id": json.Number(ownerID)},
		},
		"sender": map[string]any{"login": "octocat"},
	}
}

func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
