package compiler

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Bucket is one part of the token budget.
type Bucket string

// The six buckets of the contract.
const (
	BucketBusiness Bucket = "business"
	BucketPolicy   Bucket = "policy"
	BucketTool     Bucket = "tool"
	BucketEvidence Bucket = "evidence"
	BucketMemory   Bucket = "memory"
	BucketSession  Bucket = "session"
)

// bucketCount is the number of buckets.
const bucketCount = 6

// bucketRow is what is fixed about a bucket.
type bucketRow struct {
	name     Bucket
	priority int // of its blocks, as printed
	weight   int // its share of the tokens that are left over
}

// bucketTable returns the buckets in the contract's order, which is also the
// order of the blocks. The weights sum to the default budget.
func bucketTable() [bucketCount]bucketRow {
	return [bucketCount]bucketRow{
		{BucketBusiness, 90, 1500},
		{BucketPolicy, 80, 1800},
		{BucketTool, 70, 1500},
		{BucketEvidence, 60, 3500},
		{BucketMemory, 50, 1500},
		{BucketSession, 40, 2200},
	}
}

// Positions of the buckets in bucketTable and in everything kept by bucket.
const (
	atBusiness = iota
	atPolicy
	atTool
	atEvidence
	atMemory
	atSession
)

// Buckets returns the six buckets in the contract's order.
func Buckets() []Bucket {
	names := make([]Bucket, 0, bucketCount)
	for _, row := range bucketTable() {
		names = append(names, row.name)
	}
	return names
}

// ByBucket holds a value for each bucket, in the contract's order.
type ByBucket[T any] [bucketCount]T

// What is reported of each bucket: a number of tokens; a mark; the ids of blocks, in
// block order.
type (
	Counts  = ByBucket[int]
	Flags   = ByBucket[bool]
	Dropped = ByBucket[[]string]
)

// Of returns the value of a bucket, the zero one for a name that is none.
func (v ByBucket[T]) Of(b Bucket) (of T) {
	if i := slices.Index(Buckets(), b); i >= 0 {
		of = v[i]
	}
	return of
}

// written reports whether a bucket is written: each that is counted, those that are
// marked, those that have blocks.
func (v ByBucket[T]) written(i int) bool {
	switch of := any(v[i]).(type) {
	case bool:
		return of
	case []string:
		return len(of) > 0
	}
	return true
}

// IsZero reports whether no bucket is written.
func (v ByBucket[T]) IsZero() bool {
	for i := range v {
		if v.written(i) {
			return false
		}
	}
	return true
}

// MarshalJSON writes an object with the buckets that are written.
func (v ByBucket[T]) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, row := range bucketTable() {
		if !v.written(i) {
			continue
		}
		of, err := json.Marshal(v[i])
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(strconv.AppendQuote(b, string(row.name)), ':'), of...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *ByBucket[T]) UnmarshalJSON(src []byte) error {
	var read map[Bucket]T
	if err := json.Unmarshal(src, &read); err != nil {
		return err
	}
	for i, row := range bucketTable() {
		v[i] = read[row.name]
	}
	return nil
}

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
	return r.allocated, nil
}

// allocate fills r.allocated from the declared buckets and the total.
func (r *run) allocate(buckets map[string]any, total int) *Stop {
	for _, name := range slices.Sorted(maps.Keys(buckets)) {
		if !slices.Contains(Buckets(), Bucket(name)) {
			return refusal("run_budget.bucket_tokens of the run context has %q, which is not a bucket; wanted %s", name, joined(slices.Sorted(slices.Values(Buckets()))))
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

// joined lists names for a message.
func joined[T ~string](names []T) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	return strings.Join(list, ", ")
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
func share(total int, buckets []int, into *Counts) {
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

// Tokenizer counts tokens. Name is part of every snapshot's meaning: another
// tokenizer means other budgets. Count has to give the same for the same text
// always, and Tokenizer has to be safe for concurrent use.
type Tokenizer interface {
	Name() string
	Count(text string) int
}

// Estimate is the tokenizer that needs no vocabulary: one token for each four
// UTF-16 code units, rounded up.
type Estimate struct{}

// Name returns "estimate".
func (Estimate) Name() string { return "estimate" }

// Count returns the estimated number of tokens of a text.
func (Estimate) Count(text string) int {
	units := 0
	for _, c := range text {
		units++
		if c > 0xFFFF {
			units++
		}
	}
	return (units + 3) / 4
}
