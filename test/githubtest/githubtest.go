// Package githubtest is a stand-in for GitHub's REST API, for tests.
//
// It keeps state, so that what a client wrote can be looked at, and it can be told
// to fail: any operation, in any of the ways in which GitHub and the network do.
// A write that fails may have been carried out or not; both can be asked for.
//
// It is not trusted to be right. Its requests and answers can be looked at with
// Check, by which the end-to-end tests hold each of them against GitHub's own
// description of its API. The operations bear the names of that description.
package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// prefix is what GitHub Enterprise Server puts before every path.
const prefix = "/api/v3"

// GitHub is one stand-in. Its fields are set before the first request and read
// after the last.
type GitHub struct {
	// URL is the address of the API, for GITHUB_API_URL.
	URL string
	// Repository is the one repository there is, Token the one token that is known,
	// and Login whom it belongs to.
	Repository, Token, Login string
	// ReadOnly makes the token one that may only read, as a fork's run has it.
	ReadOnly bool
	// Check, where set, sees every request together with its answer, unless the
	// connection is made to break.
	Check func(Exchange)
	// State is what is there.
	State

	mu     sync.Mutex
	mux    *http.ServeMux
	server *httptest.Server
	store  *httptest.Server // where artifacts lie, on another host
	tokens *httptest.Server // where identity tokens are given out
	faults map[string][]Fault
	log    []string
	lastID int64
}

// Exchange is a request and its answer.
type Exchange struct {
	Operation string
	Request   *http.Request // with Body still to be read
	Status    int
	Header    http.Header
	Answer    []byte
}

// operation answers requests of one kind: with a status and what becomes JSON.
type operation func(*GitHub, *http.Request, []byte) answer

type answer struct {
	status int
	value  any // JSON; nil for no body
	raw    []byte
	header map[string]string
}

// The operations, as GitHub's description names them.
const (
	GetUser            = "GET /user"
	ListComments       = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments"
	CreateComment      = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
	UpdateComment      = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"
	ListIssues         = "GET /repos/{owner}/{repo}/issues"
	CreateIssue        = "POST /repos/{owner}/{repo}/issues"
	UpdateIssue        = "PATCH /repos/{owner}/{repo}/issues/{issue_number}"
	AddLabels          = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels"
	RemoveLabel        = "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}"
	CreateCheckRun     = "POST /repos/{owner}/{repo}/check-runs"
	UpdateCheckRun     = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"
	ListCheckRuns      = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs"
	ListPulls          = "GET /repos/{owner}/{repo}/pulls"
	GetPull            = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	ListFiles          = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
	ListPullCommits    = "GET /repos/{owner}/{repo}/pulls/{pull_number}/commits"
	ListReviews        = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	ListReviewComments = "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments"
	CreateReview       = "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	ListCommitPulls    = "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls"
	GetRepository      = "GET /repos/{owner}/{repo}"
	GetRef             = "GET /repos/{owner}/{repo}/git/ref/{ref}"
	CreateRef          = "POST /repos/{owner}/{repo}/git/refs"
	UpdateRef          = "PATCH /repos/{owner}/{repo}/git/refs/{ref}"
	CreatePull         = "POST /repos/{owner}/{repo}/pulls"
	GetCommit          = "GET /repos/{owner}/{repo}/git/commits/{commit_sha}"
	GetTree            = "GET /repos/{owner}/{repo}/git/trees/{tree_sha}"
	GetBlob            = "GET /repos/{owner}/{repo}/git/blobs/{file_sha}"
	GetRunAttempt      = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}"
	ListArtifacts      = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts"
	DownloadArtifact   = "GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}"
	ListCommits        = "GET /repos/{owner}/{repo}/commits"
	CompareCommits     = "GET /repos/{owner}/{repo}/compare/{basehead}"
	ListTeamMembers    = "GET /orgs/{org}/teams/{team_slug}/members"
)

// Store is where the archive of an artifact lies; it is on another host and no
// operation of the API, but it can fail as they do.
const Store = "GET store"

// IDToken is the request for an identity token. Its service is the runner's and no
// part of the API either.
const IDToken = "GET id token"

func operations() map[string]operation {
	return map[string]operation{
		GetUser: (*GitHub).getUser, ListComments: (*GitHub).listComments, CreateComment: (*GitHub).createComment,
		UpdateComment: (*GitHub).updateComment, CreateCheckRun: (*GitHub).createCheckRun, UpdateCheckRun: (*GitHub).updateCheckRun,
		ListCheckRuns: (*GitHub).listCheckRuns, ListPulls: (*GitHub).listPulls, GetPull: (*GitHub).getPull,
		ListFiles: (*GitHub).listFiles, ListReviews: (*GitHub).listReviews, ListPullCommits: (*GitHub).listPullCommits, ListCommitPulls: (*GitHub).listCommitPulls,
		ListIssues: (*GitHub).listIssues, CreateIssue: (*GitHub).createIssue, UpdateIssue: (*GitHub).updateIssue,
		AddLabels: (*GitHub).addLabels, RemoveLabel: (*GitHub).removeLabel,
		CreateReview: (*GitHub).createReview, ListReviewComments: (*GitHub).listReviewComments,
		GetCommit: (*GitHub).getCommit, GetTree: (*GitHub).getTree, GetBlob: (*GitHub).getBlob, ListArtifacts: (*GitHub).listArtifacts,
		DownloadArtifact: (*GitHub).downloadArtifact, ListCommits: (*GitHub).listCommits, ListTeamMembers: (*GitHub).listTeamMembers,
		GetRepository: (*GitHub).getRepository, GetRef: (*GitHub).getRef, CreateRef: (*GitHub).createRef, UpdateRef: (*GitHub).updateRef,
		CreatePull:     (*GitHub).createPull,
		CompareCommits: (*GitHub).compareCommits, GetRunAttempt: (*GitHub).getRunAttempt,
	}
}

