package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// opening is what promote --open needs of GitHub.
type opening struct {
	*promoting
	client   *github.Client
	event    *github.Event  // without anything outside of a workflow
	token    string         // of whoever opens the pull request
	head     *gating.Commit // the newest commit of the default branch
	into     string         // the name of that
	starters []string       // logins that count as authors
}

// openOpening reads the default branch, from which alone a pull request is made. It refuses a
// token that cannot open one, a run that nobody can be said to have started, and a folder whose
// files say something else than the default branch. The caller closes its commit.
func openOpening(ctx context.Context, p *promoting) (_ *opening, err error) {
	o := &opening{promoting: p, event: &github.Event{}, token: p.env.Getenv("GITHUB_TOKEN")}
	if o.token == "" {
		return nil, misuse("set it to the token of a GitHub App's installation, or to your own", "promote --open needs the variable GITHUB_TOKEN")
	}
	if err := o.connect(); err != nil {
		return nil, err
	}
	viewer, err := o.client.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	if o.starters, err = startedBy(p.env.Getenv, viewer); err != nil {
		return nil, err
	}
	sha := ""
	if o.into, sha, err = o.client.DefaultBranch(ctx); err != nil {
		return nil, err
	}
	o.head, err = gating.OpenCommit(p.Dir, o.client, func(git *github.Repository) (*github.Tree, string, error) {
		tree, err := git.At(ctx, o.event, o.token, sha)
		return tree, o.into, err
	})
	if err != nil {
		return nil, err
	}
	unlike, err := p.Unlike(ctx, o.head)
	if err == nil && len(unlike) > 0 {
		err = misuse(fmt.Sprintf("check out the newest commit of %q without changes, and run it there", o.into),
			"%s is not as the default branch has it at %.7s, and the pull request is made from that alone", p.Files.Show(unlike[0]), sha)
	}
	if err != nil {
		return nil, errors.Join(err, o.head.Close())
	}
	return o, nil
}

// connect makes the client: for the repository of the run, and outside of one for that of origin.
func (o *opening) connect() (err error) {
	getenv := o.env.Getenv
	if getenv("GITHUB_ACTIONS") == "true" {
		if o.event, err = github.ReadEvent(getenv, os.ReadFile); err != nil {
			return err
		}
	} else if o.event.APIURL, o.event.Repository = getenv("GITHUB_API_URL"), getenv("GITHUB_REPOSITORY"); o.event.APIURL == "" || o.event.Repository == "" {
		if err := o.byOrigin(); err != nil {
			return err
		}
	}
	o.client, err = newClient(o.env, o.event, o.token)
	return err
}

// byOrigin takes what the variables leave out from the remote origin. The token goes to github.com,
// or to the server that a variable names: origin is a setting of the clone, and may name any.
func (o *opening) byOrigin() error {
	git, err := github.Open(o.Dir)
	if err != nil {
		return err
	}
	host, name, err := git.Hosted()
	if err := errors.Join(err, git.Close()); err != nil {
		return badUse(err)
	}
	if o.event.APIURL == "" && host != "github.com" {
		return misuse("set GITHUB_API_URL to the API of its server, such as https://HOST/api/v3", "the remote origin is on %q, and the token is sent to github.com alone", host)
	}
	o.event.APIURL, o.event.Repository = cmp.Or(o.event.APIURL, "https://api.github.com"), cmp.Or(o.event.Repository, name)
	return nil
}

