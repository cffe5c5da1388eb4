package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// query is one query of GraphQL, with the answer to it.
type query struct {
	Query     string          `json:"query"`
	Variables json.RawMessage `json:"variables"`
	Answer    json.RawMessage `json:"answer"`
}

// keep keeps a query, and returns what is wrong with its form.
func (s *standIn) keep(e githubtest.Exchange) []string {
	if e.Status >= 400 {
		return nil // which is not GraphQL's
	}
	body, err := io.ReadAll(e.Request.Body)
	if err != nil {
		return []string{err.Error()}
	}
	q := query{Answer: e.Answer}
	read := json.NewDecoder(bytes.NewReader(body))
	read.DisallowUnknownFields()
	if err := read.Decode(&q); err != nil {
		return []string{fmt.Sprintf("%s: %v", body, err)}
	}
	s.queries = append(s.queries, q)
	return nil
}

// wrongQueries returns what is wrong with queries, and with the answers to them, by GitHub's own
// schema and the reference implementation of GraphQL.
func wrongQueries(t *testing.T, queries []query) (wrong []string) {
	t.Helper()
	for i, list := range checkQueries(t, queries) {
		for _, one := range list {
			wrong = append(wrong, fmt.Sprintf("%s with %s: %s", queries[i].Query, queries[i].Variables, one))
		}
	}
	for _, operation := range []string{"viewer", "createCommitOnBranch", "pullRequest"} {
		if !slices.ContainsFunc(queries, func(q query) bool { return strings.Contains(q.Query, operation) }) {
			wrong = append(wrong, "no call does "+operation)
		}
	}
	return wrong
}

// checkQueries returns what is wrong with each of some queries.
func checkQueries(t *testing.T, queries []query) (lists [][]string) {
	t.Helper()
	sent, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", filepath.Join("graphql", "check.mjs"), npmModules(t, "graphql"))
	node.Stdin, node.Stderr = bytes.NewReader(sent), &said
	out, err := node.Output()
	if err == nil {
		err = json.Unmarshal(out, &lists)
	}
	if err != nil || len(lists) != len(queries) {
		t.Fatalf("%d answers for %d queries, %v\n%s", len(lists), len(queries), err, &said)
	}
	return lists
}

// The schema notices what a client or a stand-in could get wrong, so that silence says something.
func TestSchemaNotices(t *testing.T) {
	const commit = "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"
	input := func(old, now string) json.RawMessage {
		all := `{"input": {"branch": {"repositoryNameWithOwner": "acme/packs", "branchName": "b"}, "expectedHeadOid": "` + githubtest.Head + `",
			"message": {"headline": "h", "body": "b"}, "fileChanges": {"additions": [{"path": "p", "contents": "e30K"}]}}}`
		if !strings.Contains(all, old) {
			t.Fatalf("%s has no %s", all, old)
		}
		return json.RawMessage(strings.Replace(all, old, now, 1))
	}
	done := json.RawMessage(`{"data": {"createCommitOnBranch": {"commit": {"oid": "` + githubtest.Head + `"}}}}`)
	who := func(answer string) query { return query{"query { viewer { login } }", nil, json.RawMessage(answer)} }
	right := []query{
		{commit, input("", ""), done}, who(`{"data": {"viewer": {"login": "mona"}}}`),
		{commit, input("", ""), json.RawMessage(`{"data": {"createCommitOnBranch": null}, "errors": [{"type": "STALE_DATA", "message": "m"}]}`)},
	}
	wrong := []query{
		{"query {", nil, done},
		{"query { viewer { name_ } }", nil, done},
		{"mutation($input: CreateCommitInput!) { createCommitOnBranch(input: $input) { commit { oid } } }", input("", ""), done},
		{strings.Replace(commit, "oid", "sha", 1), input("", ""), done},
		{commit, nil, done},
		{commit, input("expectedHeadOid", "expectedHead"), done},
		{commit, input(githubtest.Head, "main"), done},
		{commit, input(`"branchName"`, `"name"`), done},
		{commit, input("e30K", "{}"), done},
		{commit, input("headline", "title"), done},
		{commit, input(`, "fileChanges"`, `, "changes"`), done},
		{commit, input("expectedHeadOid", "expectedHead"), json.RawMessage(`{"data": {"createCommitOnBranch": null}, "errors": [{"type": "STALE_DATA", "message": "m"}]}`)},
		{commit, input("", ""), json.RawMessage(`{"data": {"createCommitOnBranch": {"commit": {"oid": "1"}}}}`)},
		{commit, input("", ""), json.RawMessage(`{"data": {"createCommitOnBranch": {"commit": {"sha": "` + githubtest.Head + `"}}}}`)},
		who(`{"data": {"viewer": {}}}`), who(`{"data": {"viewer": {"login": "mona", "name": "Mona"}}}`),
	}
	for i, list := range checkQueries(t, append(right, wrong...)) {
		if noticed := len(list) > 0; noticed != (i >= len(right)) {
			t.Errorf("%+v: %q", append(right, wrong...)[i], list)
		}
	}
}
