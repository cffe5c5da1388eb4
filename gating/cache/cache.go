// Package cache keeps bytes under a key in a folder of the user's, from one run to the
// next. What it returns is what was put there under that key by the same user: every
// entry is sealed with a secret that is elsewhere, and one that was cut, changed,
// moved to another name or written by anybody else is taken for one that is not there.
// It knows nothing of what the bytes mean.
package cache

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// Limit is how many bytes the entries of a folder have at most once a run has
	// ended.
	Limit = 256 << 20
	// parts is how many folders the entries are spread over. Keys are digests, so that
	// each part gets as much as any other, and is held to its share of the limit alone:
	// a run that writes one entry need not look at all of them.
	parts = 256
	// Most is how many bytes a value can have.
	Most = Limit/parts/2 - overhead
	// fresh is how long an entry that is used is not marked as used again.
	fresh = 24 * time.Hour
)

// Key says what a value is the answer to. Equal keys have equal values.
type Key [sha256.Size]byte

// file returns the name of the entry of a key within the folder.
func (k Key) file() string {
	name := hex.EncodeToString(k[:])
	return path.Join(name[:2], name[2:])
}

// Cache is an open folder of entries. The nil Cache keeps nothing. Its methods are for
// several goroutines at a time, and several processes may use one folder.
type Cache struct {
	root   *os.Root
	secret []byte
	now    func() time.Time
	limit  int64 // of all parts together

	lock    sync.Mutex
	written map[string]bool // parts that something was written to
}

// Open opens a folder for entries that are sealed with the secret in a file. Both are
// made where they are missing, for the user alone. The error is a *Refused where one
// of them could have been written by another user; others come from the file system.
func Open(folder, secretFile string, now func() time.Time) (*Cache, error) {
	secret, err := readSecret(secretFile)
	if err != nil {
		return nil, err
	}
	root, err := openFolder(folder)
	if err != nil {
		return nil, err
	}
	return &Cache{root: root, secret: secret, now: now, limit: Limit, written: map[string]bool{}}, nil
}

// Get returns the value of a key; ok is false where there is none that can be relied
// on, whatever the reason.
func (c *Cache) Get(key Key) (value []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	name := key.file()
	// A named pipe would keep whoever opens it waiting.
	info, err := c.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > Most+overhead {
		return nil, false
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close() // only read from
	src, err := io.ReadAll(io.LimitReader(f, Most+overhead+1))
	if err != nil {
		return nil, false
	}
	if value, ok = unsealed(c.secret, key, src); !ok {
		return nil, false
	}
	if now := c.now(); now.Sub(info.ModTime()).Abs() > fresh {
		// That it cannot be marked makes it go earlier, and is nothing to tell.
		_ = c.root.Chtimes(name, now, now)
	}
	return value, true
}

// Put keeps a value under a key, in place of what was there. A value that is too large,
// or that cannot be written, is not kept: whoever asks for it finds nothing.
func (c *Cache) Put(key Key, value []byte) {
	if c == nil || len(value) > Most {
		return
	}
	name := key.file()
	part := path.Dir(name)
	if err := c.root.Mkdir(part, 0o700); err != nil && !os.IsExist(err) {
		return
	}
	c.lock.Lock()
	c.written[part] = true
	c.lock.Unlock()
	temp := path.Join(part, staging+rand.Text())
	if err := c.write(temp, sealed(c.secret, key, value)); err != nil || c.root.Rename(temp, name) != nil {
		_ = c.root.Remove(temp) // trimming removes it later where this fails
	}
}

// write writes a file that must not be there.
func (c *Cache) write(name string, src []byte) error {
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	return cmp.Or(err, f.Close())
}

// Close brings what was written to within the limit, and releases the folder. There is
// nothing to tell of what could not be removed: the next run tries again.
func (c *Cache) Close() {
	if c == nil {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	for part := range c.written {
		c.trim(part)
	}
	_ = c.root.Close() // only what is open for reading
}

// overhead is how many bytes an entry has beside its value.
const overhead = sha256.Size

// purpose is what is sealed before key and value, so that the secret means nothing
// elsewhere.
const purpose = "packgate cache entry 1\x00"

// sealed returns a value as its entry: the HMAC-SHA256 of purpose, key and value under
// the secret, and the value. It takes the place of a digest, for it tells of every
// fault that a digest tells of.
func sealed(secret []byte, key Key, value []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(purpose))
	m.Write(key[:])
	m.Write(value)
	return append(m.Sum(make([]byte, 0, overhead+len(value))), value...)
}

// unsealed returns the value of an entry; ok is false where it was not sealed with this
// secret for this key.
func unsealed(secret []byte, key Key, entry []byte) (value []byte, ok bool) {
	if len(entry) < overhead {
		return nil, false
	}
	value = entry[overhead:]
	return value, hmac.Equal(entry, sealed(secret, key, value))
}

// staging begins the names of files that are being written.
const staging = ".packgate-"

// abandoned is how old a file that is being written is when nobody writes it any more.
const abandoned = time.Hour

// trim removes the entries of a part that were not used for the longest time, until the
// part is within its share of the limit, and what was left half-written. Files that are
// no entries are left alone.
func (c *Cache) trim(part string) {
	entries, err := fs.ReadDir(c.root.FS(), part)
	if err != nil {
		return
	}
	var kept []fs.FileInfo
	var size int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // gone already, or none of ours
		}
		switch {
		case isEntry(e.Name()):
			kept, size = append(kept, info), size+info.Size()
		case strings.HasPrefix(e.Name(), staging) && c.now().Sub(info.ModTime()) > abandoned:
			_ = c.root.Remove(path.Join(part, e.Name()))
		}
	}
	slices.SortStableFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range kept {
		if size <= c.limit/parts {
			return
		}
		if c.root.Remove(path.Join(part, info.Name())) == nil {
			size -= info.Size()
		}
	}
}

// isEntry reports whether a file in a part has the name of an entry.
func isEntry(name string) bool {
	return len(name) == 2*len(Key{})-2 && strings.Trim(name, "0123456789abcdef") == ""
}