// startedBy returns who counts as an author of what a token opens: whoever started the run of the
// workflow, and started it again, and the person to whom the token belongs.
func startedBy(getenv func(string) string, viewer string) (logins []string, err error) {
	if strings.EqualFold(viewer, github.TokenOfRun) {
		return nil, misuse("set GITHUB_TOKEN to the token of a GitHub App's installation, or to your own",
			"the token is the workflow's own, and a pull request that it opens starts no workflow, so that nothing would check it")
	}
	all := []string{viewer}
	if getenv("GITHUB_ACTIONS") == "true" {
		all = append(all, getenv("GITHUB_ACTOR"), getenv("GITHUB_TRIGGERING_ACTOR"))
	}
	for _, login := range all {
		known := slices.ContainsFunc(logins, func(one string) bool { return strings.EqualFold(one, login) })
		if login != "" && !known && !strings.HasSuffix(strings.ToLower(login), "[bot]") {
			logins = append(logins, login)
		}
	}
	if len(logins) == 0 {
		return nil, misuse("start it by hand in a workflow, or use your own token", "the token is that of %q, and nobody can be said to have started this: who starts it counts as the author of the pull request", viewer)
	}
	return logins, nil
}

// propose opens the pull request, or finds it.
func (o *opening) propose(ctx context.Context) error {
	if len(o.moved) == 0 {
		o.say("nothing to do")
		return nil
	}
	p := github.Proposal{
		Branch: o.branch(), Into: o.into, Head: o.head.Tree.SHA(), Path: o.head.Path(o.name), Content: o.source,
		Title: o.title(), Message: o.message(), Body: o.body(), Beyond: o.beyond,
	}
	done, err := o.client.Find(ctx, p)
	switch {
	case errors.Is(err, github.ErrRejected):
		return &refusedError{problemsOf(err)}
	case err != nil:
		return err
	case o.options.dryRun && !done.Known:
		o.say("would commit %s on the branch %s, from the newest commit of %s", p.Path, p.Branch, p.Into)
		o.say("would open the pull request %q, started by %s", p.Title, strings.Join(o.starters, ", "))
		o.say("nothing was written")
		return nil
	case !done.Known:
		if done, err = o.client.Propose(ctx, p); err != nil {
			return left(p.Branch, done, err)
		}
	}
	if done.Known {
		o.say("pull request %d is open already: %s", done.Number, done.URL)
		return nil
	}
	o.say("opened pull request %d: %s", done.Number, done.URL)
	o.say("whoever started it does not approve it: %s", strings.Join(o.starters, ", "))
	return nil
}

// left adds to an error what is on GitHub now.
func left(branch string, done github.Proposed, err error) error {
	switch {
	case done.HasCommit:
		return fmt.Errorf("%w; the branch %q is there with the commit, and has no pull request yet: the same command goes on from there", err, branch)
	case done.HasBranch:
		return fmt.Errorf("%w; the branch %q is there, without a commit of its own: the same command goes on from there", err, branch)
	}
	return err
}

// beyond says what a commit of the branch has that the default branch has not: this change, where
// it makes of the file, as it was where the two parted, what promote would make of it.
func (o *opening) beyond(ctx context.Context, sha string) (github.Beyond, error) {
	git := o.head.Git
	parted, ok, err := git.MergeBase(ctx, o.head.Tree.SHA(), sha)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, fmt.Errorf("from where the branch %q parted from %q is not known", o.branch(), o.into)
	case parted == sha:
		return github.BeyondNone, nil
	}
	from, err := git.At(ctx, o.event, o.token, parted)
	if err != nil {
		return 0, err
	}
	to, err := git.At(ctx, o.event, o.token, sha)
	if err != nil {
		return 0, err
	}
	changes, err := github.Between(ctx, from, to)
	if err != nil || len(changes) != 1 || changes[0].Path != o.head.Path(o.name) || changes[0].Kind == github.Deleted {
		return github.BeyondOther, err
	}
	want, err := o.read(from)
	for _, m := range o.moved {
		if err == nil {
			want, err = repo.SetPin(o.name, want, m.Pack, m.Version, m.Digest)
		}
	}
	if err != nil {
		return github.BeyondOther, nil // the file was not valid there
	}
	if is, err := o.read(to); err != nil || !bytes.Equal(is, want) {
		return github.BeyondOther, err
	}
	return github.BeyondSame, nil
}

// read returns the pins file of a commit; nil for none.
func (o *opening) read(tree *github.Tree) ([]byte, error) {
	src, err := tree.ReadFile(o.head.Path(o.name), int64(o.Config.Limits.MaxBytes))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}
