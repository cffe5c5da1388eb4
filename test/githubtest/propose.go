package githubtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// GraphQL is the GraphQL API, which is no operation of the REST API, but can fail as they do.
const GraphQL = "POST graphql"

func (g *GitHub) getRepository(*http.Request, []byte) answer {
	owner, _, _ := strings.Cut(g.Repository, "/")
	r := g.repository(1, owner)
	r["network_count"], r["subscribers_count"] = 0, 0
	return found(r)
}

func (g *GitHub) ref(branch string) object {
	sha := g.Branches[branch]
	return object{
		"ref": "refs/heads/" + branch, "node_id": "REF_1", "url": g.api("/repos/%s/git/refs/heads/%s", g.Repository, branch),
		"object": object{"type": "commit", "sha": sha, "url": g.api("/repos/%s/git/commits/%s", g.Repository, sha)},
	}
}

func (g *GitHub) getRef(r *http.Request, _ []byte) answer {
	branch, ok := strings.CutPrefix(r.PathValue("ref"), "heads/")
	if !ok || g.Branches[branch] == "" {
		return missing
	}
	return found(g.ref(branch))
}

func (g *GitHub) createRef(_ *http.Request, body []byte) answer {
	var sent struct{ Ref, SHA string }
	if err := json.Unmarshal(body, &sent); err != nil {
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	branch, ok := strings.CutPrefix(sent.Ref, "refs/heads/")
	switch {
	case !ok || g.Commits[sent.SHA] == nil:
		return unprocessable("Object does not exist")
	case g.Branches[branch] != "":
		return failure(http.StatusUnprocessableEntity, "Reference already exists")
	case g.Protected:
		return failure(http.StatusUnprocessableEntity, "Repository rule violations found Cannot create ref due to creations being restricted.")
	}
	g.Branches[branch] = sent.SHA
	return answer{status: http.StatusCreated, value: g.ref(branch)}
}

// updateRef moves a branch; the client has to know that it moves forward.
func (g *GitHub) updateRef(r *http.Request, body []byte) answer {
	var sent struct {
		SHA   string
		Force bool
	}
	branch, _ := strings.CutPrefix(r.PathValue("ref"), "heads/")
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	case sent.Force || g.Branches[branch] == "" || g.Commits[sent.SHA] == nil:
		return unprocessable("Update is not a fast forward")
	}
	g.Branches[branch] = sent.SHA
	return found(g.ref(branch))
}

func (g *GitHub) createPull(_ *http.Request, body []byte) answer {
	var sent struct{ Title, Head, Base, Body string }
	owner, _, _ := strings.Cut(g.Repository, "/")
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	case sent.Title == "" || g.Branches[sent.Head] == "" || g.Branches[sent.Base] == "" || g.Branches[sent.Head] == g.Branches[sent.Base]:
		return unprocessable(fmt.Sprintf("No commits between %s and %s", sent.Base, sent.Head))
	}
	p := Pull{
		Number: int64(7 + len(g.Pulls)), Author: g.Login, Head: g.Branches[sent.Head], Base: g.Branches[sent.Base],
		Owner: owner, Branch: sent.Head, Into: sent.Base, Title: sent.Title, Body: sent.Body, ChangedFiles: 1,
	}
	for _, old := range g.Pulls {
		if old.Branch == p.Branch && old.Into == p.Into && !old.Closed {
			return unprocessable(fmt.Sprintf("A pull request already exists for %s:%s.", owner, sent.Head))
		}
	}
	g.Pulls = append(g.Pulls, p)
	return answer{status: http.StatusCreated, value: g.pull(p, true)}
}

