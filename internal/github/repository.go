package github

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	formatcfg "github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// Repository is a git repository on disk, opened for reading. It may be used by
// several goroutines; they take turns.
type Repository struct {
	root    string
	store   *store
	git     *git.Repository
	api     *Client // reads a base that cannot be had by git; it may be nil
	partial bool    // says that it is a partial clone: of no commit but HEAD it is known whether its files are there
}

// store is the repository's object store. go-git fills its pack indexes as it
// reads and does not guard that, so whoever reads holds the lock.
type store struct {
	sync.Mutex
	*filesystem.Storage
	loose  *dotgit.DotGit // finds the objects that have a file of their own
	remote *remote        // gives the objects of a base that is read through the API; nil for a store that has its own
}

// Config returns the repository's configuration without the extensions that
// change nothing for a reader of objects. go-git refuses every extension it
// does not know, worktreeConfig among them, which `git sparse-checkout` sets:
// a sparse checkout has all objects and is perfectly readable.
func (s *store) Config() (*config.Config, error) {
	cfg, err := s.Storage.Config()
	if err != nil {
		return nil, err
	}
	harmless := []string{"preciousobjects", "worktreeconfig"}
	for _, section := range cfg.Raw.Sections {
		if section.IsName("extensions") {
			section.Options = slices.DeleteFunc(section.Options, func(o *formatcfg.Option) bool {
				return slices.Contains(harmless, strings.ToLower(o.Key))
			})
		}
	}
	return cfg, nil
}

// Open opens the git repository whose working tree holds dir, looking upward
// from there as git does; Close closes it. Linked worktrees, sparse checkouts
// and repositories that borrow objects from another by an absolute path are
// understood. Its errors are of kind ErrNoRepository, ErrIncomplete (partial
// clone) or ErrUnsupported.
func Open(dir string) (*Repository, error) { return OpenWith(dir, nil) }

// OpenWith opens a repository as Open does, one of which Base reads through the API
// what git cannot give it. A partial clone is then opened as well. The client may
// be nil, and serves the repository alone.
func OpenWith(dir string, api *Client) (*Repository, error) {
	root, gitDir, err := discover(dir)
	if err != nil {
		return nil, err
	}
	files, err := gitFiles(gitDir)
	if err != nil {
		return nil, unsupported(root, err)
	}
	s := newStore(files)
	err = checkFormat(s, root)
	partial := errors.Is(err, ErrIncomplete) && api != nil
	if err != nil && !partial {
		return nil, err
	}
	r, err := git.Open(s, nil)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		return nil, noRepository(dir)
	}
	if err != nil {
		return nil, unsupported(root, err)
	}
	return &Repository{root: root, store: s, git: r, api: api, partial: partial}, nil
}

// objectCache is how many bytes of objects are kept in memory. Folders are read again
// and again, and most files once.
const objectCache = 8 * cache.MiByte

// newStore reads git's files of a repository.
func newStore(files billy.Filesystem) *store {
	return &store{loose: dotgit.New(files), Storage: filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(objectCache), filesystem.Options{
		// Opening a pack anew for each object costs more than reading the object.
		KeepDescriptors: true,
		// Borrowed objects are named by absolute paths, which a file system that
		// begins at .git cannot follow.
		AlternatesFS: osfs.New(string(filepath.Separator)),
	})}
}

// Close closes the files that reading has opened. Trees of the repository that
// were on disk are not to be used afterwards.
func (r *Repository) Close() error {
	r.store.Lock()
	defer r.store.Unlock()
	if err := r.store.Close(); err != nil {
		return fmt.Errorf("cannot close the repository %q: %w", r.root, err)
	}
	return nil
}

// Root returns the absolute path of the working tree's root folder.
func (r *Repository) Root() string { return r.root }

// discover finds the root of the working tree that holds dir, and its git
// folder. Where .git is a file (a linked worktree, a submodule) it says where
// that folder is.
func discover(dir string) (root, gitDir string, err error) {
	root, err = filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("cannot make %q absolute: %w", dir, err)
	}
	for {
		gitDir = filepath.Join(root, ".git")
		info, err := os.Stat(gitDir)
		switch {
		case err == nil && info.IsDir():
			return root, gitDir, nil
		case err == nil:
			gitDir, err = pointer(gitDir, "gitdir: ")
			if err != nil {
				return "", "", unsupported(root, err)
			}
			return root, gitDir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", "", fmt.Errorf("cannot look for a git repository: %w", err)
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", "", noRepository(dir)
		}
		root = parent
	}
}

// pointer reads a file of git that names a folder, after prefix; a relative
// name is relative to the file.
func pointer(file, prefix string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text, found := strings.CutPrefix(string(data), prefix)
	if !found {
		return "", fmt.Errorf("%q does not begin with %q", file, prefix)
	}
	target := strings.TrimSpace(text)
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return target, nil
}

