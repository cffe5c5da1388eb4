package githubtest

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"net/url"
	"strings"
)

// object is a JSON object in GitHub's form, with every member that its description
// requires.
type object map[string]any

// moment is when everything happened.
const moment = "2026-01-02T03:04:05Z"

// api and web return addresses of things, which nobody follows.
func (g *GitHub) api(format string, args ...any) string {
	return "https://api.github.com" + fmt.Sprintf(format, args...)
}

func (g *GitHub) web(format string, args ...any) string {
	return "https://github.com/" + g.Repository + fmt.Sprintf(format, args...)
}

func (g *GitHub) user(login string) object {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	u := object{"login": login, "id": 1, "node_id": "U_1", "gravatar_id": "", "type": kind, "site_admin": false, "user_view_type": "public"}
	for _, name := range strings.Fields("avatar events followers following gists html organizations received_events repos starred subscriptions") {
		u[name+"_url"] = g.api("/users/x/%s", name)
	}
	u["url"] = g.api("/users/x")
	return u
}

func (g *GitHub) privateUser() object {
	u := g.user(g.Login)
	for _, name := range strings.Fields("bio blog company email hireable location name") {
		u[name] = nil
	}
	u["blog"] = ""
	for _, name := range strings.Fields("followers following public_gists public_repos collaborators disk_usage owned_private_repos private_gists total_private_repos") {
		u[name] = 0
	}
	u["created_at"], u["updated_at"], u["two_factor_authentication"], u["user_view_type"] = moment, moment, true, "private"
	return u
}

func (g *GitHub) comment(c Comment) object {
	return object{
		"id": c.ID, "node_id": "IC_1", "body": c.Body, "user": g.user(c.Author), "created_at": moment, "updated_at": moment,
		"url": g.api("/repos/%s/issues/comments/%d", g.Repository, c.ID), "html_url": g.web("/pull/%d#issuecomment-%d", c.Pull, c.ID),
		"issue_url": g.api("/repos/%s/issues/%d", g.Repository, c.Pull), "author_association": "NONE", "performed_via_github_app": nil,
	}
}

func (g *GitHub) checkRun(run CheckRun) object {
	return object{
		"id": run.ID, "node_id": "CR_1", "head_sha": run.Head, "name": run.Name, "external_id": run.ExternalID, "status": "completed",
		"conclusion": run.Conclusion, "started_at": moment, "completed_at": moment, "pull_requests": []object{}, "app": nil,
		"url": g.api("/repos/%s/check-runs/%d", g.Repository, run.ID), "html_url": g.web("/runs/%d", run.ID), "details_url": run.Details,
		"check_suite": object{"id": 5},
		"output": object{
			"title": run.Title, "summary": run.Summary, "text": nil, "annotations_count": len(run.Annotations),
			"annotations_url": g.api("/repos/%s/check-runs/%d/annotations", g.Repository, run.ID),
		},
	}
}

// repository is a repository in full, which every side of a pull request holds.
func (g *GitHub) repository(id int64, owner string) object {
	_, name, _ := strings.Cut(g.Repository, "/")
	r := object{
		"id": id, "node_id": "R_1", "name": name, "full_name": owner + "/" + name, "owner": g.user(owner), "default_branch": "main",
		"description": nil, "homepage": nil, "language": nil, "license": nil, "mirror_url": nil, "private": false, "fork": id != 1,
		"size": 1, "created_at": moment, "updated_at": moment, "pushed_at": moment, "visibility": "public",
	}
	for _, n := range strings.Fields("archived disabled has_downloads has_issues has_projects has_wiki has_pages has_discussions") {
		r[n] = false
	}
	for _, n := range strings.Fields("forks forks_count open_issues open_issues_count stargazers_count watchers watchers_count") {
		r[n] = 0
	}
	for _, n := range strings.Fields("archive assignees blobs branches collaborators comments commits compare contents contributors " +
		"deployments downloads events forks git_commits git_refs git_tags hooks html issue_comment issue_events issues keys labels " +
		"languages merges milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees " +
		"clone git ssh svn") {
		r[n+"_url"] = g.api("/repos/%s/%s/%s", owner, name, n)
	}
	r["url"] = g.api("/repos/%s/%s", owner, name)
	return r
}

