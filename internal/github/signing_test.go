package github

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// Which runs may sign: each event that there is, and what else may be wrong.
func TestMaySign(t *testing.T) {
	offered := map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "https://runner.example/x?y=1", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"}
	const lines = "permissions: {contents: read, id-token: write, packages: write, pull-requests: read}"
	for _, c := range []struct {
		name, file, event string
		set               map[string]string
		kind              error
		want              string
	}{
		{"push", "push", EventPush, nil, nil, ""},
		{"by hand", "workflow_dispatch", EventWorkflowDispatch, nil, nil, ""},
		{"by hand, in part", "workflow_dispatch", EventWorkflowDispatch, map[string]string{"GITHUB_REF": "refs/heads/"}, ErrRefused, `"refs/heads/" is not a branch`},
		{"a tag by hand", "workflow_dispatch", EventWorkflowDispatch, map[string]string{"GITHUB_REF": "refs/tags/v1"}, ErrRefused, `"refs/tags/v1" is not a branch: packgate signs only on branches`},
		{"proposed", "pull_request", EventPullRequest, nil, ErrRefused, "a run of pull_request does not sign, wanted one of push, workflow_dispatch"},
		{"queued", "merge_group", EventMergeGroup, nil, ErrRefused, "a run of merge_group does not sign"},
		{"by the clock", "schedule", EventSchedule, nil, ErrRefused, lines},
		{"after a run", "workflow_run", EventWorkflowRun, nil, ErrRefused, "a run of workflow_run does not sign"},
		{"in a fork", "push_in_fork", EventPush, map[string]string{"GITHUB_REPOSITORY": "visitor/packs"}, ErrRefused, "visitor/packs is a fork"},
		{"without permission", "push", EventPush, map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": ""}, ErrForbidden, "set in the job that publishes: " + lines},
		{"without its token", "push", EventPush, map[string]string{"ACTIONS_ID_TOKEN_REQUEST_TOKEN": ""}, ErrForbidden, "ACTIONS_ID_TOKEN_REQUEST_TOKEN is not set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			variables := runner(c.event, filepath.Join("testdata", c.file+".json"))
			maps.Copy(variables, offered)
			maps.Copy(variables, c.set)
			ev, err := ReadEvent(getenv(variables), os.ReadFile)
			must(t, err)
			err = ev.MaySign(getenv(variables))
			if !errors.Is(err, c.kind) || c.kind == nil && err != nil {
				t.Fatalf("got %v, wanted the kind %v", err, c.kind)
			}
			if err != nil && !strings.Contains(told(err), c.want) {
				t.Errorf("got %q, wanted %q in it", err, c.want)
			}
		})
	}
	// What ReadEvent refuses is refused here too.
	if err := (&Event{Name: "pull_request_target", Ref: "refs/heads/main"}).MaySign(getenv(offered)); !errors.Is(err, ErrRefused) {
		t.Errorf("pull_request_target: %v", err)
	}
}

// A token is fresh, for the audience, masked before it is returned, and asked for
// with what the runner gave.
func TestIDToken(t *testing.T) {
	g := githubtest.New(t)
	g.Claims["sub"] = "repo:acme/packs:ref:refs/heads/main"
	var out bytes.Buffer
	r := &Runner{Out: &out, Getenv: getenv(g.TokenVariables())}
	token, err := r.IDToken(t.Context(), "sigstore", Options{})
	must(t, err)
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	must(t, err)
	if want := `{"aud":"sigstore","sub":"repo:acme/packs:ref:refs/heads/main"}`; string(claims) != want {
		t.Errorf("claims %s, want %s", claims, want)
	}
	if want := "::add-mask::" + token + "\n"; out.String() != want {
		t.Errorf("the log is %q, want %q", out.String(), want)
	}
	if _, err := r.IDToken(t.Context(), "other", Options{}); err != nil || g.Count(githubtest.IDToken) != 2 {
		t.Errorf("asked %d times, %v", g.Count(githubtest.IDToken), err)
	}
	// A token that cannot be masked is not handed on.
	r.Out = broken{}
	if token, err := r.IDToken(t.Context(), "sigstore", Options{}); token != "" || err == nil {
		t.Errorf("%q, %v", token, err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

// Whatever the service answers, no token that is none is returned, and no error
// repeats what was answered or sent.
func TestIDTokenAnswers(t *testing.T) {
	secret := strings.Repeat("s3cret", 4)
	for name, c := range map[string]struct {
		status int
		body   string
		kind   error
	}{
		"nothing":            {200, ``, ErrUnavailable},
		"no token":           {200, `{"count":0}`, ErrUnavailable},
		"an empty token":     {200, `{"value":""}`, ErrUnavailable},
		"two parts":          {200, `{"value":"a.` + secret + `"}`, ErrUnavailable},
		"a command in it":    {200, `{"value":"a.b.` + secret + `\n::set-env name=x::y"}`, ErrUnavailable},
		"a page":             {200, `<html>` + secret, ErrUnavailable},
		"another type":       {200, `{"value":["` + secret + `"]}`, ErrUnavailable},
		"too large":          {200, `{"value":"` + strings.Repeat(secret, 4000) + `"}`, ErrUnavailable},
		"unauthorized":       {401, `{"message":"` + secret + `"}`, ErrForbidden},
		"forbidden":          {403, `{"message":"` + secret + `"}`, ErrForbidden},
		"not there":          {404, secret, ErrNotFound},
		"a bad request":      {400, secret, ErrRejected},
		"not implemented":    {501, secret, ErrUnavailable},
		"down for some time": {503, secret, ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			defer service.Close()
			at := &clock{}
			var out bytes.Buffer
			r := &Runner{Out: &out, Getenv: getenv(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": service.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": secret})}
			token, err := r.IDToken(t.Context(), "sigstore", Options{Now: at.now, Sleep: at.sleep})
			if token != "" || !errors.Is(err, c.kind) {
				t.Fatalf("%q, %v, wanted the kind %v", token, err, c.kind)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "http://") || out.Len() > 0 {
				t.Errorf("it is told: %v, %q", err, out.String())
			}
		})
	}
}

// The job's token is sent to its own service alone, and encrypted.
func TestIDTokenStaysHome(t *testing.T) {
	var seen string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen += r.Header.Get("Authorization") }))
	defer other.Close()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer service.Close()
	for address, kind := range map[string]error{
		service.URL: ErrUnavailable, "http://runner.example/token": ErrNotActions, "runner.example": ErrNotActions, "%": ErrNotActions,
		"file:///etc/token": ErrNotActions,
	} {
		r := &Runner{Out: io.Discard, Getenv: getenv(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": address, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"})}
		if _, err := r.IDToken(t.Context(), "sigstore", Options{}); !errors.Is(err, kind) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if seen != "" {
		t.Errorf("the other host saw %q", seen)
	}
	if _, err := (&Runner{Getenv: getenv(nil)}).IDToken(t.Context(), "sigstore", Options{}); !errors.Is(err, ErrForbidden) {
		t.Errorf("without the variables: %v", err)
	}
}
