package gating

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
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
		var err error
		if sizes[name], err = w.size(name); err != nil {
			return nil, err
		}
	}
	return deal(sizes, n), nil
}

func (w *Workspace) size(name string) (size int64, err error) {
	info, err := fs.Stat(w.Files.Tree(), name)
	if err == nil {
		return info.Size(), nil
	}
	if system := syscall.Errno(0); errors.As(err, &system) && !repo.NotThere(err) {
		return 0, fmt.Errorf("distribute the packs: %w", err)
	}
	return 0, nil
}

// share returns the packs of the shard that is gated, and notes what it is a shard of. Tree in the report is the
// digest of what shards have to agree on: the config, the catalogs and the packs. A pack that cannot be read has the
// zero digest there. Each pack file is read once for all of that.
func (r *Run) share(in *Inputs) ([]string, error) {
	if in.Shard.Whole() {
		return in.Packs, nil
	}
	sum := sha256.New()
	if doc := in.Config.Document; doc != nil {
		fmt.Fprintf(sum, "config %s\n", pack.DigestOf(doc.Source))
	}
	for _, e := range in.Environments {
		fmt.Fprintf(sum, "catalog %s\n", pack.DigestOf(e.Document.Source))
	}
	all, err := ofEach(in.Packs, in.surveyed)
	if err != nil {
		return nil, err
	}
	sizes, ids := map[string]int64{}, identities{}
	for i, one := range all {
		name := in.Packs[i]
		sizes[name], ids[name] = one.size, one.Claim
		fmt.Fprintf(sum, "pack %q %x\n", name, one.digest)
	}
	if in.known() == nil {
		in.read = ids
	}
	r.Report.Tree = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	loads := deal(sizes, in.Shard.Total)
	in.grounds = groundsOf(loads)
	return loads[in.Shard.Index-1].Packs, nil
}

// survey is what shards have to know of a pack file. The digest is zero where it cannot be read.
type survey struct {
	repo.Claim
	size   int64
	digest [sha256.Size]byte
}

func (w *Workspace) surveyed(name string) (s survey, err error) {
	is, src, err := w.Files.Claim(name, w.Config.Limits.MaxBytes)
	if err == nil && src == nil {
		s.size, err = w.size(name)
		return s, err
	}
	return survey{is, int64(len(src)), sha256.Sum256(src)}, err
}

// grounds are the folders in which shards look for packs that no pattern finds, with the shard that does: that of the
// first pack in the folder. The first shard has what is not below one of them.
type grounds map[string]int

func groundsOf(loads []Load) grounds {
	first, g := map[string]string{}, grounds{".": 1}
	for i, l := range loads {
		for _, name := range l.Packs {
			dir := path.Dir(name)
			if known, ok := first[dir]; !ok || name < known {
				first[dir], g[dir] = name, i+1
			}
		}
	}
	return g
}

// of returns the folders of a shard, sorted. What is behind a link is looked at where it is.
func (g grounds) of(in Inputs) (folders []string) {
	for dir, shard := range g {
		if shard == in.Shard.Index && in.behindLinks(dir) == dir {
			folders = append(folders, dir)
		}
	}
	slices.Sort(folders)
	return folders
}

// loadable returns the files that could be loaded as a pack among which a run looks for overlooked ones: those of the
// change, or all, or of several shards without a base those in the folders of this one.
func (in Inputs) loadable(c *Change) (names, links []string, err error) {
	switch {
	case c != nil:
		return c.brought(in.Files)
	case in.Shard.Whole() || in.Base != nil:
		return in.Files.Loadable([]string{"."}, nil)
	}
	return in.Files.Loadable(in.grounds.of(in), func(dir string) bool { return in.grounds[dir] != 0 })
}
