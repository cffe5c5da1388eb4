package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
)

// graphql asks the GraphQL API, which is beside the REST API of every server, and decodes the data
// of the answer. The errors have the kinds of a Client. A query is sent once, as any write is.
func (c *Client) graphql(ctx context.Context, what, query string, variables, into any) error {
	address := *c.api.BaseURL
	if above, ok := strings.CutSuffix(address.Path, "/api/v3/"); ok { // GitHub Enterprise Server
		address.Path = above + "/api/"
	}
	address.Path += "graphql"
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Type, Message string }
	}
	req, err := c.api.NewRequest(http.MethodPost, address.String(), map[string]any{"query": query, "variables": variables})
	if err == nil {
		_, err = c.api.Do(ctx, req, &answer)
	}
	if err != nil {
		return c.failed(what, err)
	}
	if len(answer.Errors) == 0 {
		err := json.Unmarshal(answer.Data, into)
		return c.failed(what, err)
	}
	e := &fault.Error{Kind: ErrRejected, Message: "cannot " + what}
	first := answer.Errors[0]
	switch {
	case first.Type == "RATE_LIMITED":
		limited(e)
		return e
	case slices.Contains([]string{"FORBIDDEN", "INSUFFICIENT_SCOPES"}, first.Type):
		e.Kind = ErrForbidden
	case first.Type == "NOT_FOUND":
		e.Kind = ErrNotFound
	case first.Type == "": // something went wrong there
		e.Kind = ErrUnavailable
	}
	e.Message += fmt.Sprintf(": GitHub answered %s %q", cmp.Or(clip(first.Type, 40), "an error"), clip(strings.Join(strings.Fields(first.Message), " "), 200))
	return e
}

// TokenOfRun is the login that the token of a workflow's own run writes as, GITHUB_TOKEN.
const TokenOfRun = "github-actions[bot]"

// Viewer returns the login that the token writes as, whoever it belongs to: a person, an App's
// installation or a workflow's run. Only the GraphQL API tells all of them.
func (c *Client) Viewer(ctx context.Context) (string, error) {
	var data struct{ Viewer struct{ Login string } }
	const what = "ask who the token belongs to"
	if err := c.graphql(ctx, what, "query { viewer { login } }", nil, &data); err != nil {
		return "", err
	}
	if !isName(data.Viewer.Login) {
		return "", &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s: GitHub named the login %q", what, clip(data.Viewer.Login, 80))}
	}
	return data.Viewer.Login, nil
}

// commitFile puts one commit on a branch, whose newest commit it has to follow, by GraphQL: GitHub
// signs it as the token's. It returns its SHA.
func (c *Client) commitFile(ctx context.Context, p Proposal) (string, error) {
	headline, body, _ := strings.Cut(p.Message, "\n")
	var data struct {
		CreateCommitOnBranch struct{ Commit struct{ OID string } }
	}
	const what = "commit the change"
	err := c.graphql(ctx, what, "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }", map[string]any{
		"input": map[string]any{
			"branch":          map[string]any{"repositoryNameWithOwner": c.owner + "/" + c.repo, "branchName": p.Branch},
			"expectedHeadOid": p.Head,
			"message":         map[string]any{"headline": headline, "body": strings.TrimSpace(body)},
			"fileChanges":     map[string]any{"additions": []any{map[string]any{"path": p.Path, "contents": p.Content}}},
		},
	}, &data)
	sha := strings.ToLower(data.CreateCommitOnBranch.Commit.OID)
	if err == nil && !isSHA(sha) {
		err = &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("cannot %s: GitHub named the commit %q", what, clip(sha, 80))}
	}
	return sha, err
}
