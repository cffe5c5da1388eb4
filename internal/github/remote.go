package github

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-github/v62/github"
)

// The bounds of a base that is read through the API: files that differ from the
// checkout's, and their bytes together. A change of ordinary size asks for a few.
const (
	maxRemoteFiles = 200
	maxRemoteBytes = 64 << 20
)

// remote gives the objects of one commit that is neither in the checkout nor can
// be fetched. Its folders are listed once through the API; a file is asked for when
// it is read, unless the checkout has the same content.
//
// Nothing is taken on trust but which tree the commit has: every folder and every
// file has to have the content that its name in git stands for, so an answer that
// leaves something out is an error and never a smaller base.
type remote struct {
	ctx     context.Context // that of the run. It is kept because files are read by interfaces that know of none.
	api     *Client
	local   *store
	objects map[plumbing.Hash]plumbing.EncodedObject
	sizes   map[plumbing.Hash]int64 // of all files, in bytes
	calls   int
	bytes   int64
}

// overAPI returns the files of a commit by GitHub's API: two calls, and one for
// each file that is read and that the checkout does not have.
func (r *Repository) overAPI(ctx context.Context, sha string) (*Tree, error) {
	root, err := r.api.treeOf(ctx, sha)
	if err != nil {
		return nil, err
	}
	entries, err := r.api.entries(ctx, root)
	if err != nil {
		return nil, err
	}
	files := &remote{
		ctx: ctx, api: r.api, local: r.store,
		objects: map[plumbing.Hash]plumbing.EncodedObject{}, sizes: map[plumbing.Hash]int64{},
	}
	if err := files.add(plumbing.NewHash(root), entries); err != nil {
		return nil, err
	}
	s := newStore(memfs.New())
	s.remote = files
	return &Tree{store: s, commit: plumbing.NewHash(sha), root: plumbing.NewHash(root)}, nil
}

func (c *Client) treeOf(ctx context.Context, sha string) (string, error) {
	commit, _, err := c.api.Git.GetCommit(ctx, c.owner, c.repo, sha)
	if err != nil {
		return "", c.failed("read the commit", err)
	}
	root := commit.GetTree().GetSHA()
	if commit.GetSHA() != sha || !plumbing.IsHash(root) {
		return "", unexpected("commit", sha)
	}
	return root, nil
}

// entries lists everything below a tree, folders included.
func (c *Client) entries(ctx context.Context, root string) ([]*github.TreeEntry, error) {
	tree, _, err := c.api.Git.GetTree(ctx, c.owner, c.repo, root, true)
	if err != nil {
		return nil, c.failed("list the files of the commit", err)
	}
	if tree.GetTruncated() {
		return nil, &fault.Error{Kind: ErrTooLarge, Message: "cannot list the files of the commit: GitHub lists only some of them"}
	}
	return tree.Entries, nil
}

func (c *Client) blob(ctx context.Context, hash plumbing.Hash) ([]byte, error) {
	content, _, err := c.api.Git.GetBlobRaw(ctx, c.owner, c.repo, hash.String())
	if err != nil {
		return nil, c.failed("read the file", err)
	}
	return content, nil
}

func unexpected(what, sha string) error {
	return &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("GitHub's answer is not the %s %s", what, sha)}
}

// add makes git's folders out of a list of all entries, and holds each of them
// against its name.
func (r *remote) add(root plumbing.Hash, entries []*github.TreeEntry) error {
	names := map[string]plumbing.Hash{"": root}
	folders := map[string][]object.TreeEntry{}
	for _, e := range entries {
		mode, err := filemode.New(e.GetMode())
		if err != nil || !plumbing.IsHash(e.GetSHA()) {
			return unexpected("tree", root.String())
		}
		hash := plumbing.NewHash(e.GetSHA())
		switch kindOf(mode) {
		case KindDirectory:
			names[e.GetPath()] = hash
		case KindFile, KindSymlink:
			r.sizes[hash] = int64(e.GetSize())
		}
		folder, name := path.Split(e.GetPath())
		folder = strings.TrimSuffix(folder, "/")
		folders[folder] = append(folders[folder], object.TreeEntry{Name: name, Mode: mode, Hash: hash})
	}
	for name, hash := range names {
		list := folders[name]
		sort.Sort(object.TreeEntrySorter(list))
		encoded := &plumbing.MemoryObject{}
		if err := (&object.Tree{Entries: list}).Encode(encoded); err != nil || encoded.Hash() != hash {
			return unexpected("tree", root.String())
		}
		r.objects[hash] = encoded
	}
	return nil
}

// object returns a folder, or a file from wherever it is.
func (r *remote) object(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	found := r.objects[hash]
	if _, isFile := r.sizes[hash]; found == nil && isFile && kind == plumbing.BlobObject {
		data, err := r.content(hash)
		if err != nil {
			return nil, err
		}
		blob := &plumbing.MemoryObject{}
		blob.SetType(plumbing.BlobObject)
		blob.SetSize(int64(len(data)))
		blob.Write(data) // in memory: it has no errors
		r.objects[hash], found = blob, blob
	}
	if found == nil || found.Type() != kind {
		return nil, plumbing.ErrObjectNotFound
	}
	return found, nil
}

// content reads a file from the checkout's objects, or else asks for it.
//
// The errors of the API are handed on as text. Wrapped, they would say of the file
// what they say of the answer: that it is not found, or that it is too large.
func (r *remote) content(hash plumbing.Hash) ([]byte, error) {
	r.local.Lock()
	data, err := r.local.blob(hash)
	r.local.Unlock()
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return data, err
	}
	size := r.sizes[hash]
	switch {
	case r.ctx.Err() != nil:
		return nil, r.ctx.Err()
	case r.calls == maxRemoteFiles:
		return nil, fmt.Errorf("more than %d files would have to be read through the API", maxRemoteFiles)
	case r.bytes+size > maxRemoteBytes:
		return nil, fmt.Errorf("more than %d bytes would have to be read through the API", maxRemoteBytes)
	}
	r.calls++
	r.bytes += size
	if data, err = r.api.blob(r.ctx, hash); err != nil {
		return nil, errors.New(err.Error())
	}
	if int64(len(data)) != size || plumbing.ComputeHash(plumbing.BlobObject, data) != hash {
		return nil, unexpected("file", hash.String())
	}
	return data, nil
}
