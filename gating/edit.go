package gating

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/build"
)

// Edit is a new content for one file of a repository, or its removal.
type Edit struct {
	Name   string // relative to the root
	Source []byte // the new content; nil for a file that is removed
	From   []byte // what it was made from, without which the file is not written; nil for anything
}

// Verb returns one of two words by what the edit does: write or remove.
func (e Edit) Verb(write, remove string) string {
	if e.Source == nil {
		return remove
	}
	return write
}

// Replace makes all of the edits below a root, or none of them, even if the process is killed before
// it returns; see [atomicfile.Transaction].
func Replace(root string, edits []Edit) (err error) {
	if len(edits) == 0 {
		return nil
	}
	if root, err = filepath.Abs(root); err != nil { // the journal is read from another folder
		return err
	}
	files := make([]atomicfile.Edit, len(edits))
	for i, e := range edits {
		if files[i].Name, err = onDisk(root, e.Name); err != nil {
			return err
		}
		if e.Source != nil {
			files[i].Write, files[i].From = atomicfile.Content(e.Source), e.From
		}
	}
	dir, err := journal(root)
	if err != nil {
		return err
	}
	t, err := atomicfile.Begin(dir)
	if err != nil {
		return err
	}
	if err := t.Make(files); err != nil {
		return err
	}
	return t.Keep()
}

// Recover undoes the edits that an interrupted run began below a root or in a folder above it, and
// returns the files that it put back.
func Recover(root string) (files []string, err error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	switch dir, found, err := gitJournal(abs); {
	case err != nil:
		return nil, err
	case found:
		return atomicfile.Recover(dir)
	}
	for {
		found, err := atomicfile.Recover(cacheJournal(abs))
		files = append(files, found...)
		if above := filepath.Dir(abs); err != nil || above == abs {
			return files, err
		}
		abs = filepath.Dir(abs)
	}
}

// journal returns the folder of the journal for a root, an absolute path. It is a place that the files
// of a repository cannot reach: the folder of git itself, or the user's cache outside a repository.
func journal(root string) (dir string, err error) {
	dir, found, err := gitJournal(root)
	if !found && err == nil {
		dir = cacheJournal(root)
	}
	return dir, err
}

// gitJournal returns the folder of the journal in the folder of git; found is false if the root is not
// in a repository.
func gitJournal(root string) (dir string, found bool, err error) {
	above, found, err := Above(root, ".git")
	if !found || err != nil {
		return "", false, err
	}
	dir, found = gitFolder(filepath.Join(above, ".git"))
	return filepath.Join(dir, "packgate"), found, nil
}

// cacheJournal returns the folder of the journal for a root that is not in a repository.
func cacheJournal(root string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "packgate", "journals", fmt.Sprintf("%x", sha256.Sum256([]byte(root))))
}

// gitFolder returns the folder that .git is, or that it names in a linked worktree or a submodule;
// false for a file that names none.
func gitFolder(name string) (string, bool) {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		src, _ := os.ReadFile(name)
		dir, found := strings.CutPrefix(strings.TrimSpace(string(src)), "gitdir: ")
		if !found {
			return "", false
		}
		if dir = filepath.FromSlash(dir); !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(name), dir)
		}
		name = dir
		info, err = os.Stat(name)
	}
	return name, err == nil && info.IsDir()
}

// onDisk returns the path of a file of a repository. For a link, that is the file it leads to, so that
// the link stays one. Reading has made sure that this is inside the repository.
func onDisk(root, name string) (string, error) {
	full := filepath.Join(root, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		return full, nil
	}
	return real, err
}

// RecoveredWords returns the notice that files were put back which an interrupted run had begun to
// write.
func RecoveredWords(files []string) string {
	return fmt.Sprintf("a run that was stopped had begun to write %s, which %s as before it: %s",
		pack.Counted(len(files), "file"), map[bool]string{true: "is", false: "are"}[len(files) == 1], pack.Clip(strings.Join(files, ", "), 1000))
}

// With returns a pack with its side files as they would be after edits, none of which removes a file.
func (w *Workspace) With(name string, edits []Edit) (*repo.Unit, error) {
	texts := map[string]string{}
	for _, e := range edits {
		texts[e.Name] = string(e.Source)
	}
	return repo.FilesOf(repo.WithTexts(w.Files.Tree(), texts), w.Files.Prefix, "").Unit(name, w.Config)
}

// Write makes all of the edits in a workspace, or none of them.
func (w *Workspace) Write(edits []Edit) error {
	return Replace(w.Dir, edits)
}

// maxRounds bounds how often a file is repaired and looked at again. One repair can
// make another one possible; two rules that undo each other must not run for ever.
const maxRounds = 8

// Rounds calls repair until it reports that it repaired nothing, fails, or was called maxRounds times.
func Rounds(repair func() (repaired bool, err error)) error {
	for range maxRounds {
		if repaired, err := repair(); err != nil || !repaired {
			return err
		}
	}
	return nil
}

// Repair returns the text of a pack after the repairs of its findings that could be made, and the
// findings that are repaired; see [pack.Repair]. The others wait for the next round. Excused findings
// are left alone.
func Repair(doc *pack.Document, findings []finding.Finding) (src []byte, repaired []finding.Finding) {
	findings = slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool {
		return f.Fix == nil || f.Excused() || f.Location.File != doc.File
	})
	slices.SortStableFunc(findings, func(a, b finding.Finding) int { return b.Location.Start.Offset - a.Location.Start.Offset })
	repairs := make([][]finding.Operation, len(findings))
	for i, f := range findings {
		repairs[i] = f.Fix.Operations
	}
	src, made := pack.Repair(doc, repairs)
	for _, i := range made {
		repaired = append(repaired, findings[i])
	}
	slices.Reverse(repaired)
	return src, repaired
}

// Fix applies the mechanical repairs of the packs of a workspace until none are left, and adds a notice
// for each. A file is written completely or not at all, and keeps its formatting where nothing is
// repaired. Packs that cannot be read are left for the gates to report.
func (r *Run) Fix(ctx context.Context, in Inputs) error {
	p, err := newPipeline(r, in)
	if err != nil {
		return err
	}
	p.lookup = nil
	return Rounds(func() (repaired bool, err error) {
		found := make([]*judged, len(p.Packs))
		err = p.each(ctx, p.Packs, func(name string) outcome {
			j, err := p.judge(ctx, name)
			return outcome{judged: j, err: err}
		}, func(i int, o outcome) { found[i] = o.judged })
		for _, j := range found {
			if j == nil || err != nil {
				continue
			}
			var done bool
			done, err = r.repair(in.Workspace, j)
			repaired = repaired || done
		}
		return repaired, err
	})
}

// repair applies the repairs of one pack to its file and reports whether there
// were any.
func (r *Run) repair(w *Workspace, j *judged) (bool, error) {
	doc := j.subject.Unit.Document
	src, repaired := Repair(doc, j.result.Findings)
	if len(repaired) == 0 {
		return false, nil
	}
	if err := w.Write([]Edit{{Name: j.subject.Unit.Name, Source: src, From: doc.Source}}); err != nil {
		return false, err
	}
	for _, f := range repaired {
		words, err := build.Masked(fmt.Sprintf("fixed %s: %s, %s", doc.File, f.Rule, f.Fix.Description), []*pack.Document{doc})
		if err != nil {
			return true, err
		}
		r.Report.Notices = append(r.Report.Notices, words)
	}
	return true, nil
}
