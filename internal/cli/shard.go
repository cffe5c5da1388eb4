package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// maxShards is how many jobs GitHub starts of one matrix.
const maxShards = 256

// shard is one of the parts into which the packs of a repository are dealt, so that
// each is gated by a job of its own. The zero shard is all of them.
type shard struct {
	index int // from 1
	total int
}

// String returns i/N, and "" for all packs.
func (s shard) String() string {
	if s.whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.index, s.total)
}

// whole reports whether the packs are not dealt out at all.
func (s shard) whole() bool { return s.total == 0 }

// parseShard reads the i/N of a flag or an input; "" is the zero shard.
func parseShard(what, value string) (shard, error) {
	if value == "" {
		return shard{}, nil
	}
	index, total, _ := strings.Cut(value, "/")
	i, notIndex := strconv.Atoi(index)
	n, notTotal := strconv.Atoi(total)
	s := shard{i, n}
	hint := ""
	switch {
	case notIndex != nil || notTotal != nil || fmt.Sprintf("%d/%d", i, n) != value:
		hint = "name the shard and how many there are, such as 1/4"
	case n < 1 || n > maxShards:
		hint = fmt.Sprintf("use 1 to %d shards", maxShards)
	case i < 1 || i > n:
		hint = fmt.Sprintf("use one of 1/%d to %d/%d", n, n, n)
	default:
		return s, nil
	}
	return shard{}, &usageError{message: fmt.Sprintf("%s is %q", what, value), hint: hint}
}

// load is what one shard has to gate.
type load struct {
	packs []string
	bytes int64
}

// deal deals packs of given sizes out to n shards: the largest first, each to the
// shard with the fewest bytes by then. Of equal packs the first by name comes
// first, and of equal shards the one with fewer packs, then the first.
func deal(sizes map[string]int64, n int) []load {
	names := make([]string, 0, len(sizes))
	for name := range sizes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	loads := make([]load, n)
	for _, name := range names {
		least := &loads[0]
		for i := range loads {
			if c := cmp.Compare(loads[i].bytes, least.bytes); c < 0 || c == 0 && len(loads[i].packs) < len(least.packs) {
				least = &loads[i]
			}
		}
		least.packs = append(least.packs, name)
		least.bytes += sizes[name]
	}
	for _, l := range loads {
		slices.Sort(l.packs)
	}
	return loads
}

// deal deals the packs of the workspace out. The sizes are those of the pack files
// alone: jobs may leave other files beside them, and would then disagree on whose a
// pack is. One that leads nowhere has none, and reading it says why. What cannot be
// looked at is an error: jobs that see another size deal otherwise, and a pack could
// be left to nobody.
func (w *workspace) deal(n int) ([]load, error) {
	sizes := map[string]int64{}
	for _, name := range w.packs {
		sizes[name] = 0
		info, err := fs.Stat(w.files.Tree(), name)
		if err == nil {
			sizes[name] = info.Size()
		}
		var system syscall.Errno
		if errors.As(err, &system) && !leadsNowhere(err) {
			return nil, fmt.Errorf("deal the packs out: %w", err)
		}
	}
	return deal(sizes, n), nil
}

// share returns the packs of a shard, and those of all others.
func (w *workspace) share(s shard) (own, others []string, err error) {
	if s.whole() {
		return w.packs, nil, nil
	}
	loads, err := w.deal(s.total)
	if err != nil {
		return nil, nil, err
	}
	dealt := loads[s.index-1].packs
	for _, name := range w.packs {
		if _, found := slices.BinarySearch(dealt, name); found {
			own = append(own, name)
		} else {
			others = append(others, name)
		}
	}
	return own, others, nil
}

// only returns the workspace as one in which nothing but these packs was asked for.
func (w *workspace) only(packs []string) *workspace {
	part := *w
	part.packs = packs
	return &part
}

// both returns the packs that are in both lists, in the order of the first.
func both(packs, in []string) []string {
	known := map[string]bool{}
	for _, name := range in {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Clone(packs), func(name string) bool { return !known[name] })
}

// noteMoved notes which packs of the baseline those of other shards are compared
// with under another name: every shard says which packs are removed, and one that
// was moved is none, whoever gates it. What is no pack its own shard reports.
func (r *run) noteMoved(ctx context.Context, w *workspace, base *baseline, others []string) error {
	for _, name := range others {
		unit, err := w.files.Unit(name, w.config)
		if errors.Is(err, repo.ErrUse) {
			continue
		}
		if err != nil {
			return err
		}
		base.reading.Lock()
		old, err := base.find(ctx, w, unit)
		base.reading.Unlock()
		if err != nil {
			return err
		}
		if old != nil && old.name != name {
			r.moved[old.name] = true
		}
	}
	return nil
}

// strays is strayWaivers for a run that gated a shard. The first one speaks for all,
// and looks at the packs of the others too: any may be the one that a waiver means.
func (r *run) strays(w *workspace, s shard) error {
	if s.whole() {
		return r.strayWaivers(w)
	}
	if s.index != 1 || len(w.config.Waivers.Items) == 0 {
		return nil
	}
	all := newRun(r.env, r.report.Command, r.failOn)
	for _, name := range w.packs {
		unit, err := w.files.Unit(name, w.config)
		if errors.Is(err, repo.ErrUse) {
			return nil // its own shard reports it, and it may be any pack
		}
		if err != nil {
			return err
		}
		p := model.Pack{Path: name}
		if unit.Pack != nil {
			p.Pack = unit.Pack.Ref()
		}
		all.report.Packs.Add(p)
	}
	return all.strayWaivers(w)
}