func (g *GitHub) label(name string) object {
	return object{
		"id": 1, "node_id": "LA_1", "name": name, "color": "ededed", "default": false, "description": "",
		"url": g.api("/repos/%s/labels/%s", g.Repository, url.PathEscape(name)),
	}
}

func (g *GitHub) pull(p Pull, full bool) object {
	owner, _, _ := strings.Cut(g.Repository, "/")
	state, head := "open", g.repository(1, owner)
	into, merged, commit, body := cmp.Or(p.Into, "main"), any(nil), any(nil), any(nil)
	if p.Body != "" {
		body = p.Body
	}
	if p.Closed || p.Merged != "" {
		state = "closed"
	}
	if p.Merged != "" {
		merged, commit = moment, p.Merged
	}
	if p.Owner != owner {
		head = g.repository(2, p.Owner)
	}
	o := object{
		"id": 100 + p.Number, "node_id": "PR_1", "number": p.Number, "state": state, "locked": false, "title": cmp.Or(p.Title, "A change"), "body": body,
		"user": g.user(p.Author), "labels": each(p.Labels, g.label), "assignee": nil, "milestone": nil, "closed_at": merged, "merged_at": merged,
		"created_at": moment, "updated_at": moment, "merge_commit_sha": commit, "author_association": "CONTRIBUTOR", "auto_merge": nil,
		"head": object{"label": p.Owner + ":" + p.Branch, "ref": p.Branch, "sha": p.Head, "repo": head, "user": g.user(p.Owner)},
		"base": object{"label": owner + ":" + into, "ref": into, "sha": p.Base, "repo": g.repository(1, owner), "user": g.user(owner)},
	}
	links := object{}
	for _, n := range strings.Fields("comments commits html issue review_comment review_comments self statuses") {
		links[n] = object{"href": g.web("/pull/%d/%s", p.Number, n)}
	}
	o["_links"] = links
	for _, n := range strings.Fields("comments commits diff html issue patch review_comment review_comments statuses") {
		o[n+"_url"] = g.web("/pull/%d/%s", p.Number, n)
	}
	o["url"] = g.api("/repos/%s/pulls/%d", g.Repository, p.Number)
	if full {
		for _, n := range strings.Fields("additions comments deletions review_comments") {
			o[n] = 1
		}
		o["commits"] = len(p.Commits) + 1
		o["changed_files"], o["mergeable"], o["mergeable_state"] = p.ChangedFiles, nil, "unknown"
		o["merged"], o["maintainer_can_modify"], o["merged_by"] = p.Merged != "", false, nil
	}
	return o
}

func (g *GitHub) file(f File) object {
	o := object{
		"filename": f.Path, "status": f.Status, "sha": digest(f.Path), "additions": 1, "deletions": 0, "changes": 1,
		"blob_url": g.web("/blob/x"), "raw_url": g.web("/raw/x"), "contents_url": g.api("/repos/%s/contents/x", g.Repository),
	}
	if f.Previous != "" {
		o["previous_filename"] = f.Previous
	}
	if f.Patch != "" {
		o["patch"] = f.Patch
	}
	return o
}

func (g *GitHub) review(r Review) object {
	page := g.web("/pull/%d#pullrequestreview-1", r.Pull)
	return object{
		"id": 1, "node_id": "PRR_1", "user": g.user(r.Author), "body": "", "state": r.State, "commit_id": r.SHA, "html_url": page,
		"pull_request_url": g.api("/repos/%s/pulls/%d", g.Repository, r.Pull), "submitted_at": moment, "author_association": r.Status,
		"_links": object{"html": object{"href": page}, "pull_request": object{"href": g.api("/repos/%s/pulls/%d", g.Repository, r.Pull)}},
	}
}

