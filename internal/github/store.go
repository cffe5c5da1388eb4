package github

import (
	"errors"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

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
