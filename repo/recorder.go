package repo

import (
	"cmp"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
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
	lookLink  = 'k' // where a link leads
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

// ReadLink returns where a link leads.
func (r *Recorder) ReadLink(name string) (string, error) {
	target, err := fs.ReadLink(r.tree, name)
	r.note(lookLink, name, answer{digest: sha256.Sum256([]byte(target))}, err)
	return target, err
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
		src = append(binary.AppendUvarint(src, uint64(len(e.Name()))), e.Name()...)
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
	again := &Recorder{tree: tree, seen: map[look]answer{}}
	switch f.how {
	case lookList:
		again.ReadDir(f.name)
	case lookLink:
		again.ReadLink(f.name)
	case lookLstat:
		again.Lstat(f.name)
	case lookStat:
		again.Stat(f.name)
	case lookRead:
		now, err := contentOf(tree, f.name, f.size)
		again.note(lookRead, f.name, now, err)
	}
	now, asked := again.seen[f.look]
	return asked && !again.unfit && now == f.answer
}

// kept is a fact as it is written.
type kept struct {
	How, Kind, Size int64
	Absent          bool
	Name, Digest    []byte
}

// MarshalBinary returns the recording as bytes (ASN.1, DER), the same for the same one.
func (rec Recording) MarshalBinary() ([]byte, error) {
	facts := make([]kept, len(rec.facts))
	for i, f := range rec.facts {
		facts[i] = kept{int64(f.how), int64(f.kind), f.size, f.absent, []byte(f.name), f.digest[:]}
	}
	return asn1.Marshal(facts)
}

// UnmarshalBinary reads what MarshalBinary returned. The error is that of other bytes.
func (rec *Recording) UnmarshalBinary(src []byte) error {
	var facts []kept
	rest, err := asn1.Unmarshal(src, &facts)
	if err != nil || len(rest) > 0 {
		return errors.New("these bytes are not a recording")
	}
	rec.facts = make([]fact, len(facts))
	for i, k := range facts {
		f := &rec.facts[i]
		f.look = look{byte(k.How), string(k.Name)}
		f.answer = answer{absent: k.Absent, size: k.Size, kind: fs.FileMode(k.Kind)}
		copy(f.digest[:], k.Digest)
	}
	return nil
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
