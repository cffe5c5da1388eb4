package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// MissingShards returns the shards that none of the reports is of, as i/N in their
// order; none where no report is of a shard. The error is ErrNotOneRun where a shard
// is there twice, or the packs were dealt out to different numbers of them.
func MissingShards(reports []*Report) ([]string, error) {
	there := map[int]bool{}
	total, first := 0, ""
	for _, r := range reports {
		if r.Shard == "" {
			continue
		}
		i, n, err := shardOf(r.Shard)
		switch {
		case err != nil:
			return nil, err
		case first == "":
			total, first = n, r.Shard
		case n != total:
			return nil, fmt.Errorf("%w: one is of shard %q and another of shard %q", ErrNotOneRun, first, r.Shard)
		case there[i]:
			return nil, fmt.Errorf("%w: two of them are of shard %q", ErrNotOneRun, r.Shard)
		}
		there[i] = true
	}
	var missing []string
	for i := 1; i <= total; i++ {
		if !there[i] {
			missing = append(missing, fmt.Sprintf("%d/%d", i, total))
		}
	}
	return missing, nil
}

// shardOf reads the i/N of a shard, which the schema bounds.
func shardOf(shard string) (i, n int, err error) {
	index, total, _ := strings.Cut(shard, "/")
	i, notIndex := strconv.Atoi(index)
	n, notTotal := strconv.Atoi(total)
	if notIndex != nil || notTotal != nil || i < 1 || i > n || n > maxShards {
		return 0, 0, fmt.Errorf("%w: one is of shard %q, which there cannot be", ErrNotOneRun, shard)
	}
	return i, n, nil
}

// maxShards bounds how many shards a report may speak of.
const maxShards = 999

// maxNamedShards is how many missing shards a problem names.
const maxNamedShards = 12

// ShardsMissing returns the problem that reports of shards are missing.
func ShardsMissing(missing []string) Problem {
	words := slices.Clone(missing[:min(maxNamedShards, len(missing))])
	for i := range words {
		words[i] = strconv.Quote(words[i])
	}
	list := strings.Join(words, ", ")
	if left := len(missing) - len(words); left > 0 {
		list += " and " + pack.Counted(left, "more shard")
	}
	return Problem{
		Message: "there is no report of shard " + list + ", and nobody knows what it found",
		Hint:    "run the jobs of these shards again, and merge the reports of all of them",
	}
}
