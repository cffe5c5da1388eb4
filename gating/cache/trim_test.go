package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// samePart returns keys of entries that are in one part.
func samePart(n int) []Key {
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = key(i)
		keys[i][0] = 0xab
	}
	return keys
}

func used(t *testing.T, name string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

// The entries that were not used for the longest time go, and as many as have to.
func TestTheOldestGo(t *testing.T) {
	p := newPlace(t)
	keys := samePart(6)
	c := p.open(t)
	value := bytes.Repeat([]byte("x"), 1000-overhead)
	begin := time.Now().Add(-30 * time.Hour)
	for i, k := range keys {
		c.Put(k, value)
		used(t, p.entry(k), begin.Add(time.Duration(i)*time.Minute))
	}
	want(t, c, keys[0], value) // which is used, and so the latest of all
	c.limit = 3500 * parts
	c.Close()
	again := p.open(t)
	for i, k := range keys {
		if _, ok := again.Get(k); ok != (i == 0 || i > 3) {
			t.Errorf("entry %d is there: %v", i, ok)
		}
	}
}

// A run that only reads removes nothing, and looks at nothing that it did not ask for.
func TestReadingRemovesNothing(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	c.Put(key(1), []byte("one"))
	c.Close()
	reader := p.open(t)
	reader.limit = 0
	want(t, reader, key(1), []byte("one"))
	reader.Close()
	want(t, p.open(t), key(1), []byte("one"))
}

// All parts together stay within the limit, whatever is written.
func TestLimit(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	c.limit = 2000 * parts
	for i := range 3000 {
		c.Put(key(i), make([]byte, i%1500))
	}
	c.Close()
	var size int64
	files := 0
	err := filepath.Walk(p.folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size, files = size+info.Size(), files+1
		}
		return err
	})
	if err != nil || size > c.limit || size < c.limit/2 || files < 2*parts/2 {
		t.Errorf("%d files with %d bytes, wanted many and at most %d: %v", files, size, c.limit, err)
	}
	folders, err := os.ReadDir(p.folder)
	if err != nil || len(folders) > parts {
		t.Errorf("%d folders, wanted at most %d: %v", len(folders), parts, err)
	}
}

// An entry is marked as used at most once a day.
func TestMarkedOnceADay(t *testing.T) {
	p := newPlace(t)
	now := time.Now().Truncate(time.Second)
	c := p.open(t)
	c.now = func() time.Time { return now }
	c.Put(key(1), []byte("one"))
	for _, row := range []struct {
		age    time.Duration
		marked bool
	}{{fresh - time.Minute, false}, {fresh + time.Minute, true}, {-fresh - time.Minute, true}, {0, false}} {
		before := now.Add(-row.age)
		used(t, p.entry(key(1)), before)
		want(t, c, key(1), []byte("one"))
		info, err := os.Stat(p.entry(key(1)))
		if err != nil {
			t.Fatal(err)
		}
		wanted := before
		if row.marked {
			wanted = now
		}
		if !info.ModTime().Equal(wanted) {
			t.Errorf("used %v ago: marked at %v, wanted %v", row.age, info.ModTime(), wanted)
		}
	}
}

// What was left half-written goes after a while, and what is none of ours stays.
func TestLeftovers(t *testing.T) {
	p := newPlace(t)
	c := p.open(t)
	c.Put(key(1), []byte("one"))
	part := filepath.Dir(p.entry(key(1)))
	old := filepath.Join(part, staging+"OLD")
	young := filepath.Join(part, staging+"YOUNG")
	foreign := filepath.Join(part, "README")
	for _, name := range []string{old, young, foreign} {
		if err := os.WriteFile(name, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	used(t, old, time.Now().Add(-2*abandoned))
	used(t, foreign, time.Now().Add(-2*abandoned))
	c.limit = 1000 * parts
	c.Close()
	for name, stays := range map[string]bool{old: false, young: true, foreign: true, p.entry(key(1)): true} {
		if _, err := os.Stat(name); (err == nil) != stays {
			t.Errorf("%s: %v, wanted to find it: %v", name, err, stays)
		}
	}
}
