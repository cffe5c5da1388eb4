package gating

import (
	"maps"
	"slices"
)

// sets are the sets of packs that golden cases of a workspace name together.
type sets struct {
	of    map[string][][]string // by pack file: the pack_ids of each set
	files map[string][]string   // by pack_id: the pack files of the repository; nil if there is no set
}

// sets returns the sets of packs that golden cases name together; ids are the packs of the repository. A pack whose
// files cannot be read names none; gating it reports that.
func (w *Workspace) sets(ids identities) *sets {
	s, packs := &sets{of: map[string][][]string{}}, slices.Sorted(maps.Keys(ids))
	all, _ := ofEach(packs, func(name string) ([][]string, error) {
		named, err := w.Files.Named(name, w.Config)
		if err != nil {
			return nil, nil
		}
		return named, nil
	})
	for i, named := range all {
		if len(named) > 0 {
			s.of[packs[i]] = named
		}
	}
	if len(s.of) == 0 {
		return s
	}
	s.files = map[string][]string{}
	for _, name := range packs {
		s.files[ids[name].ID] = append(s.files[ids[name].ID], name)
	}
	return s
}

// reaches reports whether golden cases of a pack name a pack that the change touches, or one that is
// missing, because the change may have removed it.
func (s *sets) reaches(pack string, c *Change) bool {
	return slices.ContainsFunc(s.of[pack], func(set []string) bool {
		return slices.ContainsFunc(set, func(id string) bool {
			return len(s.files[id]) == 0 || slices.ContainsFunc(s.files[id], c.touches)
		})
	})
}

// identity tells the sets from others, for the cache.
func (s *sets) identity() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.of)) {
		for _, set := range s.of[name] {
			all = append(all, name, fields(set...))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.files)) {
		all = append(all, id, fields(s.files[id]...))
	}
	return fields(all...)
}
