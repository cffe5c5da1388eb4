package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// place is where a cache is in a test.
type place struct{ folder, secret string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	return place{filepath.Join(dir, "user", "entries"), filepath.Join(dir, "settings", "packgate", "cache.key")}
}

func (p place) open(t *testing.T) *Cache {
	t.Helper()
	c, err := Open(p.folder, p.secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (p place) entry(k Key) string { return filepath.Join(p.folder, filepath.FromSlash(k.file())) }

func key(n int) Key { return sha256.Sum256(binary.AppendUvarint(nil, uint64(n))) }

// want checks what a key has; nil stands for nothing.
func want(t *testing.T, c *Cache, k Key, value []byte) {
	t.Helper()
	got, ok := c.Get(k)
	if ok != (value != nil) || !bytes.Equal(got, value) {
		t.Errorf("got %q, %v; wanted %q", got, ok, value)
	}
}

func TestWhatIsPutIsThere(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	want(t, c, key(1), nil)
	c.Put(key(1), []byte("one"))
	c.Put(key(2), []byte{})
	c.Put(key(3), make([]byte, Most))
	c.Put(key(4), make([]byte, Most+1))
	c.Put(key(1), []byte("another one"))
	c.Close()
	again := p.open(t)
	want(t, again, key(1), []byte("another one"))
	want(t, again, key(2), []byte{})
	want(t, again, key(3), make([]byte, Most))
	want(t, again, key(4), nil)
	for _, name := range []string{p.folder, filepath.Dir(p.entry(key(1))), filepath.Dir(p.secret)} {
		permitted(t, name, 0o700)
	}
	permitted(t, p.entry(key(1)), 0o600)
	permitted(t, p.secret, 0o600)
}

func TestNoCacheKeepsNothing(t *testing.T) {
	var c *Cache
	c.Put(key(1), []byte("one"))
	want(t, c, key(1), nil)
	c.Close()
}

// Whatever is changed in an entry, cut from it or put behind it: nothing is there.
func TestFaultyEntries(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	value := []byte("what came of it")
	c.Put(key(1), value)
	entry, err := os.ReadFile(p.entry(key(1)))
	if err != nil {
		t.Fatal(err)
	}
	put := func(src []byte) {
		t.Helper()
		if err := os.WriteFile(p.entry(key(1)), src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range entry {
		put(entry[:i])
		want(t, c, key(1), nil)
		for _, bit := range []byte{1, 0x80} {
			changed := bytes.Clone(entry)
			changed[i] ^= bit
			put(changed)
			want(t, c, key(1), nil)
		}
	}
	put(append(bytes.Clone(entry), 0))
	want(t, c, key(1), nil)
	put(append(bytes.Clone(entry), make([]byte, Most)...))
	want(t, c, key(1), nil)
	put(entry)
	want(t, c, key(1), value)
}

// An entry counts under its own name alone.
func TestSwappedEntries(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	c.Put(key(1), []byte("one"))
	c.Put(key(2), []byte("two"))
	if err := os.Rename(p.entry(key(1)), p.entry(key(2))); err != nil {
		t.Fatal(err)
	}
	want(t, c, key(1), nil)
	want(t, c, key(2), nil)
	c.Put(key(2), []byte("two"))
	want(t, c, key(2), []byte("two"))
}

// Entries that were made with another secret, as those of another machine are, do not
// count.
func TestForeignEntries(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	c.Put(key(1), []byte("one"))
	c.Close()
	if err := os.Remove(p.secret); err != nil {
		t.Fatal(err)
	}
	c = p.open(t)
	want(t, c, key(1), nil)
	c.Put(key(1), []byte("mine"))
	want(t, c, key(1), []byte("mine"))
}

// What is no file under the name of an entry is none, and is left where it is.
func TestOddEntries(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	if err := os.MkdirAll(p.entry(key(1)), 0o700); err != nil {
		t.Fatal(err)
	}
	want(t, c, key(1), nil)
	c.Put(key(1), []byte("one"))
	want(t, c, key(1), nil)
	left, err := filepath.Glob(filepath.Join(p.folder, "*", staging+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// Several that write and read one folder at a time see whole values or nothing.
func TestSeveralAtATime(t *testing.T) {
	p := newPlace(t)
	values := [][]byte{bytes.Repeat([]byte("a"), 10_000), bytes.Repeat([]byte("b"), 20_000)}
	var wg sync.WaitGroup
	for n := range 4 {
		c := p.open(t) // four processes have four of them
		for range 2 {
			wg.Go(func() {
				for i := range 200 {
					k := key(i % 5)
					if value, ok := c.Get(k); ok && !bytes.Equal(value, values[0]) && !bytes.Equal(value, values[1]) {
						t.Errorf("a value of %d bytes, which nobody put there", len(value))
					}
					c.Put(k, values[(n+i)%2])
				}
			})
		}
	}
	wg.Wait()
	c := p.open(t)
	for i := range 5 {
		if _, ok := c.Get(key(i)); !ok {
			t.Errorf("nothing under key %d", i)
		}
	}
}

// Runs that begin at the same time agree on one secret.
func TestOneSecret(t *testing.T) {
	for range 20 {
		p := newPlace(t)
		secrets := make([][]byte, 8)
		var wg sync.WaitGroup
		for i := range secrets {
			wg.Go(func() {
				var err error
				if secrets[i], err = readSecret(p.secret); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, s := range secrets {
			if len(s) != secretSize || !bytes.Equal(s, secrets[0]) {
				t.Fatal("two runs have two secrets")
			}
		}
		left, err := os.ReadDir(filepath.Dir(p.secret))
		if err != nil || len(left) != 1 {
			t.Errorf("beside the secret: %v, %v", left, err)
		}
	}
}

func TestSecretsDiffer(t *testing.T) {
	one, err := readSecret(newPlace(t).secret)
	if err != nil {
		t.Fatal(err)
	}
	other, err := readSecret(newPlace(t).secret)
	if err != nil || bytes.Equal(one, other) {
		t.Errorf("two users have one secret, or %v", err)
	}
}

func permitted(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Error(err)
	} else if _, knows := isMine(info); knows && info.Mode().Perm() != mode {
		t.Errorf("%s has the permissions %#o, wanted %#o", name, info.Mode().Perm(), mode)
	}
}

// A folder that cannot be made is an error of the file system, with its name.
func TestNoFolder(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []place{{filepath.Join(file, "entries"), p.secret}, {p.folder, filepath.Join(file, "key")}} {
		if _, err := Open(wrong.folder, wrong.secret, time.Now); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