// gitFiles returns the git folder as a file system, joined with the one it
// shares with others if it belongs to a linked worktree.
func gitFiles(gitDir string) (billy.Filesystem, error) {
	files := osfs.New(gitDir)
	common, err := pointer(filepath.Join(gitDir, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	return dotgit.NewRepositoryFilesystem(files, osfs.New(common)), nil
}

// checkFormat fails on a format version from the future, which go-git takes for
// the oldest, and on a partial clone. The absent files of the latter would be
// fetched by git when they are touched; here they are simply not there.
func checkFormat(s *store, root string) error {
	cfg, err := s.Storage.Config()
	if err != nil {
		return unsupported(root, err)
	}
	version := cfg.Raw.Section("core").Option("repositoryformatversion")
	if !slices.Contains([]string{"", "0", "1"}, version) {
		return unsupported(root, fmt.Errorf("core.repositoryFormatVersion is %q, wanted 0 or 1", version))
	}
	for _, section := range cfg.Raw.Sections {
		if section.IsName("extensions") && section.HasOption("partialclone") {
			return incomplete(root, "extensions.partialClone")
		}
		if !section.IsName("remote") {
			continue
		}
		for _, remote := range section.Subsections {
			off := []string{"0", "false", "no", "off"}
			if remote.HasOption("promisor") && !slices.Contains(off, strings.ToLower(remote.Option("promisor"))) {
				return incomplete(root, "remote."+remote.Name+".promisor")
			}
		}
	}
	return nil
}

func incomplete(root, setting string) error {
	return &fault.Error{
		Kind: ErrIncomplete,
		Message: fmt.Sprintf("the repository %q is a partial clone (%s is set), wanted one with all files of the commits it has",
			root, setting),
		Hint: "check out without `filter:` and without `sparse-checkout:`, which implies a filter; with `fetch-depth: 0`",
	}
}

func unsupported(root string, cause error) error {
	return &fault.Error{
		Kind:    ErrUnsupported,
		Message: fmt.Sprintf("the git repository of %q cannot be read", root),
		Hint:    "use a plain SHA-1 repository, as actions/checkout makes it",
		Cause:   cause,
	}
}

func noRepository(dir string) error {
	return &fault.Error{
		Kind:    ErrNoRepository,
		Message: fmt.Sprintf("%q is not in a git repository", dir),
		Hint:    "run actions/checkout with `fetch-depth: 0` before this step",
	}
}

// cleanPath brings a repository path into its one form. Paths that are absolute
// or climb are refused rather than resolved: no file of a repository has one.
func cleanPath(name string) (string, error) {
	switch {
	case name == "" || strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("%q is not a repository path, wanted one relative to the repository's root", name)
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", fmt.Errorf("%q is not a repository path: it contains \"..\"", name)
	}
	return path.Clean(name), nil
}

// EncodedObject returns an object of the store. That of a remote has no others
// than the remote's.
func (s *store) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if s.remote != nil {
		return s.remote.object(kind, hash)
	}
	found, err := s.Storage.EncodedObject(kind, hash)
	return found, s.forget(err)
}

// EncodedObjectSize returns the size of an object, in bytes. That of a file is
// known before the file is read. The error is plumbing.ErrObjectNotFound for an
// object that is not in the store itself; it may be borrowed from another one.
func (s *store) EncodedObjectSize(hash plumbing.Hash) (int64, error) {
	if s.remote != nil {
		size, ok := s.remote.sizes[hash]
		if !ok {
			return 0, plumbing.ErrObjectNotFound
		}
		return size, nil
	}
	size, err := s.looseSize(hash)
	if errors.Is(err, fs.ErrNotExist) {
		size, err = s.Storage.EncodedObjectSize(hash)
	}
	return size, s.forget(err)
}

// blob reads a whole file. The store is locked by who calls.
func (s *store) blob(hash plumbing.Hash) (data []byte, err error) {
	blob, err := object.GetBlob(s, hash)
	if err != nil {
		return nil, err
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return io.ReadAll(reader)
}

// HashesWithPrefix returns the objects whose SHA begins with the bytes.
func (s *store) HashesWithPrefix(prefix []byte) ([]plumbing.Hash, error) {
	hashes, err := s.Storage.HashesWithPrefix(prefix)
	return hashes, s.forget(err)
}

// looseSize reads the size of an object that has a file of its own, and closes the
// file: go-git, asked for the size, leaves it open, and a process may have as few as
// 256. The error wraps fs.ErrNotExist where the object has no such file.
func (s *store) looseSize(hash plumbing.Hash) (size int64, err error) {
	file, err := s.loose.Object(hash)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	reader, err := objfile.NewReader(file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	_, size, err = reader.Header()
	return size, err
}

// forget lets the indexes of packs be read anew after an error, which it returns.
// go-git keeps what it has of them when it fails, so that all that it has not read
// would from then on be said to be absent.
func (s *store) forget(err error) error {
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		s.Reindex()
	}
	return err
}
