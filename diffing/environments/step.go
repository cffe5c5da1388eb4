package environments

import (
	"errors"
	"fmt"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// ClassOf returns the class of the step from one bundle to another of the same environment:
// that of the resolved packs, compared like two versions of a pack, and of what binds them
// in the catalogs. Two that cannot be compared are major. The error is for a bundle that
// cannot be read.
func ClassOf(before, after *Built, overrides []diffing.Override) (diffing.Class, error) {
	packs, catalogs := [2]*pack.Pack{}, [2]*repo.Environment{}
	for i, b := range []*Built{before, after} {
		document, faults := pack.Read("pack.json", b.Pack, pack.Limits{MaxBytes: len(b.Pack), MaxDepth: pack.DefaultLimits().MaxDepth, MaxValues: len(b.Pack)})
		if packs[i] = pack.New(document); packs[i] == nil || len(faults) > 0 {
			return 0, fmt.Errorf("the resolved pack of the environment %q cannot be read", b.Environment)
		}
		var err error
		if catalogs[i], err = repo.ParseEnvironment("environment.json", b.Catalog, pack.Limits{MaxBytes: len(b.Catalog), MaxDepth: 64, MaxValues: len(b.Catalog)}); err != nil {
			return 0, err
		}
	}
	d, err := diffing.Compare(packs[0], packs[1], overrides)
	if errors.Is(err, diffing.ErrIncomparable) {
		return diffing.Major, nil
	}
	if err != nil {
		return 0, err
	}
	class := min(d.Class, diffing.Major) // which bytes a version has is the version's own question
	facts := refresh.FactsOf(packs[1])
	for _, change := range repo.CompareCatalogs(catalogs[0], catalogs[1]) {
		// What a bundle has no more may be what its pack uses no more.
		if change.Is != nil || facts.Binds(change.Path) {
			class = max(class, classes[change.Effect])
		}
	}
	return class, nil
}