func (g *GitHub) commit(sha string) object {
	who := object{"name": "Mona", "email": "mona@example.com", "date": moment}
	tree := treeOf(g.Commits[sha]).sha
	return object{
		"sha": sha, "node_id": "C_1", "url": g.api("/repos/%s/git/commits/%s", g.Repository, sha), "html_url": g.web("/commit/%s", sha),
		"author": who, "committer": who, "message": g.message(sha), "parents": []object{},
		"tree":         object{"sha": tree, "url": g.api("/repos/%s/git/trees/%s", g.Repository, tree)},
		"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}
}

func (g *GitHub) message(sha string) string { return cmp.Or(g.Messages[sha], "A commit") }

// history is a commit as lists of commits have it.
func (g *GitHub) history(sha string) object { return g.written(sha, Writers{"mona", "mona"}) }

// written is such a commit of a pull request, of whoever is known of it or else of some.
func (g *GitHub) written(sha string, by Writers) object {
	if known, ok := g.Wrote[sha]; ok {
		by = known
	}
	account := func(login string) any {
		if login == "" {
			return nil
		}
		return g.user(login)
	}
	who := object{"name": "Mona", "email": "mona@example.com", "date": moment}
	page := g.api("/repos/%s/commits/%s", g.Repository, sha)
	return object{
		"sha": sha, "node_id": "C_1", "url": page, "html_url": g.web("/commit/%s", sha), "comments_url": page + "/comments",
		"author": account(by.Author), "committer": account(by.Committer), "parents": []object{},
		"commit": object{
			"url": g.api("/repos/%s/git/commits/%s", g.Repository, sha), "author": who, "committer": who, "message": g.message(sha), "comment_count": 0,
			"tree":         object{"sha": sha, "url": g.api("/repos/%s/git/trees/%s", g.Repository, sha)},
			"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
	}
}

func (g *GitHub) run(run Run) object {
	address, who := g.api("/repos/%s/actions/runs/%d", g.Repository, run.ID), object{"name": "Mona", "email": "mona@example.com"}
	owner, _, _ := strings.Cut(g.Repository, "/")
	conclusion := any(run.Conclusion)
	if run.Conclusion == "" {
		conclusion = nil
	}
	o := object{
		"id": run.ID, "node_id": "WFR_1", "name": "packs", "path": ".github/workflows/packs.yml", "display_title": "A change", "event": "pull_request",
		"head_branch": "refunds", "head_sha": run.Head, "run_number": 1, "run_attempt": run.Attempt, "status": "completed", "conclusion": conclusion,
		"workflow_id": 1, "workflow_url": g.api("/repos/%s/actions/workflows/1", g.Repository), "pull_requests": []object{},
		"created_at": moment, "updated_at": moment, "url": address, "html_url": g.web("/actions/runs/%d", run.ID),
		"check_suite_url": g.api("/repos/%s/check-suites/5", g.Repository),
		"repository":      g.repository(1, owner), "head_repository": g.repository(2, "mona"),
		"head_commit": object{"id": run.Head, "tree_id": digest(run.Head), "message": "A commit", "timestamp": moment, "author": who, "committer": who},
	}
	for _, n := range strings.Fields("artifacts cancel jobs logs rerun") {
		o[n+"_url"] = address + "/" + n
	}
	return o
}

func (g *GitHub) artifact(a Artifact) object {
	size := a.Size
	if size == 0 {
		size = int64(len(a.Archive))
	}
	address := g.api("/repos/%s/actions/artifacts/%d", g.Repository, a.ID)
	return object{
		"id": a.ID, "node_id": "A_1", "name": a.Name, "size_in_bytes": size, "url": address, "archive_download_url": address + "/zip",
		"expired": a.Expired, "created_at": moment, "expires_at": moment, "updated_at": moment,
	}
}

func digest(s string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) }
