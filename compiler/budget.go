package compiler

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// defaultTotal is the budget of a run context that sets no total.
const defaultTotal = 12000

// budgetStage is stage 6. A bucket that the run context declares has what is
// declared; the others share what is left of the total, in the fixed proportion.
func (r *run) budgetStage() (any, *Stop) {
	budget, stop := members(r.request.RunContext, "run_budget")
	if stop != nil {
		return nil, stop
	}
	buckets, stop := members(budget, "bucket_tokens")
	if stop != nil {
		return nil, stop
	}
	total := defaultTotal
	if v, there := budget["total_tokens"]; there {
		if total, stop = tokens(v, "total_tokens"); stop != nil {
			return nil, stop
		}
	}
	if stop = r.declared(buckets, total); stop != nil {
		return nil, stop
	}
	return countsOf(r.allocated), nil
}

// declared fills r.allocated from the declared buckets and the total.
func (r *run) declared(buckets map[string]any, total int) *Stop {
	var open []int
	left := total
	known := 0
	for i, row := range bucketTable() {
		v, there := buckets[string(row.name)]
		if !there {
			open = append(open, i)
			continue
		}
		known++
		n, stop := tokens(v, string(row.name))
		if stop != nil {
			return stop
		}
		if n > left {
			return refusal("bucket_tokens sum to more than total_tokens, %d", total)
		}
		r.allocated[i], left = n, left-n
	}
	if known < len(buckets) {
		return refusal("bucket_tokens of the run context has a member that is no bucket")
	}
	share(left, open, &r.allocated)
	return nil
}

// members returns an object of the run context, nil where it is absent.
func members(of map[string]any, name string) (map[string]any, *Stop) {
	v, there := of[name]
	m, ok := v.(map[string]any)
	if there && !ok {
		return nil, refusal("%s of the run context is not an object", name)
	}
	return m, nil
}

// maxTokens is 2^53, up to which integers survive in JSON.
const maxTokens = 1 << 53

func tokens(v any, name string) (int, *Stop) {
	n, ok := v.(float64)
	if !ok || n < 0 || n > maxTokens || n != math.Trunc(n) {
		return 0, refusal("%s of the run budget is not a whole number of tokens", name)
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
