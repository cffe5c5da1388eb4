package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// A Transaction makes all edits of files or none, even if the process is killed: before the first file is
// touched, a journal has what all files were, and [Recover] undoes the edits of a run that did not end.
type Transaction struct {
	dir     string // of the journal
	unlock  func()
	entries []entry
}

// entry is what a transaction does to one file. The earlier content is beside the journal.
type entry struct {
	Name    string      `json:"name"`    // an absolute path
	Was     string      `json:"was"`     // the digest of what the file had, "" for no file
	Is      string      `json:"is"`      // of what it is to have, "" for none
	Mode    fs.FileMode `json:"mode"`    // of the file before
	Folders []string    `json:"folders"` // made for it, the outermost first
}

const (
	journalName = "journal.json"
	lockName    = "lock"
	// beside begins the name under which a new content waits beside its place. It is the one
	// file that a process which is killed leaves there until the next run.
	beside = ".packgate-new-"
)

// Begin begins a transaction with its journal in a folder, which it creates. Two transactions with the
// same folder wait for each other. What an earlier one left is undone first. The caller ends the
// transaction with Keep or Undo; a failed Make ends it too.
func Begin(dir string) (*Transaction, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the journal, %s: %w", dir, Cause(err))
	}
	t, left, err := locked(dir)
	if err != nil {
		return nil, err
	}
	if left {
		if err := t.Undo(); err != nil {
			return nil, err
		}
		return Begin(dir)
	}
	for i, more := 0, true; more; i++ { // what is left of one that ended while it was being removed
		more = false
		for _, name := range []string{t.old(i), t.new(i)} {
			err := os.Remove(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.unlock()
				return nil, failed(name, err)
			}
			more = more || err == nil
		}
	}
	return t, nil
}

// locked returns a transaction that has its folder for itself until it ends, and reports whether an
// earlier one left its journal there, which it has read.
func locked(dir string) (t *Transaction, left bool, err error) {
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, lockName)).Lock()
	if err != nil {
		return nil, false, fmt.Errorf("lock the journal in %s: %w", dir, Cause(err))
	}
	t = &Transaction{dir: dir, unlock: unlock}
	switch err := t.read(); {
	case err == nil:
		return t, true, nil
	case errors.Is(err, fs.ErrNotExist):
		return t, false, nil
	default:
		unlock()
		return nil, false, err
	}
}

