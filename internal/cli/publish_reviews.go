package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// reviewing finds out who approved what a version brings.
type reviewing struct {
	env    *Env
	dryRun bool
	w      *gating.Workspace
	event  *github.Event // nil outside of GitHub
	client *github.Client
	token  string
	// base is the commit that is judged; nil where none is known. It is there once it was
	// opened.
	base *gating.Baseline
	cut  []string              // commits that were approved, of which the clone has too little history
	held map[string]*heldRules // by environment, once they were looked for
}

// open opens the commit that is judged: that of the event, or else the one that is checked
// out. The caller closes it.
func (r *reviewing) open() error {
	if err := r.start(); err != nil {
		return err
	}
	c, err := gating.OpenCommit(r.w.Dir, r.client, func(git *github.Repository) (tree *github.Tree, sha string, err error) {
		if r.event != nil {
			sha = r.event.HeadSHA
		}
		if sha == "" {
			if sha, err = git.Resolve("HEAD"); err != nil {
				return nil, "", nil // nothing is committed yet
			}
		}
		tree, err = git.Tree(sha)
		return tree, sha, err
	})
	if errors.Is(err, github.ErrNoRepository) || err == nil && c == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if r.base, err = c.Baseline(r.w); err != nil {
		return errors.Join(err, c.Close())
	}
	if r.event != nil {
		r.base.Open = func(ctx context.Context, sha string) (*github.Tree, error) {
			return r.base.Git.At(ctx, r.event, r.token, sha)
		}
	}
	return nil
}

// close closes the commit, which was only read from.
func (r *reviewing) close() { _ = r.base.Close() }

// closed closes the commit where there was an error.
func (r *reviewing) closed(err error) error {
	if err == nil {
		return nil
	}
	return r.base.Close()
}

// start reads the event, once.
func (r *reviewing) start() error {
	env := r.env
	if r.event != nil || env.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	event, err := github.ReadEvent(env.Getenv, os.ReadFile)
	if err != nil {
		return err
	}
	r.event, r.token = event, cmp.Or(env.Getenv("INPUT_TOKEN"), env.Getenv("GITHUB_TOKEN"))
	r.client, err = newClient(env, event, r.token)
	return err
}

// source returns where a pack file was read: the commit that has it with these
// bytes, and nothing where none is known to.
func (r *reviewing) source(name string, content []byte) (none statement.Source, err error) {
	if r.base == nil {
		return none, nil
	}
	src, ok, err := r.base.Read(name, r.w.Config.Limits.MaxBytes)
	if err != nil || !ok || !bytes.Equal(src, content) {
		return none, err
	}
	address := ""
	if r.event != nil {
		address = r.event.ServerURL + "/" + r.event.Repository
	}
	return statement.Source{Repository: address, Commit: r.base.Ref, Path: r.base.Path(name)}, nil
}

// ask finds the approvals that the class of a version needs, in every pull request
// that changed the pack file since the version before. Where the config has no roles
// for it, and had none at the version before, nobody is asked.
func (r *reviewing) ask(ctx context.Context, c *publish.Candidate, before *publish.Verdict, out *model.Publication) error {
	wanted := r.w.Config.Reviews.Of(c.Class)
	if len(wanted) == 0 && !r.demandedBefore(ctx, before, out) {
		return nil
	}
	if r.event == nil {
		if r.dryRun {
			out.NotChecked = append(out.NotChecked, fmt.Sprintf("reviews by %s: only a run on GitHub can see who approved", strings.Join(wanted, ", ")))
			return nil
		}
		return misuse("publish from the workflow, or try it with --dry-run",
			"the config requires reviews by %s for a version of the class %s, and only a run on GitHub can see who approved", strings.Join(wanted, ", "), c.Class)
	}
	if c.Source.Path == "" {
		return refusedBecause("publish what is merged, without changing it in the job", "the pack file is not as the commit has it, so nobody can have reviewed it")
	}
	pulls, err := r.changes(ctx, c, before)
	if err != nil {
		return err
	}
	return r.approved(ctx, c, pulls, wanted, out)
}

