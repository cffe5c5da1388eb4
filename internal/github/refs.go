package github

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// RefNames returns the names by which Resolve finds the branches and tags of the
// repository, and those of its remotes, in order: at most limit of them.
func (r *Repository) RefNames(limit int) ([]string, error) {
	r.store.Lock()
	defer r.store.Unlock()
	refs, err := r.store.IterReferences()
	if err != nil {
		return nil, err
	}
	defer refs.Close()
	var names []string
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if n := ref.Name(); n.IsBranch() || n.IsTag() || n.IsRemote() {
			names = append(names, n.Short())
		}
		return nil
	})
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(limit, len(names))], err
}