// Recover undoes the edits of a run that did not end, and returns the files that it put back. Without
// such a run it does nothing.
func Recover(dir string) (files []string, err error) {
	if _, err := os.Lstat(filepath.Join(dir, journalName)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	t, left, err := locked(dir) // or wait until it ends
	if err != nil {
		return nil, err
	}
	if !left { // it has ended
		t.unlock()
		return nil, nil
	}
	for _, e := range t.entries {
		files = append(files, e.Name)
	}
	return files, t.Undo()
}

// Make makes all edits or none, and creates the folders that they need. Every new content is written
// before the first file is touched, so that a lack of space or permission shows before. If a file
// cannot be moved to its place nevertheless, those before it are put back, and the transaction has
// ended.
func (t *Transaction) Make(edits []Edit) error {
	writing.RLock()
	defer writing.RUnlock()
	first := len(t.entries)
	for _, e := range edits {
		if err := t.prepare(e); err != nil {
			return errors.Join(err, t.undo())
		}
	}
	if err := t.write(); err != nil {
		return errors.Join(err, t.undo())
	}
	for i := range edits {
		if err := t.put(first + i); err != nil {
			return errors.Join(err, t.undo())
		}
	}
	return nil
}

// Keep ends the transaction with its files as they are.
func (t *Transaction) Keep() error {
	if err := t.settle(); err != nil { // and the next run undoes it
		t.unlock()
		return err
	}
	changing()
	err := os.Remove(filepath.Join(t.dir, journalName))
	return errors.Join(err, lastingFolder(t.dir), t.end())
}

// Undo ends the transaction with every file as it was. A file that somebody else changed stays as it is,
// which is an error, and then the journal stays too.
func (t *Transaction) Undo() error {
	writing.RLock()
	defer writing.RUnlock()
	return t.undo()
}

func (t *Transaction) undo() error {
	var errs []error
	for i, e := range slices.Backward(t.entries) {
		errs = append(errs, t.restore(i, e))
	}
	if err := errors.Join(append(errs, t.settle())...); err != nil {
		t.unlock()
		return err
	}
	changing()
	err := os.Remove(filepath.Join(t.dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing was touched
	}
	return errors.Join(err, t.end())
}

// end removes what the transaction needed, and lets others begin.
func (t *Transaction) end() error {
	defer t.unlock()
	var errs []error
	for i := range slices.Backward(t.entries) { // Begin removes those of a run that is killed here, until one is missing
		for _, name := range []string{t.old(i), t.new(i)} {
			changing()
			if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	t.entries = nil
	return errors.Join(errs...)
}

func (t *Transaction) old(i int) string { return filepath.Join(t.dir, "old-"+strconv.Itoa(i)) }
func (t *Transaction) new(i int) string { return filepath.Join(t.dir, "new-"+strconv.Itoa(i)) }

// prepare writes what a file had and what it is to have into the folder of the journal.
func (t *Transaction) prepare(e Edit) error {
	i := len(t.entries)
	t.entries = append(t.entries, entry{Name: e.Name, Mode: 0o644})
	one := &t.entries[i]
	was, err := os.ReadFile(e.Name)
	switch {
	case err == nil:
		info, err := os.Stat(e.Name)
		if err != nil {
			return failed(e.Name, err)
		}
		one.Was, one.Mode = digest(was), info.Mode().Perm()
		if e.From != nil && !bytes.Equal(was, e.From) {
			return failed(e.Name, ErrChanged)
		}
		if err := writeLasting(t.old(i), was, 0o600); err != nil {
			return failed(e.Name, err)
		}
	case !errors.Is(err, fs.ErrNotExist) || e.Write == nil || e.From != nil:
		return failed(e.Name, err)
	}
	if e.Write == nil {
		return nil
	}
	f, err := os.OpenFile(t.new(i), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return failed(e.Name, err)
	}
	err = errors.Join(e.Write(f), f.Close())
	is, errIs := os.ReadFile(t.new(i))
	one.Is, one.Folders = digest(is), missing(filepath.Dir(e.Name))
	return failed(e.Name, errors.Join(err, errIs))
}

// put makes one edit.
func (t *Transaction) put(i int) error {
	e := t.entries[i]
	for _, dir := range e.Folders {
		changing()
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the folder of %s: %w", e.Name, Cause(err))
		}
	}
	changing()
	if e.Is == "" {
		return failed(e.Name, os.Remove(e.Name))
	}
	return failed(e.Name, move(t.new(i), e.Name, e.Mode))
}

// restore puts a file back as it was.
func (t *Transaction) restore(i int, e entry) error {
	if err := os.Remove(waiting(e.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return failed(e.Name, err)
	}
	now, err := os.ReadFile(e.Name)
	there := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return failed(e.Name, err)
	case !there && e.Was == "", there && e.Was == digest(now):
	case there && e.Is != digest(now), !there && e.Is != "":
		return fmt.Errorf("an earlier run was stopped while it wrote %s, and somebody changed it since: check whether it is as you want it, "+
			"and remove %s", e.Name, filepath.Join(t.dir, journalName))
	case e.Was == "":
		changing()
		err = os.Remove(e.Name)
	default:
		if was, err := os.ReadFile(t.old(i)); err != nil || e.Was != digest(was) {
			return fmt.Errorf("an earlier run was stopped while it wrote %s, and what the file was before is damaged in %s: restore the file, "+
				"for example from git, and remove %s", e.Name, t.old(i), filepath.Join(t.dir, journalName))
		}
		changing()
		err = move(t.old(i), e.Name, e.Mode)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return failed(e.Name, err)
	}
	for _, dir := range slices.Backward(e.Folders) {
		changing()
		os.Remove(dir) // one that has other files by now stays
	}
	return nil
}

// move replaces the content of a file by that of another one, which may be on another file system: the
// content is copied beside its place first, and then renamed.
func move(from, to string, mode fs.FileMode) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return syscall.EISDIR
	}
	staged := waiting(to)
	if err := writeLasting(staged, src, mode); err != nil {
		return err
	}
	changing()
	err = errors.Join(os.Chmod(staged, mode), os.Rename(staged, to))
	if err != nil {
		os.Remove(staged) // the error that matters is the first one
	}
	return err
}

// waiting returns the name under which the new content of a file waits beside its place.
func waiting(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(filepath.Dir(name), fmt.Sprintf("%s%x", beside, sum[:8]))
}

// write writes the journal. From then on another run can undo the transaction.
func (t *Transaction) write() error {
	src, err := json.Marshal(t.entries)
	if err != nil {
		return err
	}
	name := filepath.Join(t.dir, journalName)
	changing()
	if err := writeLasting(name+".new", src, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	return failed(name, lastingFolder(t.dir))
}

// read reads the journal that an earlier run left. The error is fs.ErrNotExist without one.
func (t *Transaction) read() error {
	name := filepath.Join(t.dir, journalName)
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(src, &t.entries); err != nil {
		return fmt.Errorf("read %s: %w: remove it if nothing is wrong with the files that were to be written", name, err)
	}
	for _, e := range t.entries {
		if !filepath.IsAbs(e.Name) || strings.ContainsRune(e.Name, 0) {
			return fmt.Errorf("read %s: it names %q, which is not an absolute path", name, e.Name)
		}
	}
	return nil
}

// missing returns the folders above a file that are not there, the outermost first.
func missing(dir string) []string {
	if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
		return nil
	}
	return append(missing(filepath.Dir(dir)), dir)
}

func digest(src []byte) string { return fmt.Sprintf("%x", sha256.Sum256(src)) }

// watcher is called before each change that a transaction makes.
var watcher func()

func changing() {
	if watcher != nil {
		watcher()
	}
}

// Watch sets a function that is called before each step of a transaction that changes a file, for tests
// that end the process there.
func Watch(f func()) { watcher = f }