// Operations returns the names of all operations, sorted.
func Operations() []string {
	var names []string
	for name := range operations() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New starts a stand-in, which ends with the test. It has one open pull request,
// number 7, without anything on it.
func New(t testing.TB) *GitHub {
	t.Helper()
	g := &GitHub{
		Repository: "acme/packs", Token: "token-of-the-run", Login: "github-actions[bot]",
		State: newState(), mux: http.NewServeMux(), faults: map[string][]Fault{}, lastID: 1000,
	}
	for name, op := range operations() {
		pattern := strings.Replace(name, "/{ref}", "/{ref...}", 1)
		if strings.Contains(pattern, "check-runs") {
			pattern = name
		}
		g.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, name, op) })
	}
	whole := http.NewServeMux()
	whole.Handle(prefix+"/", http.StripPrefix(prefix, g.mux))
	whole.HandleFunc("POST /api/graphql", func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, GraphQL, (*GitHub).graphQL) })
	g.server = httptest.NewServer(whole)
	g.store = httptest.NewServer(http.HandlerFunc(g.serveStore))
	g.tokens = httptest.NewServer(http.HandlerFunc(g.serveTokens))
	t.Cleanup(g.server.Close)
	t.Cleanup(g.store.Close)
	t.Cleanup(g.tokens.Close)
	g.URL = g.server.URL + prefix
	return g
}

// Locked calls a function while no request is answered. A test needs it to look at
// the state, or change it, where requests come from another process.
func (g *GitHub) Locked(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

// Calls returns the operations that were asked for, in order.
func (g *GitHub) Calls() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.log)
}

// Count returns how often an operation was asked for.
func (g *GitHub) Count(operation string) int {
	n := 0
	for _, name := range g.Calls() {
		if name == operation {
			n++
		}
	}
	return n
}

// serve answers one request, or fails as it was told to.
func (g *GitHub) serve(w http.ResponseWriter, r *http.Request, name string, op operation) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	g.mu.Lock()
	g.log = append(g.log, name)
	fault, failing := g.next(name)
	a := answer{status: http.StatusOK, value: object{}}
	if !failing || fault.Done && !fault.Kind.refuses() {
		if a = g.permit(r); a.status == 0 {
			a = op(g, r, body)
		}
	}
	if failing && fault.Kind.answers() {
		a = fault.Kind.answer()
	}
	g.mu.Unlock()
	data := a.bytes()
	g.header(w.Header(), a)
	if failing && !fault.Kind.answers() {
		fault.Kind.breakOff(w, r, data)
		return
	}
	if g.Check != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.mu.Lock()
		g.Check(Exchange{Operation: name, Request: r, Status: a.status, Header: w.Header().Clone(), Answer: data})
		g.mu.Unlock()
	}
	w.WriteHeader(a.status)
	w.Write(data)
}

// permit refuses what the token may not do; status 0 where it may.
func (g *GitHub) permit(r *http.Request) answer {
	owner, repo, _ := strings.Cut(g.Repository, "/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+g.Token:
		return failure(http.StatusUnauthorized, "Bad credentials")
	case r.PathValue("repo") != "" && (r.PathValue("owner") != owner || r.PathValue("repo") != repo):
		return failure(http.StatusNotFound, "Not Found")
	case g.ReadOnly && r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/graphql"):
		return Forbidden.answer()
	}
	return answer{}
}

func (a answer) bytes() []byte {
	if a.value == nil {
		return a.raw
	}
	data, err := json.Marshal(a.value)
	if err != nil {
		panic(err) // a mistake of this package
	}
	return data
}

func (g *GitHub) header(h http.Header, a answer) {
	h.Set("X-Ratelimit-Limit", "1000")
	h.Set("X-Ratelimit-Remaining", "999")
	if a.value != nil {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	for name, value := range a.header {
		h.Set(name, value)
	}
}

// page cuts a list to the page that is asked for, and links to the next one.
func page[T any](g *GitHub, r *http.Request, list []T) ([]T, map[string]string) {
	q := r.URL.Query()
	size, number := 30, 1
	if n, err := strconv.Atoi(q.Get("per_page")); err == nil && n > 0 {
		size = min(n, 100)
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		number = n
	}
	from := min((number-1)*size, len(list))
	to := min(from+size, len(list))
	if to == len(list) {
		return list[from:to], nil
	}
	q.Set("page", strconv.Itoa(number+1))
	return list[from:to], map[string]string{"Link": fmt.Sprintf(`<%s%s?%s>; rel="next"`, g.URL, r.URL.EscapedPath(), q.Encode())}
}

func (g *GitHub) newID() int64 {
	g.lastID++
	return g.lastID
}

func number(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// each turns a list into what becomes JSON; never null.
func each[T any](list []T, shape func(T) object) []object {
	out := make([]object, 0, len(list))
	for _, v := range list {
		out = append(out, shape(v))
	}
	return out
}
