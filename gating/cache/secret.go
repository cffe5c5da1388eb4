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

// secretSize is the size of a secret, in bytes.
const secretSize = 32

// readSecret returns the secret in a file, which it makes where there is none.
func readSecret(name string) ([]byte, error) {
	secret, err := secretOf(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := makeSecret(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return secretOf(name) // which may be that of a run at the same time
}

func secretOf(name string) ([]byte, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, &Refused{name, "is no regular file", "remove it, and a new one is made"}
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
		err = &Refused{name, fmt.Sprintf("is no secret of %d bytes", secretSize), "remove it, and a new one is made"}
	}
	return secret, err
}

// makeSecret makes a secret. The file gets its name only once it is complete, and never
// takes that of another one: of two runs at a time one fails with fs.ErrExist.
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
