package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// deepen is the advice that makes every base readable without a fetch: the
// second commit of the history is the base itself.
const deepen = "set `fetch-depth: 2` on actions/checkout"

// Base is the version a change is compared with.
type Base struct {
	// Tree holds the files; it is nil if the event has no base, and only then.
	Tree *Tree
	// Reason says, for people, why this commit is the base or why there is none.
	Reason string
}

// Base finds and opens the version that the event's change is compared with.
//
// For a pull request it is, in this order: the first parent of HEAD, if HEAD is
// the merge commit GitHub prepared, because then the difference is exactly what
// merging changes; the merge base of the base branch and HEAD, if the history
// for it is there; the tip of the base branch. For a merge group it is the
// commit the group was built on, for a push the commit before it. HEAD decides
// and not GITHUB_SHA, because HEAD is what the working tree holds.
//
// A commit that is not in the store is fetched once from the remote "origin",
// by its SHA and without history. The token may be empty; it is sent to the
// server of the event only. If that fails it is read through the API, where the
// repository was opened with a client. If that fails too the error is of kind
// ErrBaseUnreadable. An event without a base (a new branch, a manual or
// scheduled run) gives a Base without a Tree and no error.
func (r *Repository) Base(ctx context.Context, ev *Event, token string) (Base, error) {
	switch ev.Name {
	case EventPullRequest:
		return r.pullRequestBase(ctx, ev, token)
	case EventMergeGroup:
		return r.at(ctx, ev, token, ev.BaseSHA, "the commit the merge group was built on")
	case EventPush:
		if ev.BaseSHA == "" {
			return Base{Reason: fmt.Sprintf("the push created %q, so nothing was there before", ev.Ref)}, nil
		}
		return r.at(ctx, ev, token, ev.BaseSHA, "the commit before the push")
	}
	return Base{Reason: fmt.Sprintf("a run of %s changes nothing", ev.Name)}, nil
}

func (r *Repository) pullRequestBase(ctx context.Context, ev *Event, token string) (Base, error) {
	sha, why, err := r.pullRequestSHA(ev)
	if err != nil {
		return Base{}, err
	}
	return r.at(ctx, ev, token, sha, why)
}

// pullRequestSHA decides which commit is the base of a pull request.
func (r *Repository) pullRequestSHA(ev *Event) (sha, why string, err error) {
	r.store.Lock()
	defer r.store.Unlock()
	hash, err := r.named("HEAD")
	if err != nil {
		return "", "", unreadable("HEAD", err)
	}
	head, err := object.GetCommit(r.store, hash)
	if err != nil {
		return "", "", unreadable(hash.String(), err)
	}
	if p := head.ParentHashes; len(p) == 2 && p[1].String() == ev.HeadSHA {
		return p[0].String(), "the first parent of the merge commit that is checked out", nil
	}
	base, ok, err := r.mergeBase(plumbing.NewHash(ev.BaseSHA), head)
	if err != nil {
		return "", "", unreadable(ev.BaseSHA, err)
	}
	if ok {
		return base, "the merge base of the base branch and HEAD", nil
	}
	return ev.BaseSHA, "the tip of the base branch", nil
}

// mergeBase returns the newest best common ancestor, and false if the store has
// too little history to say. In a shallow clone go-git runs into the absent
// parents and fails, which is the answer wanted here. A commit that is there and
// cannot be read is an error: another base would be compared with.
func (r *Repository) mergeBase(base plumbing.Hash, head *object.Commit) (string, bool, error) {
	tip, err := object.GetCommit(r.store, base)
	var found []*object.Commit
	if err == nil {
		found, err = head.MergeBase(tip)
	}
	var system syscall.Errno
	if errors.As(err, &system) {
		return "", false, err
	}
	if err != nil || len(found) == 0 {
		return "", false, nil
	}
	best := slices.MaxFunc(found, func(a, b *object.Commit) int {
		return cmp.Or(a.Committer.When.Compare(b.Committer.When), cmp.Compare(a.Hash.String(), b.Hash.String()))
	})
	return best.Hash.String(), true, nil
}

// trunks are where the default branch of a repository is looked for. A clone knows
// it as origin/HEAD; the other names are those that most repositories use.
var trunks = []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}

// ForkPoint finds the commit that the work in this checkout began with: the merge
// base of HEAD and the default branch. Without a default branch, or without the
// history that leads to the merge base, it is HEAD itself, so that the working tree
// is compared with what was committed last. It returns the commit's SHA and what it
// is, for people.
func (r *Repository) ForkPoint() (sha, what string, err error) {
	at, err := r.Resolve("HEAD")
	if err != nil {
		return "", "", err
	}
	r.store.Lock()
	defer r.store.Unlock()
	head, err := object.GetCommit(r.store, plumbing.NewHash(at))
	if err != nil {
		return "", "", unreadable(at, err)
	}
	for _, trunk := range trunks {
		tip, err := r.named(trunk)
		var system syscall.Errno
		if errors.As(err, &system) {
			return "", "", unreadable(trunk, err)
		}
		if err != nil {
			continue
		}
		sha, ok, err := r.mergeBase(tip, head)
		if err != nil {
			return "", "", unreadable(trunk, err)
		}
		if ok {
			return sha, "the merge base with " + trunk, nil
		}
	}
	return at, "HEAD", nil
}

// At opens the commit with that full SHA as Base does, reading it from wherever it
// can be had. Its errors are those of Base.
func (r *Repository) At(ctx context.Context, ev *Event, token, sha string) (*Tree, error) {
	base, err := r.at(ctx, ev, token, sha, "")
	return base.Tree, err
}

// at opens the commit if it is there, and gets it if it is not. Of a partial clone
// nothing is taken: it may have a commit without its files.
func (r *Repository) at(ctx context.Context, ev *Event, token, sha, why string) (Base, error) {
	if !plumbing.IsHash(sha) {
		return Base{}, &fault.Error{
			Kind:    ErrUnsupported,
			Message: fmt.Sprintf("the base %q is not a SHA-1 commit name", sha),
			Hint:    "use a plain SHA-1 repository",
		}
	}
	if !r.partial {
		tree, err := r.Tree(sha)
		if err == nil {
			return Base{Tree: tree, Reason: why}, nil
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return Base{}, err
		}
	}
	fetched, err := r.fetch(ctx, ev.ServerURL, token, sha)
	if err != nil {
		return r.orOverAPI(ctx, sha, why, err)
	}
	tree, err := newTree(fetched, plumbing.NewHash(sha))
	if err != nil {
		return Base{}, err
	}
	return Base{Tree: tree, Reason: why + ", fetched"}, nil
}

// orOverAPI reads a commit through the API after git could not give it, for the
// reason in cause.
func (r *Repository) orOverAPI(ctx context.Context, sha, why string, cause error) (Base, error) {
	if r.api == nil || ctx.Err() != nil {
		return Base{}, unreadable(sha, cause)
	}
	tree, err := r.overAPI(ctx, sha)
	if err != nil {
		// As text: what GitHub says of its answer it does not say of the base.
		return Base{}, unreadable(sha, fmt.Errorf("%w; nor can it be read through the API: %s", cause, err))
	}
	return Base{Tree: tree, Reason: why + ", read through the API"}, nil
}

// unreadable reports a commit that should exist and cannot be read.
func unreadable(name string, cause error) error {
	return &fault.Error{
		Kind:    ErrBaseUnreadable,
		Message: fmt.Sprintf("commit %s cannot be read from this checkout", name),
		Hint:    deepen,
		Cause:   cause,
	}
}
