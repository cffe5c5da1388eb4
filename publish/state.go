package publish

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
)

const (
	stateFormat = "packgate.publish-state.v1"
	stateLimit  = 64 << 20 // bounds what is read of a state file: a bundle and a report in base64, each of which the registry bounds more narrowly
)

// StateFolder keeps what was signed until it is published, so that a run that was
// cut off between the two does not sign twice. It is a convenience and no
// authority: whatever it holds is verified like anything else before it is used.
type StateFolder struct{ folder string }

// OpenState returns the state folder of that name, which is made, with a .gitignore
// that keeps all of it out of a commit, where it is not there. The error is of kind
// ErrState.
func OpenState(folder string) (*StateFolder, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, stateError("cannot be made", err)
	}
	ignore := filepath.Join(folder, ".gitignore")
	if _, err := os.Lstat(ignore); err != nil {
		if err := writeWhole(ignore, []byte("*\n")); err != nil {
			return nil, stateError("cannot be written to", err)
		}
	}
	return &StateFolder{folder: folder}, nil
}

func stateError(what string, err error) error {
	return &fault.Error{Kind: ErrState, Message: "the folder of saved state " + what, Hint: "give a folder that this user may write to", Cause: err}
}

// saved is the content of a state file.
type saved struct {
	Format   string `json:"format"`
	Pack     string `json:"pack"` // pack_id@version
	Manifest string `json:"manifest"`
	Bundle   []byte `json:"bundle"`
	Report   []byte `json:"report"`
}

// file returns the path of the state file of a version.
func (s *StateFolder) file(name string) (string, error) {
	base := name + ".json"
	if !filepath.IsLocal(base) || strings.ContainsAny(base, `/\`) {
		return "", &fault.Error{Kind: ErrState, Message: fmt.Sprintf("%q cannot be the name of a state file", name)}
	}
	return filepath.Join(s.folder, base), nil
}

// load returns what is kept of a version, and nil where there is nothing or, with
// a note for the reader, nothing that can be used.
func (s *StateFolder) load(name string, a *registry.Artifact) (kept *saved, note string) {
	if s == nil {
		return nil, ""
	}
	path, err := s.file(name)
	if err != nil {
		return nil, ""
	}
	kept, err = readState(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ""
	case err != nil:
		return nil, fmt.Sprintf("saved state %q is not used: %v", path, err)
	case kept.Pack != name || kept.Manifest != a.Digest:
		return nil, fmt.Sprintf("saved state %q is not used: it is of %q with manifest %q", path, kept.Pack, kept.Manifest)
	}
	return kept, ""
}

func readState(path string) (*saved, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, stateLimit+1))
	if err != nil {
		return nil, err
	}
	if len(source) > stateLimit {
		return nil, fmt.Errorf("larger than %d bytes", stateLimit)
	}
	var kept saved
	if err := json.Unmarshal(source, &kept); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if kept.Format != stateFormat {
		return nil, fmt.Errorf("format %q, wanted %q", kept.Format, stateFormat)
	}
	return &kept, nil
}

// save keeps what was signed and returns the path of the file.
func (s *StateFolder) save(k saved) (string, error) {
	if s == nil {
		return "", nil
	}
	path, err := s.file(k.Pack)
	if err != nil {
		return "", err
	}
	k.Format = stateFormat
	content, err := json.Marshal(k)
	if err != nil {
		return "", fmt.Errorf("saved state of %q: %w", k.Pack, err)
	}
	if err := writeWhole(path, content); err != nil {
		return "", stateError("cannot be written to", err)
	}
	return path, nil
}

// remove forgets what is kept of a version; that nothing is kept is no error.
func (s *StateFolder) remove(name string) error {
	if s == nil {
		return nil
	}
	path, err := s.file(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return stateError("cannot be cleared", err)
	}
	return nil
}

// writeWhole writes a file beside its place and moves it there once it is complete
// and on the disk. Only its owner may read it.
func writeWhole(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".unfinished-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = cmp.Or(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name()) // the error that matters is the first one
	}
	return err
}