// demandedBefore reports whether the config demanded reviews when the version before
// was published: the change may be what took them away.
func (r *reviewing) demandedBefore(ctx context.Context, before *publish.Verdict, out *model.Publication) bool {
	if r.event == nil || before == nil || before.Summary == nil || before.Summary.Source.Commit == "" {
		return false
	}
	config, err := r.configAt(ctx, before.Summary.Source.Commit)
	if err != nil {
		out.NotChecked = append(out.NotChecked, fmt.Sprintf("whether reviews were demanded when %s was published: %v", before.Name(), err))
		return false
	}
	return config.Reviews.Demanded()
}

// configAt returns the config that a commit has.
func (r *reviewing) configAt(ctx context.Context, sha string) (*repo.Config, error) {
	c, err := r.commit(ctx, sha)
	if err != nil {
		return nil, err
	}
	defer c.Close() // only read from
	return c.Config(r.w.ConfigName(), false)
}

// commit opens a commit, as it is seen from the workspace: from its git repository, and,
// within a run on GitHub, from wherever it can be had. The caller closes it.
func (r *reviewing) commit(ctx context.Context, sha string) (*gating.Commit, error) {
	return gating.OpenCommit(r.w.Dir, r.client, func(git *github.Repository) (tree *github.Tree, _ string, err error) {
		if r.event == nil {
			tree, err = git.Tree(sha)
		} else {
			tree, err = git.At(ctx, r.event, r.token, sha)
		}
		return tree, sha, err
	})
}

// digestAt returns the digest of a file in a commit, "" where that has none.
func (r *reviewing) digestAt(ctx context.Context, sha, name string) (string, error) {
	c, err := r.commit(ctx, sha)
	if err != nil {
		return "", err
	}
	defer c.Close() // only read from
	src, err := c.Tree.ReadFile(name, int64(r.w.Config.Limits.MaxBytes))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(pack.DigestOf(src)), err
}

// maxChanges bounds the commits that a version may consist of.
const maxChanges = 20

// changes returns the merged pull requests that changed a pack file since the
// published version before, newest first.
func (r *reviewing) changes(ctx context.Context, c *publish.Candidate, before *publish.Verdict) ([]github.PullRequest, error) {
	name := c.Source.Path
	commits, err := r.client.History(ctx, c.Source.Commit, name, maxChanges+1)
	if err != nil {
		return nil, err
	}
	var pulls []github.PullRequest
	for i, sha := range commits {
		digest, err := r.digestAt(ctx, sha, name)
		switch {
		case err != nil:
			return nil, err
		case i > 0 && before != nil && digest == before.Content:
			return pulls, nil
		case i == maxChanges:
			return nil, refusedBecause("propose the version again in one pull request, from the published one on",
				"more than %d commits changed %s since the published version before", maxChanges, name)
		}
		pull, err := r.client.MergedPull(ctx, sha)
		if err != nil {
			return nil, noReview(err)
		}
		if slices.ContainsFunc(pulls, func(p github.PullRequest) bool { return p.Number == pull.Number }) {
			continue
		}
		// What was approved is the last commit of the pull request, and a commit that is
		// named in the history of the file may be any of it, or the work of a merge.
		reviewed, err := r.digestAt(ctx, pull.HeadSHA, name)
		if err != nil {
			return nil, err
		}
		if reviewed != digest {
			return nil, refusedBecause("propose it again from the newest default branch, and have that approved",
				"commit %s has other bytes of %s than the last commit of pull request %d, which is what was reviewed", sha, name, pull.Number)
		}
		pulls = append(pulls, pull)
	}
	if before != nil {
		return nil, refusedBecause("merge the renaming by itself, with the published bytes, and the change after it",
			"the history of %s does not reach the bytes of %s: it was renamed, or published from another file", name, before.Name())
	}
	return pulls, nil
}

// refusedBecause returns a decision against something, in a sentence.
func refusedBecause(hint, format string, args ...any) error {
	return &refusedError{[]model.Problem{{Message: fmt.Sprintf(format, args...), Hint: hint}}}
}

