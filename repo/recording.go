package repo

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
)

// Recording is what was looked at in a tree of files, with the answers. Who does the
// same work again over files that give the same answers comes to the same result.
type Recording struct{ facts []fact }

// fact is a question with its answer.
type fact struct {
	look
	answer
}

// Recording returns what was looked at so far; ok is false where that cannot be looked
// at again, such as a file that could not be read, or files that were changed
// meanwhile. What follows from other answers is left out.
func (r *Recorder) Recording() (rec Recording, ok bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.unfit {
		return Recording{}, false
	}
	for l, a := range r.seen {
		if !r.follows(l) {
			rec.facts = append(rec.facts, fact{l, a})
		}
	}
	slices.SortFunc(rec.facts, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.how, b.how), cmp.Compare(a.name, b.name))
	})
	return rec, true
}

// follows reports whether the answer to a look follows from that to another one: what
// is no link leads to itself, and the listing of a folder says what is in it.
func (r *Recorder) follows(l look) bool {
	switch l.how {
	case lookStat:
		link, known := r.seen[look{lookLstat, l.name}]
		return known && link == r.seen[l] // which a link never is
	case lookLstat:
		folder, known := r.seen[look{lookList, path.Dir(l.name)}]
		return known && !folder.absent && l.name != "."
	}
	return false
}

// Holds reports whether files give every answer of the recording. Each content is read
// and hashed, whatever its time and size.
func (rec Recording) Holds(f *Files) bool {
	for _, one := range rec.facts {
		if !one.holds(f.tree) {
			return false
		}
	}
	return true
}

func (f *fact) holds(tree fs.FS) bool {
	var now answer
	var err error
	switch f.how {
	case lookList:
		var entries []fs.DirEntry
		entries, err = fs.ReadDir(tree, f.name)
		now.digest = listing(entries)
	case lookLstat:
		var info fs.FileInfo
		info, err = fs.Lstat(tree, f.name)
		now = kindOf(info, err)
	case lookStat:
		var info fs.FileInfo
		info, err = fs.Stat(tree, f.name)
		now = kindOf(info, err)
	case lookRead:
		now, err = contentOf(tree, f.name, f.size)
	default:
		return false
	}
	if err != nil {
		return f.absent && absent(err)
	}
	return now == f.answer
}

// buffers are what files are hashed through.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// errSize ends the reading of a file that has another size than it had.
var errSize = errors.New("the file has another size")

// contentOf returns the answer that reading a file gives. One of another size is not
// read.
func contentOf(tree fs.FS, name string, size int64) (answer, error) {
	file, err := tree.Open(name)
	if err != nil {
		return answer{}, err
	}
	defer file.Close() // only read from
	info, err := file.Stat()
	if err != nil {
		return answer{}, err
	}
	if !info.Mode().IsRegular() || info.Size() != size {
		return answer{}, errSize
	}
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	sum := sha256.New()
	// One byte more shows a file that has grown meanwhile.
	n, err := io.CopyBuffer(sum, io.LimitReader(file, size+1), buffer[:])
	a := answer{size: n}
	sum.Sum(a.digest[:0])
	return a, err
}

// Digest returns the SHA-256 of a file's content; ok is false where it is no regular
// file, has more than most bytes, or cannot be read.
func (f *Files) Digest(name string, most int64) (digest [sha256.Size]byte, ok bool) {
	// A named pipe would keep whoever opens it waiting.
	info, err := fs.Stat(f.tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return digest, false
	}
	a, err := contentOf(f.tree, name, info.Size())
	return a.digest, err == nil && a.size == info.Size()
}
