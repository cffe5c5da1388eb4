package gating

import (
	"context"
	"slices"
	"sync"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/repository"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
)

// about is a finding with the pack_id that a waiver for it would name, "" for none.
type about struct {
	id string
	finding.Finding
}

// repository reports what is wrong with the repository as a whole, as an entry of its own; for a change,
// what the change brings. Of several shards each one reports the packs that are overlooked in its folders, and the
// first one all else; if there is a base each one reports everything, because a change could leave the others out.
func (r *Run) repository(ctx context.Context, in Inputs, c *Change, looser []repo.ConfigChange) error {
	found, err := in.overlooked(ctx, c)
	if err != nil {
		return err
	}
	if in.Shard.Index <= 1 || in.Base != nil {
		stray, err := in.strayArguments(ctx, c)
		if err != nil {
			return err
		}
		loose, err := r.loosened(ctx, in, c, looser)
		if err != nil {
			return err
		}
		found = slices.Concat(found, stray, in.outlasted(r.Now()), in.accepted.refused, loose)
	}
	if len(found) == 0 {
		return nil
	}
	policy, err := in.policy(r.Now())
	if err != nil {
		return err
	}
	var all []finding.Finding
	for _, a := range found {
		all = append(all, policy.Judge(a.id, a.Finding)...)
	}
	r.Add(build.NewRepository(in.Files.Show("."), finding.Sort(all)))
	return nil
}

// overlooked returns findings about files that look like packs and that no pattern finds. For a change
// it looks only at the files of the change.
func (in Inputs) overlooked(ctx context.Context, c *Change) (found []about, err error) {
	names, links, err := in.loadable(c)
	if err != nil {
		return nil, err
	}
	var before map[string]string
	if c == nil && len(in.since.Gone) > 0 {
		if before, err = in.Base.blobs(ctx); err != nil {
			return nil, err
		}
	}
	behind := sync.OnceValue(func() map[string]bool {
		is := map[string]bool{}
		for _, p := range in.Packs {
			is[in.behindLinks(p)] = true
		}
		return is
	})
	for _, link := range links { // what is looked at or gated under its own name is passed over here
		if real := in.behindLinks(link); !repo.IsLoadable(real) && !behind()[real] {
			names = append(names, link)
		}
	}
	for _, name := range names {
		if in.IsPack(name) || in.Files.NoPack(name) || !in.inScope(name) {
			continue
		}
		g, src, err := in.Files.Glance(name, in.Config.Limits.MaxBytes)
		if err != nil {
			return nil, err
		}
		if !g.LooksLikePack() || behind()[name] {
			continue
		}
		file := in.Files.Show(name)
		f := repository.NotFound(file, name, g.ID)
		if was := in.since.gated(g.ID); was != nil && (c != nil || before[name] != blobID(src)) {
			f = repository.Ungated(file, was.ID(), in.Files.Show(was.Name))
		}
		found = append(found, about{g.ID, f})
	}
	return found, nil
}

// gated returns the pack of the baseline that is gone and that a file with a pack_id may be; nil for
// none. A file without a pack_id may be any.
func (s *Progress) gated(id string) *refresh.Pack {
	i := slices.IndexFunc(s.Gone, func(p refresh.Pack) bool { return id == "" || p.ID() == id })
	if i < 0 {
		return nil
	}
	return &s.Gone[i]
}

// blobs returns the ids that git gives to the files of the baseline that could be loaded as a pack, by
// their names.
func (b *Baseline) blobs(ctx context.Context) (map[string]string, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	entries, err := b.list(ctx, repo.MayHoldPack)
	ids := map[string]string{}
	for _, e := range entries {
		if e.Kind == github.KindFile {
			ids[e.Path] = e.ID
		}
	}
	return ids, err
}
