package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/rogpeppe/go-internal/lockedfile"
)

const (
	memoryFormat = "packgate.memory.v1"
	memoryLimit  = 1 << 20 // bounds what is read of a memory, in bytes
	memoryMost   = 1000    // bounds how many publishers a memory knows
)

// Memory keeps the newest status that this machine saw of each publisher, so that an older
// one is not taken for it. It is one file, which several processes may use at a time.
type Memory struct{ file string }

// MemoryIn returns the memory in a file. The file, and its folder, need not be there.
func MemoryIn(file string) *Memory { return &Memory{file: file} }

// seen is the newest status that was seen of a publisher.
type seen struct {
	Registry  string `json:"registry"`
	Publisher string `json:"publisher"`
	Sequence  int    `json:"sequence"`
	Status    string `json:"status"` // digest of the document
	Issued    string `json:"issued"` // of the newest timestamp, and when it expires
	Expires   string `json:"expires"`
}

// seenOf returns what is remembered of a timestamp.
func seenOf(publisher string, t *timestampAt) seen {
	return seen{Registry: t.Name, Publisher: publisher, Sequence: t.Sequence, Status: t.Digest, Issued: stampOf(t.Issued), Expires: stampOf(t.Expires)}
}

// issued returns when the newest timestamp was issued, and expires when it ends. Reading has
// refused what is no time.
func (s *seen) issued() time.Time  { return timeOf(s.Issued) }
func (s *seen) expires() time.Time { return timeOf(s.Expires) }

func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// remembered is the content of the file.
type remembered struct {
	Format string `json:"format"`
	Seen   []seen `json:"seen"`
}

// of returns what is remembered of a publisher in a registry; nil for nothing.
func (r *remembered) of(registry, publisher string) *seen {
	i := slices.IndexFunc(r.Seen, func(s seen) bool { return s.Registry == registry && s.Publisher == publisher })
	if i < 0 {
		return nil
	}
	return &r.Seen[i]
}

// recall returns what is remembered of a publisher; nil for nothing, as for no memory.
func (m *Memory) recall(registry, publisher string) (*seen, error) {
	if m == nil {
		return nil, nil
	}
	all, err := m.read()
	if err != nil {
		return nil, err
	}
	return all.of(registry, publisher), nil
}

// keep notes a status, and the timestamp that names it. Of two that are noted at once the
// newer one stays. It returns what was remembered before, nil for nothing.
func (m *Memory) keep(now seen) (before *seen, err error) {
	if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
		return nil, m.failed("cannot be made", err)
	}
	unlock, err := lockedfile.MutexAt(m.file + ".lock").Lock()
	if err != nil {
		return nil, m.failed("cannot be locked", err)
	}
	defer unlock()
	all, err := m.read()
	if err != nil {
		return nil, err
	}
	known := all.of(now.Registry, now.Publisher)
	if known != nil {
		before = &seen{}
		*before = *known
	}
	switch {
	case known == nil && len(all.Seen) == memoryMost:
		return nil, m.failed(fmt.Sprintf("knows %d publishers already", memoryMost), nil)
	case known == nil:
		all.Seen = append(all.Seen, now)
	case now.Sequence < known.Sequence, now.Sequence == known.Sequence && (now.Status != known.Status || now.Issued <= known.Issued):
		return before, nil // the caller sees what differs
	default:
		*known = now
	}
	all.Format = memoryFormat
	content, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = atomicfile.Write(m.file, atomicfile.Content(append(content, '\n')))
	}
	if err != nil {
		return nil, m.failed("cannot be written", err)
	}
	return before, nil
}

// read returns what is in the file, or nothing if there is no file. A file that cannot be read is an
// error and never an empty memory, so that nothing is gained by damaging it.
func (m *Memory) read() (*remembered, error) {
	if err := m.ownersAlone(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(m.file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &remembered{}, nil
	}
	if err != nil {
		return nil, m.failed("cannot be read", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, m.failed("is not a file", err)
	}
	src, err := io.ReadAll(io.LimitReader(f, memoryLimit+1))
	if err != nil {
		return nil, m.failed("cannot be read", err)
	}
	if len(src) > memoryLimit {
		return nil, m.failed(fmt.Sprintf("has more than %d bytes", memoryLimit), nil)
	}
	all := &remembered{}
	if err := json.Unmarshal(src, all); err != nil {
		return nil, m.failed("is damaged", err)
	}
	if all.Format != memoryFormat {
		return nil, m.failed(fmt.Sprintf("is damaged: its format is %q, wanted %q", all.Format, memoryFormat), nil)
	}
	for i, s := range all.Seen {
		if err := s.check(); err != nil {
			return nil, m.failed(fmt.Sprintf("is damaged in entry %d", i+1), err)
		}
		if first := all.of(s.Registry, s.Publisher); first != &all.Seen[i] {
			return nil, m.failed(fmt.Sprintf("is damaged: entry %d is listed twice", i+1), nil)
		}
	}
	return all, nil
}

// check holds an entry to what could have been written: a status and a timestamp.
func (s seen) check() error {
	about := statement.Subject{Name: s.Registry, Digest: s.Status}
	issued, err := time.Parse(time.RFC3339, s.Issued)
	if err != nil {
		return err
	}
	expires, err := time.Parse(time.RFC3339, s.Expires)
	if err != nil {
		return err
	}
	if _, err := (statement.Timestamp{Subject: about, Sequence: s.Sequence, Issued: issued.UTC(), Expires: expires.UTC()}).Statement(); err != nil {
		return err
	}
	_, err = statement.Status{Subject: about, Publisher: s.Publisher, Sequence: s.Sequence, Time: issued.UTC()}.Statement()
	return err
}

// ownersAlone refuses a memory that other users may change or replace, and one that is not there in a
// folder where they may have deleted it: nothing in it is signed, and whoever lowers a sequence in it
// has an earlier status taken for the newest. Windows has no such bits.
func (m *Memory) ownersAlone() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	names := []string{m.file, filepath.Dir(m.file)}
	if target, err := filepath.EvalSymlinks(m.file); err == nil {
		names = append(names, filepath.Dir(target))
	}
	for _, name := range names {
		switch info, err := os.Stat(name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return m.failed("cannot be read", err)
		case info.Mode().Perm()&0o022 != 0:
			return &fault.Error{Kind: ErrMemory, Message: fmt.Sprintf("the memory %q may be changed by other users: %q has the mode %s", m.file, name, info.Mode()),
				Hint: fmt.Sprintf("run chmod go-w %q, or name a file elsewhere with --memory; look first at what is in the memory", name)}
		}
	}
	return nil
}

func (m *Memory) failed(what string, cause error) error {
	return &fault.Error{Kind: ErrMemory, Message: fmt.Sprintf("the memory %q %s", m.file, what), Cause: cause}
}
