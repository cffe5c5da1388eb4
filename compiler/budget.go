package compiler

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// defaultTotal is the budget of a run context that sets no total.
const defaultTotal = 12000

// budgetStage is stage 6. A bucket that the run context declares has what is
// declared; the others share what is left of the total, in the fixed proportion.
func (r *run) budgetStage() (any, *Stop) {
	budget, stop := members(r.request.RunContext, "run_budget", "run_budget")
	if stop != nil {
		return nil, stop
	}
	buckets, stop := members(budget, "bucket_tokens", "run_budget.bucket_tokens")
	if stop != nil {
		return nil, stop
	}
	total := defaultTotal
	if v, there := budget["total_tokens"]; there {
		if total, stop = tokens(v, "run_budget.total_tokens"); stop != nil {
			return nil, stop
		}
	}
	if stop = r.allocate(buckets, total); stop != nil {
		return nil, stop
	}
	return countsOf(r.allocated), nil
}

// allocate fills r.allocated from the declared buckets and the total.
func (r *run) allocate(buckets map[string]any, total int) *Stop {
	for _, name := range slices.Sorted(maps.Keys(buckets)) {
		if !slices.Contains(Buckets(), Bucket(name)) {
			return refusal("run_budget.bucket_tokens of the run context has %q, which is no bucket; wanted %s", name, bucketNames())
		}
	}
	var open []int
	left := total
	for i, row := range bucketTable() {
		v, there := buckets[string(row.name)]
		if !there {
			open = append(open, i)
			continue
		}
		n, stop := tokens(v, "run_budget.bucket_tokens."+string(row.name))
		if stop != nil {
			return stop
		}
		if n > left {
			return refusal("run_budget.bucket_tokens of the run context sum to more than the total of %d tokens", total)
		}
		r.allocated[i], left = n, left-n
	}
	share(left, open, &r.allocated)
	return nil
}

// bucketNames lists the buckets for a message.
func bucketNames() string {
	var names []string
	for _, b := range Buckets() {
		names = append(names, string(b))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// members returns a member that is an object, nil where it is absent.
func members(of map[string]any, name, path string) (map[string]any, *Stop) {
	v, there := of[name]
	m, ok := v.(map[string]any)
	if there && !ok {
		return nil, refusal("%s of the run context is not an object", path)
	}
	return m, nil
}

// maxTokens is 2^53, up to which integers survive in JSON.
const maxTokens = 1 << 53

func tokens(v any, name string) (int, *Stop) {
	n, ok := v.(float64)
	if !ok || n < 0 || n > maxTokens || n != math.Trunc(n) {
		return 0, refusal("%s of the run context is not a whole number from 0 to %d", name, maxTokens)
	}
	return int(n), nil
}

// share gives tokens to buckets in proportion to their weights by the method of
// largest remainders: each bucket has its quota rounded down, and those with the
// largest remainders, ties in bucket order, have one of the tokens left.
func share(total int, buckets []int, into *[bucketCount]int) {
	table := bucketTable()
	sum := uint64(0)
	for _, i := range buckets {
		sum += uint64(table[i].weight)
	}
	if sum == 0 {
		return
	}
	var remainder [bucketCount]uint64
	left := total
	for _, i := range buckets {
		high, low := bits.Mul64(uint64(total), uint64(table[i].weight))
		quota, rest := bits.Div64(high, low, sum)
		into[i], remainder[i] = int(quota), rest
		left -= int(quota)
	}
	order := slices.Clone(buckets)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder[b], remainder[a]) })
	for _, i := range order[:left] {
		into[i]++
	}
}
