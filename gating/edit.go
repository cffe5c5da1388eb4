package gating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/build"
)

// Edit is what is to become of one file of a repository.
type Edit struct {
	Name   string // relative to the root
	Source []byte // the new content; nil for a file that is removed
}

// Verb returns the word for what the edit does.
func (e Edit) Verb(write, remove string) string {
	if e.Source == nil {
		return remove
	}
	return write
}

// Replace makes all of the edits below a root, or none of them, and returns what takes
// them back; see [atomicfile.Replace].
func Replace(root string, edits []Edit) (back func() error, err error) {
	files := make([]atomicfile.Edit, len(edits))
	for i, e := range edits {
		if files[i].Name, err = onDisk(root, e.Name); err != nil {
			return nil, err
		}
		if e.Source != nil {
			files[i].Write = atomicfile.Content(e.Source)
		}
	}
	return atomicfile.Replace(files)
}

// onDisk returns where a file of a repository is. A link stays one: what it
// leads to is written. Reading has made sure that this is inside of the repository.
func onDisk(root, name string) (string, error) {
	full := filepath.Join(root, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		return full, nil
	}
	return real, err
}

// Write makes all of the edits in a workspace, or none of them.
func (w *Workspace) Write(edits []Edit) error {
	_, err := Replace(w.Dir, edits)
	return err
}

// maxRounds bounds how often a file is repaired and looked at again. One repair can
// make another one possible; two rules that undo each other must not run for ever.
const maxRounds = 8

// Rounds repairs until nothing is left to repair, or nothing more is to be hoped for.
func Rounds(repair func() (repaired bool, err error)) error {
	for range maxRounds {
		if repaired, err := repair(); err != nil || !repaired {
			return err
		}
	}
	return nil
}

// Repair returns the text of a pack with the repairs of its findings that could be made,
// and the findings that are repaired; see [pack.Repair]. The others wait for the next
// round. Waived findings are left alone.
func Repair(doc *pack.Document, findings []finding.Finding) (src []byte, repaired []finding.Finding) {
	findings = slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool {
		return f.Fix == nil || f.Waived != nil || f.Location.File != doc.File
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

// Fix applies the mechanical repairs of the packs of a workspace, until there
// are none left, and says what it did. A file is written whole or not at all, and keeps
// its formatting where nothing is repaired. Packs that cannot be read are left for the
// gates to report.
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
	now, _, err := w.Files.Document(j.subject.Unit.Name, w.Config.Limits)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(now.Source, doc.Source) {
		// A repair names a place in the text that was looked at, and no other.
		return false, fmt.Errorf("fix %s: %w", doc.File, repo.ErrChanged)
	}
	if err := w.Write([]Edit{{Name: j.subject.Unit.Name, Source: src}}); err != nil {
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
