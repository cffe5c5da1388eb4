package gating

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// MaxShards is how many jobs GitHub starts for one matrix.
const MaxShards = 256

// Shard is one of the parts into which the packs of a repository are divided, so that each is gated by
// a job of its own. The zero Shard is all packs.
type Shard struct {
	Index int // from 1
	Total int
}

// String returns i/N, and "" for all packs.
func (s Shard) String() string {
	if s.Whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Total)
}

// Whole reports whether the packs are not divided at all.
func (s Shard) Whole() bool { return s.Total == 0 }

// ParseShard reads the i/N of a flag or an input, whose name is what; "" is the zero Shard. Any other
// value is an error that matches repo.ErrUse.
func ParseShard(what, value string) (Shard, error) {
	if value == "" {
		return Shard{}, nil
	}
	index, total, _ := strings.Cut(value, "/")
	i, notIndex := strconv.Atoi(index)
	n, notTotal := strconv.Atoi(total)
	s := Shard{i, n}
	hint := ""
	switch {
	case notIndex != nil || notTotal != nil || fmt.Sprintf("%d/%d", i, n) != value:
		hint = "name the shard and how many there are, such as 1/4"
	case n < 1 || n > MaxShards:
		hint = fmt.Sprintf("use 1 to %d shards", MaxShards)
	case i < 1 || i > n:
		hint = fmt.Sprintf("use one of 1/%d to %d/%d", n, n, n)
	default:
		return s, nil
	}
	return Shard{}, &repo.Problem{Message: fmt.Sprintf("%s is %q", what, value), Hint: hint}
}

// Load is what one shard has to gate: its pack files, sorted, and their size.
type Load struct {
	Packs []string
	Bytes int64
}

// deal distributes packs of given sizes over n shards: the largest first, each to the shard with the
// fewest bytes so far. Packs of the same size go by name; of equal shards, the one with fewer packs is
// chosen, then the first.
func deal(sizes map[string]int64, n int) []Load {
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	loads := make([]Load, n)
	for _, name := range names {
		least := &loads[0]
		for i := range loads {
			if c := cmp.Compare(loads[i].Bytes, least.Bytes); c < 0 || c == 0 && len(loads[i].Packs) < len(least.Packs) {
				least = &loads[i]
			}
		}
		least.Packs = append(least.Packs, name)
		least.Bytes += sizes[name]
	}
	for _, l := range loads {
		slices.Sort(l.Packs)
	}
	return loads
}

// Deal distributes the packs of the workspace over n shards. Only the pack files count for the sizes:
// jobs may leave other files beside them, and would then disagree on which job a pack belongs to. A
// link that leads nowhere has size 0, and gating it reports why. A file that cannot be looked at is an
// error: a job that sees another size would divide the packs differently, and a pack could be left to
// no job.
func (w *Workspace) Deal(n int) ([]Load, error) {
	sizes := map[string]int64{}
	for _, name := range w.Packs {
		sizes[name] = 0
		info, err := fs.Stat(w.Files.Tree(), name)
		if err == nil {
			sizes[name] = info.Size()
		}
		var system syscall.Errno
		if errors.As(err, &system) && !repo.NotThere(err) {
			return nil, fmt.Errorf("distribute the packs: %w", err)
		}
	}
	return deal(sizes, n), nil
}

// tree returns the digest of what shards have to agree on: the config, the catalogs and the packs, and the identities
// of the packs. A pack that cannot be read has the zero digest.
func (w *Workspace) tree() (digest string, ids identities, err error) {
	sum := sha256.New()
	if doc := w.Config.Document; doc != nil {
		fmt.Fprintf(sum, "config %s\n", pack.DigestOf(doc.Source))
	}
	for _, e := range w.Environments {
		fmt.Fprintf(sum, "catalog %s\n", pack.DigestOf(e.Document.Source))
	}
	ids = identities{}
	for i, g := range ofEach(w.Packs, func(name string) (g glanced) {
		var src []byte
		if g.Claim, src, g.err = w.Files.Claim(name, w.Config.Limits.MaxBytes); src != nil {
			g.digest = sha256.Sum256(src)
		}
		return g
	}) {
		if g.err != nil {
			return "", nil, g.err
		}
		ids[w.Packs[i]] = g.Claim
		fmt.Fprintf(sum, "pack %q %x\n", w.Packs[i], g.digest)
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), ids, nil
}

// share returns the packs of the shard that is gated, and notes in the report what it is a shard of.
func (r *Run) share(in *Inputs) ([]string, error) {
	in.known = in.since.claims
	own, _, err := in.Share(in.Shard)
	if err != nil || in.Shard.Whole() {
		return own, err
	}
	var ids identities
	r.Report.Tree, ids, err = in.tree()
	if in.known == nil {
		in.known = ids
	}
	return own, err
}

// Share returns the packs of a shard, and those of all others.
func (w *Workspace) Share(s Shard) (own, others []string, err error) {
	if s.Whole() {
		return w.Packs, nil, nil
	}
	loads, err := w.Deal(s.Total)
	if err != nil {
		return nil, nil, err
	}
	dealt := loads[s.Index-1].Packs
	for _, name := range w.Packs {
		if _, found := slices.BinarySearch(dealt, name); found {
			own = append(own, name)
		} else {
			others = append(others, name)
		}
	}
	return own, others, nil
}