// noReview turns the answer that there is no pull request into a refusal.
func noReview(err error) error {
	if errors.Is(err, github.ErrNoPullRequest) || errors.Is(err, github.ErrRejected) {
		return &refusedError{problemsOf(err)}
	}
	return err
}

// approved looks for the roles in each pull request, and notes who approved.
func (r *reviewing) approved(ctx context.Context, c *publish.Candidate, pulls []github.PullRequest, wanted []string, out *model.Publication) error {
	var problems []model.Problem
	for i, pull := range pulls {
		first := i == len(pulls)-1 && c.Baseline == nil
		demands, err := r.demands(ctx, c.Source.Path, pull, first, wanted)
		if err != nil {
			return err
		}
		for _, d := range demands {
			q := r.asking(d.members)
			a, err := r.client.Approvals(ctx, github.Question{Pull: pull, Members: d.members, Roles: d.roles, Same: r.same(ctx, q, pull)})
			if err != nil {
				return noReview(err)
			}
			problems = append(problems, missing(pull, a, q.cut)...)
			for _, g := range a.Granted {
				c.Approvals = append(c.Approvals, statement.Approval{Role: g.Role, Login: g.Login})
			}
		}
	}
	c.Approvals = approvalsOnce(c.Approvals)
	c.PullRequest = fmt.Sprintf("%s/%s/pull/%d", r.event.ServerURL, r.event.Repository, pulls[0].Number)
	out.PullRequest = c.PullRequest
	if len(problems) > 0 {
		return &refusedError{problems}
	}
	return nil
}

// demand is roles that have to approve a pull request, and who holds them.
type demand struct {
	roles   []string
	members map[string][]string
}

// demands returns who has to approve a pull request: who the config says, and, where
// the pull request itself changes the config, every role that the config had before.
// First says that it is the one that brought the file.
func (r *reviewing) demands(ctx context.Context, name string, pull github.PullRequest, first bool, wanted []string) ([]demand, error) {
	files, err := r.client.PullRequestFiles(ctx, pull.Number)
	if err != nil {
		return nil, err
	}
	all := []demand{{wanted, r.w.Config.Reviews.Members()}}
	for _, f := range files {
		if first && f.Path == name && f.Previous != "" {
			return nil, refusedBecause("remove it in one pull request, and add it in another",
				"pull request %d renamed %s before its first version, so that its review did not show all of it", pull.Number, name)
		}
		if path.Base(f.Path) != r.w.ConfigName() && path.Base(f.Previous) != r.w.ConfigName() {
			continue
		}
		config, err := r.configAt(ctx, pull.BaseSHA)
		if err != nil {
			return nil, err
		}
		if roles := config.Reviews.All(); len(roles) > 0 {
			all = append(all, demand{roles, config.Reviews.Members()})
		}
		break
	}
	return all, nil
}

// missing words what keeps a pull request from being approved.
func missing(pull github.PullRequest, a github.Approvals, cut []string) (problems []model.Problem) {
	say := func(hint, format string, args ...any) {
		problems = append(problems, model.Problem{Message: fmt.Sprintf("pull request %d: ", pull.Number) + fmt.Sprintf(format, args...), Hint: hint})
	}
	switch {
	case len(a.Missing) > 0 && len(a.Own) > 0:
		say("have somebody else approve it", "nobody in %s has approved the last commit, and %s", strings.Join(a.Missing, ", "), ownWords(a.Own))
	case len(a.Missing) > 0 && len(cut) > 0:
		say("set `fetch-depth: 0` on actions/checkout, or have them approve the last commit of a pull request that proposes the version",
			"nobody in %s has approved the last commit, and %s", strings.Join(a.Missing, ", "), shallow(cut))
	case len(a.Missing) > 0:
		say("have them approve the last commit of a pull request that proposes the version", "nobody in %s has approved the last commit", strings.Join(a.Missing, ", "))
	}
	for _, o := range a.Against {
		say("settle it, and propose the version again", "%s requests changes for %s", o.Login, o.Role)
	}
	for _, n := range a.NotChecked {
		say(n.Hint, "whether %s approved is not known: %s", n.Role, n.Reason)
	}
	return problems
}
