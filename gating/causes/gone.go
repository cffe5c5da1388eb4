package causes

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/repo"
)

// The bounds of how many removals are tried one by one, for errors and for warnings.
const (
	mostErrorsAlone   = 4
	mostWarningsAlone = 16
)

// gone finds what follows from the removal of files beside the pack: findings that are gone once the
// files are put back, one by one or together. Files whose removal is an error are put back first. The
// errors that are left then follow from the removals that are warnings: from the one that ends them
// together with the former, or from all of them.
func (s *search) gone() {
	roots := s.removed()
	isWarning := func(i int) bool { return s.findings[i].Severity != finding.Error }
	errors := slices.DeleteFunc(slices.Clone(roots), isWarning)
	warnings := slices.DeleteFunc(roots, func(i int) bool { return !isWarning(i) })
	for _, i := range errors[:min(len(errors), mostErrorsAlone)] {
		s.restoring([]int{i}, []int{i})
	}
	if len(errors) > 1 {
		s.restoring(errors, errors)
	}
	for _, i := range warnings[:min(len(warnings), mostWarningsAlone)] {
		if s.unexplained() && s.stands(i) {
			s.restoring(append(slices.Clone(errors), i), []int{i})
		}
	}
	if len(warnings) > 1 && s.unexplained() {
		s.restoring(slices.Concat(errors, warnings), warnings)
	}
}

// unexplained reports whether there is a new error without a cause that is not about lost evidence.
func (s *search) unexplained() bool {
	for i := range s.findings {
		f := &s.findings[i]
		if f.Severity == finding.Error && f.State == finding.New && s.free(i) && !s.isGone(f) {
			return true
		}
	}
	return false
}

// stands reports whether a finding counts and has no cause.
func (s *search) stands(i int) bool { return open(s.findings[i]) && !s.findings[i].Approve }

// removed returns the new findings that count and for which isGone is true, by their indexes.
func (s *search) removed() (roots []int) {
	before := s.Subject.Before
	if before == nil || before.Unit.Dir() != s.Subject.Unit.Dir() { // every file of a pack that moved is gone
		return nil
	}
	for i := range s.findings {
		if f := &s.findings[i]; f.State == finding.New && s.stands(i) && !f.IsRest() && s.isGone(f) {
			roots = append(roots, i)
		}
	}
	return roots
}

// isGone reports whether a finding is about weaker evidence, and a file of that evidence was removed.
func (s *search) isGone(f *finding.Finding) bool {
	return f.Excuse != finding.ByWaiver && s.lost(f) != ""
}

// lost returns the stem of the files that a finding is about if one of them was removed; "" if none was.
func (s *search) lost(f *finding.Finding) string {
	if s.lacking == nil {
		s.lacking = map[string]bool{}
		now := files(s.Subject)
		for file := range files(s.Subject.Before) {
			if _, is := now[file]; !is {
				s.lacking[stem(file)] = true
			}
		}
	}
	for _, r := range f.Related {
		if of := stem(r.Location.File); r.Location.Revision != "" && s.lacking[of] {
			return of
		}
	}
	return ""
}

// restoring puts back the files that some findings are about, and finds what follows from those of
// them that are given as roots. All gates are run again, because no rule alone knows what is required
// and missing. The cause of a finding is the root that its message names, or one of the same gate, or
// the first.
func (s *search) restoring(back, roots []int) {
	roots = slices.DeleteFunc(slices.Clone(roots), func(i int) bool { return !s.stands(i) })
	if len(roots) == 0 || s.ctx.Err() != nil {
		return
	}
	wanted := map[string]bool{}
	for _, i := range back {
		wanted[s.lost(&s.findings[i])] = true
	}
	want := func(file string) bool { return wanted[stem(file)] }
	before := s.Subject.Before
	whole := s.Subject.With(s.Subject.Unit.Restored(before.Unit, want), repo.RestoredCatalogs(s.Subject.Environments, before.Environments, want))
	there := kinsOf(gates.Run(whole, s.Policy, s.Outside).Findings)
	if s.ctx.Err() != nil {
		return // the gates may not have looked at everything
	}
	ends := func(i int) bool { return !there[s.findings[i].Rule][s.findings[i].Kin()] }
	if roots = slices.DeleteFunc(roots, func(i int) bool { return !ends(i) }); len(roots) == 0 {
		return
	}
	for i := range s.findings {
		if f := &s.findings[i]; s.free(i) && f.State == finding.New && !s.isGone(f) && ends(i) {
			s.follows(i, s.nearest(i, roots))
		}
	}
}

// nearest returns the one of several findings that another one most likely follows from.
func (s *search) nearest(i int, roots []int) int {
	f := &s.findings[i]
	for _, near := range []func(root *finding.Finding) bool{
		func(root *finding.Finding) bool {
			return root.Thing.Name != "" && strings.Contains(f.Message, root.Thing.Name)
		},
		func(root *finding.Finding) bool { return root.Gate == f.Gate },
	} {
		if at := slices.IndexFunc(roots, func(root int) bool { return near(&s.findings[root]) }); at >= 0 {
			return roots[at]
		}
	}
	return roots[0]
}
