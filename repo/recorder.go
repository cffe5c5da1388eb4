package repo

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"sync"
)

// Recorder notes what is looked at in a tree of files, and what the answer was. It is
// used by several goroutines at a time.
type Recorder struct {
	tree  fs.FS
	lock  sync.Mutex
	seen  map[look]answer
	unfit bool
}

// look is one question that is asked of a tree.
type look struct {
	how  byte // one of the constants below
	name string
}

// The ways to look at a name. They are in the order in which they are asked again:
// that a file has become a named pipe is seen in the folder before the file is opened,
// which would wait for ever.
const (
	lookList  = 'd' // the names and types in a folder
	lookLstat = 'l' // the type of what has the name
	lookRead  = 'r' // the content of a file
	lookStat  = 's' // the type of what the name leads to
)

// answer is what a look gave. Permissions and times are no part of it: nothing that
// is said of a pack depends on them.
type answer struct {
	absent bool
	size   int64             // of a content, in bytes
	kind   fs.FileMode       // the type that stat and lstat return
	digest [sha256.Size]byte // of a content, or of a listing
}

// Recorded returns the same files, and a recorder of everything that is looked at
// through them. Closing them is left to who opened the first ones.
func (f *Files) Recorded() (*Files, *Recorder) {
	r := &Recorder{tree: f.tree, seen: map[look]answer{}}
	recorded := *f
	recorded.tree, recorded.close = r, func() error { return nil }
	return &recorded, r
}

// note keeps an answer. Two answers to one question mean that the files were changed
// meanwhile, and an error other than absence has causes that nobody could look at
// again: neither makes a recording.
func (r *Recorder) note(how byte, name string, a answer, err error) {
	if a.absent = absent(err); a.absent {
		a = answer{absent: true}
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	l := look{how, name}
	before, known := r.seen[l]
	if err != nil && !a.absent || known && before != a {
		r.unfit = true
	}
	r.seen[l] = a
}

// Open opens a file. It has to be read to its end, or there is no recording; opening a
// folder leaves none either, for ReadDir is there to list one.
func (r *Recorder) Open(name string) (fs.File, error) {
	file, err := r.tree.Open(name)
	if err != nil {
		r.note(lookRead, name, answer{}, err)
		return nil, err
	}
	return &recordedFile{File: file, of: r, name: name, sum: sha256.New()}, nil
}

// Stat returns what a name leads to.
func (r *Recorder) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(r.tree, name)
	r.note(lookStat, name, kindOf(info, err), err)
	return info, err
}

// Lstat returns what has a name, be it a link.
func (r *Recorder) Lstat(name string) (fs.FileInfo, error) {
	info, err := fs.Lstat(r.tree, name)
	r.note(lookLstat, name, kindOf(info, err), err)
	return info, err
}

func kindOf(info fs.FileInfo, err error) answer {
	if err != nil {
		return answer{}
	}
	return answer{kind: info.Mode().Type()}
}

// errLink keeps ReadLink from making a recording.
var errLink = errors.New("where a link leads is not recorded")

// ReadLink returns where a link leads. Nothing here asks that; it belongs to Lstat in
// the interface, and leaves no recording.
func (r *Recorder) ReadLink(name string) (string, error) {
	r.note(lookLstat, name, answer{}, errLink)
	return fs.ReadLink(r.tree, name)
}

// ReadDir lists a folder.
func (r *Recorder) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.tree, name)
	r.note(lookList, name, answer{digest: listing(entries)}, err)
	return entries, err
}

// listing returns the digest of the names and types in a folder.
func listing(entries []fs.DirEntry) (digest [sha256.Size]byte) {
	var src []byte
	for _, e := range entries {
		src = appendText(src, e.Name())
		src = binary.BigEndian.AppendUint32(src, uint32(e.Type()))
	}
	return sha256.Sum256(src)
}

// recordedFile is a file whose content is hashed as it is read, so that the digest is
// of the very bytes that were looked at.
type recordedFile struct {
	fs.File
	of   *Recorder
	name string
	sum  hash.Hash
	size int64
	done bool
}

// Read reads on, and notes the content at its end.
func (f *recordedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.sum.Write(p[:n])
	f.size += int64(n)
	if err == io.EOF && !f.done {
		f.done = true
		a := answer{size: f.size}
		f.sum.Sum(a.digest[:0])
		f.of.note(lookRead, f.name, a, nil)
	}
	return n, err
}

// errPart keeps a file of which a part was read from making a recording.
var errPart = errors.New("the file was not read to its end")

// Close closes the file.
func (f *recordedFile) Close() error {
	if !f.done {
		f.of.note(lookRead, f.name, answer{}, errPart)
	}
	return f.File.Close()
}
