package cache

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Refused is the error for a folder or file that another user could have written, or that is a link.
// Why completes the sentence that begins with its name.
type Refused struct {
	Name string // of the file or folder
	Why  string
	Hint string // what to do about it
}

// Error returns the sentence.
func (r *Refused) Error() string { return fmt.Sprintf("%q %s", r.Name, r.Why) }

// openFolder opens the folder of the entries, and creates it if it is missing. Whatever links are in
// it, nothing outside it can be reached through the result.
func openFolder(name string) (*os.Root, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(name, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &Refused{name, "is not a folder", "name a folder of your own, without a link"}
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(seen, info):
		err = &Refused{name, "was replaced while it was opened", "name a folder that nobody else can move"}
	default:
		err = owned(name, info, 0o022)
	}
	if err != nil {
		root.Close() // the error that matters is the first one
		return nil, err
	}
	return root, nil
}

// owned refuses a file that belongs to another user or has any of the given permissions. On a system
// without owners it refuses nothing: there the folder is one of the user's own settings.
func owned(name string, info fs.FileInfo, without fs.FileMode) error {
	mine, knows := isMine(info)
	switch {
	case !knows:
		return nil
	case !mine:
		return &Refused{name, "belongs to another user", "name a folder of your own"}
	case info.Mode().Perm()&without != 0:
		return &Refused{name, fmt.Sprintf("has the permissions %#o, which let other users in", info.Mode().Perm()), fmt.Sprintf("take them away: chmod %#o", info.Mode().Perm()&0o700)}
	}
	return nil
}

// secretSize is the size of a secret, in bytes.
const secretSize = 32

// readSecret returns the secret in a file, and creates the file if there is none.
func readSecret(name string) ([]byte, error) {
	secret, err := secretOf(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := makeSecret(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return secretOf(name) // a run at the same time may have written it
}

func secretOf(name string) ([]byte, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, &Refused{name, "is not a regular file", "remove it, and a new one is made"}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := owned(name, info, 0o077); err != nil {
		return nil, err
	}
	secret, err := io.ReadAll(io.LimitReader(f, secretSize+1))
	if err == nil && (len(secret) != secretSize || !os.SameFile(seen, info)) {
		err = &Refused{name, fmt.Sprintf("is not a secret of %d bytes", secretSize), "remove it, and a new one is made"}
	}
	return secret, err
}

// makeSecret writes a new secret. The file gets its name only when it is complete, and never replaces
// another one: of two runs at the same time, one fails with fs.ErrExist.
func makeSecret(name string) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, staging) // for the user alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // the link below keeps the content
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails
	_, err = f.Write(secret)
	if err = cmp.Or(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), name)
}
