// Package cache keeps bytes under a key in a folder of the user, from one run to the next. What it
// returns is what the same user put there under that key: every entry is sealed with a secret that
// is elsewhere, and an entry that was truncated, changed, renamed or written by anybody else is
// treated as missing. The package does not know what the bytes mean.
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
	// Limit is how many bytes the entries of a folder have at most after a run.
	Limit = 256 << 20
	// parts is how many folders the entries are spread over. Keys are digests, so each part gets
	// about the same amount, and has its own share of the limit: a run that writes one entry need
	// not look at all of them.
	parts = 256
	// Most is how many bytes a value can have.
	Most = Limit/parts/2 - overhead
	// fresh is how long an entry that was marked as used is not marked again.
	fresh = 24 * time.Hour
)

// Key is the digest of everything that a value depends on. Equal keys have equal values.
type Key [sha256.Size]byte

// file returns the name of the entry of a key within the folder.
func (k Key) file() string {
	name := hex.EncodeToString(k[:])
	return path.Join(name[:2], name[2:])
}

// Cache is an open folder of entries. The nil Cache keeps nothing. Several goroutines may use its
// methods at the same time, and several processes one folder.
type Cache struct {
	root   *os.Root
	secret []byte
	now    func() time.Time
	limit  int64 // of all parts together

	lock    sync.Mutex
	written map[string]bool // parts that something was written to
}

// Open opens a folder for entries that are sealed with the secret in a file. It creates either if it
// is missing, for the user alone. The error is a *Refused if another user could have written one of
// them; others come from the file system. The caller closes the cache.
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

// Get returns the value of a key; ok is false if there is none that can be relied on, whatever the
// reason.
func (c *Cache) Get(key Key) (value []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	name := key.file()
	// Opening a named pipe would block.
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
		// If it cannot be marked, it is only removed earlier.
		_ = c.root.Chtimes(name, now, now)
	}
	return value, true
}

// Put keeps a value under a key, in place of what was there. A value that has more than Most bytes, or
// that cannot be written, is not kept: Get will not find it.
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

// write writes a file that must not exist yet.
func (c *Cache) write(name string, src []byte) error {
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	return cmp.Or(err, f.Close())
}

// Close removes old entries until the parts that were written to are within the limit, and releases
// the folder. It reports no error if an entry cannot be removed: the next run tries again.
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

// sealed returns a value as its entry: the HMAC-SHA256 of purpose, key and value under the secret,
// and the value. A digest is not needed besides, because the HMAC detects the same faults.
func sealed(secret []byte, key Key, value []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(purpose))
	m.Write(key[:])
	m.Write(value)
	return append(m.Sum(make([]byte, 0, overhead+len(value))), value...)
}

// unsealed returns the value of an entry; ok is false if it was not sealed with this secret for this
// key.
func unsealed(secret []byte, key Key, entry []byte) (value []byte, ok bool) {
	if len(entry) < overhead {
		return nil, false
	}
	value = entry[overhead:]
	return value, hmac.Equal(entry, sealed(secret, key, value))
}

// staging begins the names of files that are being written.
const staging = ".packgate-"

// abandoned is the age from which a half-written file is taken to be left over.
const abandoned = time.Hour

// trim removes the least recently used entries of a part until it is within its share of the limit,
// and half-written files. Other files are left alone.
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
			continue // gone already, or not one of ours
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
