package cache

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

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
