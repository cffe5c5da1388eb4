package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
)

// deepen is the advice that makes every base readable without a fetch, whatever the command: of a
// pull request the second commit is enough, but what publishes needs the history as well.
const deepen = "set `fetch-depth: 0` on actions/checkout"

// Base is the version a change is compared with.
type Base struct {
	Tree   *Tree  // holds the files; it is nil if the event has no base, and only then
	Reason string // says, for people, why this commit is the base or why there is none
}

// Base finds and opens the version that the event's change is compared with.
//
// For a pull request it is, in this order: the first parent of HEAD, if HEAD is
// the merge commit GitHub prepared, because then the difference is exactly what
// merging changes; the merge base of the base branch and HEAD, if the history
// for it is there; the tip of the base branch. For a merge group it is the
// commit the group was built on, for a push the commit before it. HEAD decides
// and not GITHUB_SHA, because HEAD is what the working tree holds. A proposal that
// HEAD does not have is an error of kind ErrElsewhere: something else would be judged.
//
// A commit that is not in the store is fetched once from the remote "origin",
// by its SHA and without history. The token may be empty; it is sent to the
// server of the event only. If that fails it is read through the API, where the
// repository was opened with a client. If that fails too the error is of kind
// ErrBaseUnreadable. An event without a base (a new branch, a manual or
// scheduled run) gives a Base without a Tree and no error.
func (r *Repository) Base(ctx context.Context, ev *Event, token string) (Base, error) {
	switch ev.Name {
	case EventPullRequest, EventReview:
		sha, why, err := r.pullRequestSHA(ev)
		if err != nil {
			return Base{}, err
		}
		return r.at(ctx, ev, token, sha, why)
	case EventMergeGroup:
		if _, err := r.proposed(ev); err != nil {
			return Base{}, err
		}
		return r.at(ctx, ev, token, ev.BaseSHA, "the commit the merge group was built on")
	case EventPush:
		if ev.BaseSHA == "" {
			return Base{Reason: fmt.Sprintf("the push created %q, so nothing was there before", ev.Ref)}, nil
		}
		return r.at(ctx, ev, token, ev.BaseSHA, "the commit before the push")
	}
	return Base{Reason: fmt.Sprintf("a run of %s changes nothing", ev.Name)}, nil
}

// pullRequestSHA decides which commit is the base of a pull request.
func (r *Repository) pullRequestSHA(ev *Event) (sha, why string, err error) {
	head, err := r.proposed(ev)
	if err != nil {
		return "", "", err
	}
	r.store.Lock()
	defer r.store.Unlock()
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

// proposed returns the commit that is checked out. It is an error if that does not have the one that an event proposes:
// it is that commit, or has it among its ancestors.
func (r *Repository) proposed(ev *Event) (*object.Commit, error) {
	r.store.Lock()
	defer r.store.Unlock()
	hash, err := r.named("HEAD")
	if err != nil {
		return nil, unreadable("HEAD", err)
	}
	head, err := object.GetCommit(r.store, hash)
	if err != nil {
		return nil, unreadable(hash.String(), err)
	}
	wanted := plumbing.NewHash(ev.HeadSHA)
	if head.Hash == wanted || slices.Contains(head.ParentHashes, wanted) {
		return head, nil
	}
	common, ok, err := r.mergeBase(wanted, head)
	if err != nil {
		return nil, unreadable(ev.HeadSHA, err)
	}
	if ok && common == ev.HeadSHA {
		return head, nil
	}
	return nil, &fault.Error{Kind: ErrElsewhere, Message: fmt.Sprintf("commit %.7s is checked out, which does not have %.7s, the commit that the event is about", head.Hash, ev.HeadSHA)}
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

// MergeBase returns the commit from which the history of a commit parted from that of
// another one. The API is asked where the clone has too little history to say: of a pull
// request that was squashed, a clone of the branches has no commit at all. Ok is false where
// neither knows.
func (r *Repository) MergeBase(ctx context.Context, base, sha string) (parted string, ok bool, err error) {
	if parted, ok, err = r.mergeBaseOf(base, sha); err != nil || ok || r.api == nil {
		return parted, ok, err
	}
	parted, err = r.api.mergeBase(ctx, base, sha)
	return parted, err == nil, ctx.Err()
}

func (r *Repository) mergeBaseOf(base, sha string) (parted string, ok bool, err error) {
	r.store.Lock()
	defer r.store.Unlock()
	head, err := object.GetCommit(r.store, plumbing.NewHash(sha))
	var system syscall.Errno
	if err != nil {
		if errors.As(err, &system) {
			return "", false, unreadable(sha, err)
		}
		return "", false, nil
	}
	return r.mergeBase(plumbing.NewHash(base), head)
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

// fetchTimeout bounds the one fetch; a base of ordinary size takes a second.
const fetchTimeout = 2 * time.Minute

// fetch gets one commit and its files from "origin" into a store of its own.
//
// The store lives in memory, as the compressed pack the server sent. Fetching
// into the checkout would be simpler and would leave traces in it: files owned
// by root when the action runs in a container, which the next job on a
// self-hosted runner cannot remove, and a changed shallow boundary that later
// steps see.
func (r *Repository) fetch(ctx context.Context, server, token, sha string) (*store, error) {
	origin, err := r.origin()
	if err != nil {
		return nil, err
	}
	address, auth, err := access(origin, server, token)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	s := newStore(memfs.New())
	remote := git.NewRemote(s, &config.RemoteConfig{Name: "origin", URLs: []string{address}})
	err = remote.FetchContext(ctx, &git.FetchOptions{
		Auth:     auth,
		Depth:    1,
		RefSpecs: []config.RefSpec{config.RefSpec("+" + sha + ":refs/packgate/base")},
		Tags:     git.NoTags,
	})
	if err != nil {
		return nil, fetchError(err)
	}
	return s, nil
}

func (r *Repository) origin() (string, error) {
	r.store.Lock()
	defer r.store.Unlock()
	remote, err := r.git.Remote("origin")
	if err != nil {
		return "", fmt.Errorf("remote \"origin\": %w", err)
	}
	urls := remote.Config().URLs
	if len(urls) == 0 {
		return "", errors.New("remote \"origin\" has no address")
	}
	return urls[0], nil
}

// access decides how an address may be reached. The token goes to the event's
// own server alone, by the scheme that server is known by: origin is a setting
// of the checkout and may name any host. Where the token goes, credentials that
// are part of the address are dropped.
func access(origin, server, token string) (string, transport.AuthMethod, error) {
	endpoint, err := transport.NewEndpoint(origin)
	if err != nil {
		return "", nil, errors.New("the address of origin is not one of git's")
	}
	switch endpoint.Protocol {
	case "file", "http", "https":
	default:
		return "", nil, fmt.Errorf("origin is reached by %q, wanted https", endpoint.Protocol)
	}
	target, err := url.Parse(origin)
	own, serverErr := url.Parse(server)
	if token == "" || err != nil || serverErr != nil ||
		own.Host == "" || !strings.EqualFold(target.Host, own.Host) || target.Scheme != own.Scheme {
		return origin, nil, nil
	}
	target.User = nil
	// The user name is the one GitHub documents for tokens of an installation.
	return target.String(), &http.BasicAuth{Username: "x-access-token", Password: token}, nil
}

// fetchError leaves out what a server answered beside its refusal: a page of
// HTML has no place in a message.
func fetchError(err error) error {
	for _, known := range []error{
		transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrRepositoryNotFound,
	} {
		if errors.Is(err, known) {
			err = known
			break
		}
	}
	return fmt.Errorf("cannot fetch it from origin: %w", err)
}
