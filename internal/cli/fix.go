package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// maxRounds bounds how often a file is mended and looked at again. One mend can
// make another one possible; two rules that undo each other must not run for ever.
const maxRounds = 8

// fix applies the mechanical repairs of the packs of a workspace, until there
// are none left, and says what it did. Waived findings are left alone. A file is
// written whole or not at all, and keeps its formatting where nothing is mended.
func (r *run) fix(ctx context.Context, w *workspace, base *baseline, strict *bool) error {
	for range maxRounds {
		trial := newRun(r.env, r.report.Command, r.failOn)
		if err := trial.gate(ctx, w, base, nil, strict); err != nil {
			return err
		}
		mended := false
		for _, p := range trial.report.Packs.All() {
			done, err := r.mend(w, p)
			if err != nil {
				return err
			}
			mended = mended || done
		}
		if !mended {
			return nil
		}
	}
	return nil
}

// mend applies the repairs of one pack to its file and reports whether there
// were any.
func (r *run) mend(w *workspace, p *model.Pack) (bool, error) {
	i := slices.IndexFunc(w.packs, func(name string) bool { return w.files.Show(name) == p.Path })
	if i < 0 {
		return false, nil
	}
	name := w.packs[i]
	doc, _, err := w.files.Document(name, w.config.Limits)
	if err != nil || doc.Root == nil {
		return false, err
	}
	if digest, err := doc.CanonicalDigest(); p.Digest != "" && (err != nil || string(digest) != p.Digest) {
		// A repair names a place in the text that was looked at, and no other.
		return false, fmt.Errorf("mend %s: %w", p.Path, repo.ErrChanged)
	}
	src, words := mendText(doc, p)
	if len(words) == 0 {
		return false, nil
	}
	if err := w.write([]fileEdit{{name: name, source: src}}); err != nil {
		return false, err
	}
	for _, word := range words {
		r.notice("mended %s: %s", p.Path, word)
	}
	return true, nil
}

// mendText returns the text of a document with the repairs that could be made,
// and what each of them did; see [pack.Mend]. The others wait for the next round.
func mendText(doc *pack.Document, p *model.Pack) (src []byte, words []string) {
	findings := slices.Clone(p.Findings)
	slices.SortStableFunc(findings, func(a, b model.Finding) int {
		return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Column, a.Column))
	})
	findings = slices.DeleteFunc(findings, func(f model.Finding) bool { return f.Fix == nil || f.Waived != nil || f.File != p.Path })
	repairs := make([][]finding.Operation, len(findings))
	for i, f := range findings {
		repairs[i] = operationsOf(f.Fix.Patch)
	}
	src, made := pack.Mend(doc, repairs)
	for _, i := range made {
		words = append(words, fmt.Sprintf("%s, %s", findings[i].Rule, findings[i].Fix.Description))
	}
	slices.Reverse(words)
	return src, words
}

func operationsOf(patch []model.Operation) []finding.Operation {
	out := make([]finding.Operation, len(patch))
	for i, op := range patch {
		out[i] = finding.Operation{Op: op.Op, Path: op.Path, Value: string(op.Value)}
	}
	return out
}
