package repo

import (
	"slices"
	"strings"
)

// Restored returns the pack with files of another version put back beside it: of those that are
// gone the wanted ones, by their names as messages show them. What is there stays as it is. Nothing
// is put back where the versions are in different folders.
func (u *Unit) Restored(was *Unit, wanted func(file string) bool) *Unit {
	r := *u
	if was.Dir() != u.Dir() {
		return &r
	}
	r.Files = restore(u.Files, was.Files, wanted)
	r.Packets = restore(u.Packets, was.Packets, wanted)
	r.Metas = restore(u.Metas, was.Metas, wanted)
	r.Records = restore(u.Records, was.Records, wanted)
	r.Overlays = restore(u.Overlays, was.Overlays, wanted)
	r.Scorecards = restore(u.Scorecards, was.Scorecards, wanted)
	r.Cases = restore(u.Cases, was.Cases, wanted)
	for i, c := range r.Cases {
		at := slices.IndexFunc(was.Cases, func(other *Case) bool { return other.Name == c.Name })
		if c.Snapshot == nil && at >= 0 && was.Cases[at].Snapshot != nil && wanted(was.Cases[at].Snapshot.File) {
			whole := *c
			whole.Snapshot = was.Cases[at].Snapshot
			r.Cases[i] = &whole
		}
	}
	if r.Surface == nil && was.Surface != nil && wanted(was.Surface.shown()) {
		r.Surface = was.Surface
	}
	return &r
}

// RestoredCatalogs returns catalogs with the wanted ones of another version that are gone.
func RestoredCatalogs(now, was []*Environment, wanted func(file string) bool) []*Environment {
	return restore(now, was, wanted)
}

func (s *SideFile) shown() string    { return s.Document.File }
func (e *Environment) shown() string { return e.Document.File }

// restore adds what is gone of a list that is sorted by names, and wanted.
func restore[T interface{ shown() string }](now, was []T, wanted func(string) bool) []T {
	all := slices.Clone(now)
	for _, old := range was {
		if wanted(old.shown()) && !slices.ContainsFunc(now, func(t T) bool { return t.shown() == old.shown() }) {
			all = append(all, old)
		}
	}
	slices.SortStableFunc(all, func(a, b T) int { return strings.Compare(a.shown(), b.shown()) })
	return all
}
