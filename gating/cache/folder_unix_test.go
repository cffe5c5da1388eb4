//go:build unix

package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// owner is a file that belongs to somebody.
type owner struct {
	fs.FileInfo
	uid uint32
}

func (o owner) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

// Only what nobody else could have written is used, and the error says what to do.
func TestRefused(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(place) error
		want  string
	}{
		"folder of a group":  {func(p place) error { return os.Chmod(p.folder, 0o770) }, "has the permissions 0770, which let other users in"},
		"folder of all":      {func(p place) error { return os.Chmod(p.folder, 0o702) }, "has the permissions 0702, which let other users in"},
		"folder over a link": {func(p place) error { return relink(p.folder) }, "is not a folder"},
		"secret of a group":  {func(p place) error { return os.Chmod(p.secret, 0o640) }, "has the permissions 0640, which let other users in"},
		"secret of all":      {func(p place) error { return os.Chmod(p.secret, 0o604) }, "has the permissions 0604, which let other users in"},
		"secret over a link": {func(p place) error { return relink(p.secret) }, "is not a regular file"},
		"short secret":       {func(p place) error { return os.Truncate(p.secret, secretSize-1) }, "is not a secret of 32 bytes"},
		"long secret":        {func(p place) error { return os.Truncate(p.secret, secretSize+1) }, "is not a secret of 32 bytes"},
		"empty secret":       {func(p place) error { return os.Truncate(p.secret, 0) }, "is not a secret of 32 bytes"},
		"secret in a pipe":   {func(p place) error { return errors.Join(os.Remove(p.secret), syscall.Mkfifo(p.secret, 0o600)) }, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.open(t).Put(key(1), []byte("one"))
			if err := row.spoil(p); err != nil {
				t.Fatal(err)
			}
			_, err := Open(p.folder, p.secret, time.Now)
			var refused *Refused
			if !errors.As(err, &refused) || refused.Why != row.want || refused.Hint == "" || !strings.Contains(err.Error(), refused.Name) {
				t.Errorf("%#v, wanted %q", err, row.want)
			}
		})
	}
}

// relink moves a file or folder away and leaves a link to it.
func relink(name string) error {
	return errors.Join(os.Rename(name, name+".moved"), os.Symlink(name+".moved", name))
}

// A folder that others can only read is used.
func TestReadableFolder(t *testing.T) {
	p := newPlace(t)
	p.open(t).Put(key(1), []byte("one"))
	if err := os.Chmod(p.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	want(t, p.open(t), key(1), []byte("one"))
}

func TestOwner(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	me := uint32(os.Geteuid())
	if err := owned("x", owner{info, me}, 0o022); err != nil {
		t.Error(err)
	}
	if err := owned("x", owner{info, me + 1}, 0o022); err == nil || err.Error() != `"x" belongs to another user` {
		t.Error(err)
	}
}

// A part that is a link leads nowhere: nothing outside of the folder is read, written
// or removed. A pipe in the place of an entry keeps nobody waiting.
func TestLinksInside(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	c.Put(key(1), []byte("one"))
	part, outside := filepath.Dir(p.entry(key(1))), t.TempDir()
	entry, err := os.ReadFile(p.entry(key(1)))
	if err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(outside, filepath.Base(p.entry(key(1))))
	if err := errors.Join(os.WriteFile(there, entry, 0o600), os.RemoveAll(part), os.Symlink(outside, part)); err != nil {
		t.Fatal(err)
	}
	want(t, c, key(1), nil)
	c.Put(key(1), []byte("two"))
	c.limit = 0
	c.trim(filepath.Base(part))
	if src, err := os.ReadFile(there); err != nil || string(src) != string(entry) {
		t.Errorf("a file outside of the folder is changed: %v", err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("files outside of the folder: %v, %v", left, err)
	}
	pipe := p.entry(key(2))
	if err := errors.Join(os.MkdirAll(filepath.Dir(pipe), 0o700), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	want(t, c, key(2), nil)
	c.Put(key(2), []byte("two"))
	want(t, c, key(2), []byte("two"))
}
