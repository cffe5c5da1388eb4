package github

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// maxGenerations bounds the number in ~N, so that a typing error does not walk
// a history of a hundred thousand commits.
const maxGenerations = 10000

// Resolve returns the full SHA of the commit that rev names: a SHA or seven and
// more of its first digits, HEAD, a branch, a tag (annotated or not), a remote
// branch or a full ref, followed by any number of ^N (the N-th parent) and ~N
// (N first parents up). Everything else of git's grammar is refused rather than
// half understood.
//
// Its errors are of kind ErrUnknownRevision, or ErrBaseUnreadable if the name is
// known and its commit is absent, as parents are in a shallow clone.
func (r *Repository) Resolve(rev string) (string, error) {
	r.store.Lock()
	defer r.store.Unlock()
	name, steps := rev, ""
	if i := strings.IndexAny(rev, "^~"); i >= 0 {
		name, steps = rev[:i], rev[i:]
	}
	hash, err := r.named(name)
	if err != nil {
		return "", revisionError(rev, err)
	}
	commit, err := peel(r.store, hash)
	if err != nil {
		return "", revisionError(rev, err)
	}
	for steps != "" {
		if commit, steps, err = r.step(commit, steps); err != nil {
			return "", revisionError(rev, err)
		}
	}
	return commit.Hash.String(), nil
}

// named resolves a name without steps, in git's order: a full SHA, then refs,
// then the beginning of a SHA.
func (r *Repository) named(name string) (plumbing.Hash, error) {
	if plumbing.IsHash(name) {
		return plumbing.NewHash(name), nil
	}
	if name == "" || strings.ContainsAny(name, ":?*[\\{} \t\r\n\x00") || strings.Contains(name, "..") {
		return plumbing.ZeroHash, errors.New("wanted a SHA, a branch or a tag")
	}
	for _, rule := range plumbing.RefRevParseRules {
		ref, err := storer.ResolveReference(r.store, plumbing.ReferenceName(fmt.Sprintf(rule, name)))
		if err == nil {
			return ref.Hash(), nil
		}
		// Most names cannot be refs without refs/ before them, and some cannot at all.
		if !errors.Is(err, plumbing.ErrReferenceNotFound) && !errors.Is(err, dotgit.ErrReferenceNameEscape) {
			return plumbing.ZeroHash, err
		}
	}
	return r.abbreviated(strings.ToLower(name))
}

// abbreviated finds the one commit or tag whose SHA begins with prefix.
func (r *Repository) abbreviated(prefix string) (plumbing.Hash, error) {
	whole, err := hex.DecodeString(prefix[:len(prefix)&^1])
	if err != nil || len(prefix) < 7 || len(prefix) > 40 {
		return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
	}
	candidates, err := r.store.HashesWithPrefix(whole)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	found := make(map[plumbing.Hash]bool, 1)
	for _, hash := range candidates {
		if _, err := peel(r.store, hash); err == nil && strings.HasPrefix(hash.String(), prefix) {
			found[hash] = true
		}
	}
	if len(found) > 1 {
		return plumbing.ZeroHash, fmt.Errorf("%d commits begin with it, wanted more digits", len(found))
	}
	for hash := range found {
		return hash, nil
	}
	return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
}

// step takes the first ^N or ~N off steps and applies it.
func (r *Repository) step(commit *object.Commit, steps string) (*object.Commit, string, error) {
	kind, rest := steps[0], steps[1:]
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	n, err := 1, error(nil)
	if digits > 0 {
		n, err = strconv.Atoi(rest[:digits])
	}
	rest = rest[digits:]
	switch {
	case err != nil || n > maxGenerations:
		return nil, "", fmt.Errorf("a number in it is larger than %d", maxGenerations)
	case rest != "" && rest[0] != '^' && rest[0] != '~':
		return nil, "", fmt.Errorf("%q is unknown, wanted ^N or ~N", rest)
	case kind == '^' && n > 0:
		commit, err = parent(r.store, commit, n)
	case kind == '~':
		for ; n > 0 && err == nil; n-- {
			commit, err = parent(r.store, commit, 1)
		}
	}
	return commit, rest, err
}

// parent returns the n-th parent of commit, counted from one.
func parent(s storer.EncodedObjectStorer, commit *object.Commit, n int) (*object.Commit, error) {
	if n > len(commit.ParentHashes) {
		return nil, fmt.Errorf("commit %s has %d parents, wanted number %d", commit.Hash, len(commit.ParentHashes), n)
	}
	return object.GetCommit(s, commit.ParentHashes[n-1])
}

// peel returns the commit that hash names, through annotated tags.
func peel(s storer.EncodedObjectStorer, hash plumbing.Hash) (*object.Commit, error) {
	// A chain of tags is short; git itself knows no bound, so one is set here.
	for range 16 {
		tag, err := object.GetTag(s, hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			return object.GetCommit(s, hash)
		}
		if err != nil {
			return nil, err
		}
		hash = tag.Target
	}
	return nil, errors.New("wanted a commit, found a chain of tags")
}

func revisionError(rev string, cause error) error {
	if errors.Is(cause, plumbing.ErrObjectNotFound) {
		return &fault.Error{
			Kind:    ErrBaseUnreadable,
			Message: fmt.Sprintf("revision %q names a commit that is not in this clone", rev),
			Hint:    deepen,
		}
	}
	return &fault.Error{Kind: ErrUnknownRevision, Message: fmt.Sprintf("revision %q is not known", rev), Cause: cause}
}

// RefNames returns the names by which Resolve finds the branches and tags of the
// repository, and those of its remotes, in order: at most limit of them.
func (r *Repository) RefNames(limit int) ([]string, error) {
	r.store.Lock()
	defer r.store.Unlock()
	refs, err := r.store.IterReferences()
	if err != nil {
		return nil, err
	}
	defer refs.Close()
	var names []string
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if n := ref.Name(); n.IsBranch() || n.IsTag() || n.IsRemote() {
			names = append(names, n.Short())
		}
		return nil
	})
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(limit, len(names))], err
}