// graphQL answers the queries that the client has.
func (g *GitHub) graphQL(_ *http.Request, body []byte) answer {
	var sent struct {
		Query     string
		Variables struct {
			Input  commitInput
			Number int64
			After  string
		}
	}
	switch err := json.Unmarshal(body, &sent); {
	case err != nil:
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	case strings.Contains(sent.Query, "viewer { login }"):
		return found(object{"data": object{"viewer": object{"login": g.Login}}})
	case strings.Contains(sent.Query, "createCommitOnBranch(input: $input) { commit { oid } }"):
		return g.createCommit(sent.Variables.Input)
	case strings.Contains(sent.Query, "commit { oid authors("):
		return g.commitAuthors(sent.Variables.Number, sent.Variables.After)
	}
	return found(object{"errors": []object{{"message": "Parse error"}}})
}

// commitInput is CreateCommitOnBranchInput, as far as the client uses it.
type commitInput struct {
	Branch          struct{ RepositoryNameWithOwner, BranchName string }
	ExpectedHeadOid string
	Message         struct{ Headline, Body string }
	FileChanges     struct {
		Additions []struct {
			Path     string
			Contents []byte
		}
	}
}

func refused(kind, format string, args ...any) answer {
	return found(object{"data": object{"createCommitOnBranch": nil}, "errors": []object{{
		"type": kind, "path": []string{"createCommitOnBranch"}, "message": fmt.Sprintf(format, args...),
	}}})
}

func (g *GitHub) createCommit(in commitInput) answer {
	head := g.Branches[in.Branch.BranchName]
	switch {
	case g.ReadOnly:
		return refused("FORBIDDEN", "Resource not accessible by integration")
	case in.Branch.RepositoryNameWithOwner != g.Repository || head == "":
		return refused("NOT_FOUND", "No such branch")
	case head != in.ExpectedHeadOid:
		return refused("STALE_DATA", "Expected branch to point to %q but it did not. Pull and try again.", in.ExpectedHeadOid)
	}
	files := maps.Clone(g.Commits[head])
	for _, f := range in.FileChanges.Additions {
		files[f.Path] = string(f.Contents)
	}
	message := strings.TrimSpace(in.Message.Headline + "\n\n" + in.Message.Body)
	sha := digest(head + message + treeOf(files).sha)
	g.Commits[sha], g.Messages[sha], g.Branches[in.Branch.BranchName] = files, message, sha
	g.Parted[head+"..."+sha] = head
	return found(object{"data": object{"createCommitOnBranch": object{"commit": object{"oid": sha}}}})
}

// commitAuthors lists who wrote the commits of a pull request, a hundred at a time: who wrote each
// one, and the co-authors that its message names. An address NAME@example.com is that of the
// account NAME, and any other is of none.
func (g *GitHub) commitAuthors(number int64, after string) answer {
	all, author := g.commitsOf(number)
	from, _ := strconv.Atoi(after)
	all = all[min(from, len(all)):]
	to := min(len(all), 100)
	list := make([]object, to)
	for i, sha := range all[:to] {
		by, ok := g.Wrote[sha]
		if !ok {
			by.Author = author
		}
		emails := []string{by.Author + "@example.com"}
		for line := range strings.Lines(g.message(sha)) {
			if _, email, ok := strings.Cut(strings.TrimSpace(line), "<"); ok && strings.HasPrefix(line, "Co-authored-by:") {
				emails = append(emails, strings.TrimSuffix(email, ">"))
			}
		}
		list[i] = object{"commit": object{"oid": sha, "authors": object{"totalCount": len(emails), "nodes": each(emails[:min(len(emails), 100)], func(email string) object {
			login, isKnown := strings.CutSuffix(email, "@example.com")
			if !isKnown || login == "" || strings.HasSuffix(login, "[bot]") { // which is no User
				return object{"user": nil}
			}
			return object{"user": object{"login": login}}
		})}}}
	}
	end := object{"hasNextPage": to < len(all), "endCursor": strconv.Itoa(from + to)}
	return found(object{"data": object{"repository": object{"pullRequest": object{"commits": object{"pageInfo": end, "nodes": list}}}}})
}
