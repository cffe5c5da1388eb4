package gating

import (
	"errors"
	"maps"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// identities are the identities of pack files, by their names.
type identities map[string]repo.Claim

// identities returns the identities of all pack files of the repository, including those that were not
// asked for. Files whose identity is known already are not read.
func (w *Workspace) identities(known identities) (identities, error) {
	all := w.Packs
	if !w.whole {
		var err error
		all, err = w.Files.Find(nil, w.Patterns...)
		if unseen := new(repo.Unseen); err != nil && !errors.As(err, &unseen) { // which the run says
			return nil, err
		}
	}
	claims, err := ofEach(all, func(name string) (repo.Claim, error) {
		if is, ok := known[name]; ok {
			return is, nil
		}
		is, _, err := w.Files.Claim(name, w.Config.Limits.MaxBytes)
		return is, err
	})
	ids := identities{}
	for i, is := range claims {
		ids[all[i]] = is
	}
	return ids, err
}

// known returns the identities of pack files that need not be read again.
func (in Inputs) known() identities {
	if in.read == nil {
		return in.since.claims
	}
	return in.read
}

// ids returns the pack_id of each file.
func (ids identities) ids() (list []string) {
	for _, is := range ids {
		list = append(list, is.ID)
	}
	return list
}

// sharing returns the files of each pack_id that several files have, sorted.
func (ids identities) sharing() map[string][]string {
	files := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		if id := ids[name].ID; id != "" {
			files[id] = append(files[id], name)
		}
	}
	maps.DeleteFunc(files, func(_ string, names []string) bool { return len(names) < 2 })
	return files
}

// twins returns, for each pack file, the other files that state the same version and have different
// content.
func (w *Workspace) twins(ids identities) map[string][]string {
	claims := map[repo.Claim][]string{}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		if is := ids[name]; is.ID != "" && is.Version != "" {
			claims[is] = append(claims[is], name)
		}
	}
	twins := map[string][]string{}
	for _, names := range claims {
		if len(names) < 2 {
			continue
		}
		digests := map[string]pack.Digest{}
		for _, name := range names {
			doc, _, err := w.Files.Document(name, w.Config.Limits)
			if err != nil {
				continue // gating it reports why
			}
			digests[name], _ = doc.CanonicalDigest() // "" for one with faults, which equals no other
		}
		for _, name := range names {
			for _, other := range names {
				if name != other && (digests[name] != digests[other] || digests[name] == "") {
					twins[name] = append(twins[name], other)
				}
			}
		}
	}
	return twins
}

// copied reports whether the file of the base that a pack is compared with lives on as another file of
// the repository. Then this one is a copy, and what is found in it is new.
func (p *pipeline) copied(name string, from *packFile) bool {
	if from == nil || from.name == name {
		return false
	}
	same := p.accepted.sharing[p.ids[name].ID]
	if slices.Contains(same, from.name) {
		return true
	}
	return len(same) > 0 && same[0] != name
}
