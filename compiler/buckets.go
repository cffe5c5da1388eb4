package compiler

import "slices"

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

// Counts holds a number of tokens for each bucket.
type Counts struct {
	Business int `json:"business"`
	Policy   int `json:"policy"`
	Tool     int `json:"tool"`
	Evidence int `json:"evidence"`
	Memory   int `json:"memory"`
	Session  int `json:"session"`
}

// Of returns the tokens of a bucket, 0 for a name that is none.
func (c Counts) Of(b Bucket) int {
	switch b {
	case BucketBusiness:
		return c.Business
	case BucketPolicy:
		return c.Policy
	case BucketTool:
		return c.Tool
	case BucketEvidence:
		return c.Evidence
	case BucketMemory:
		return c.Memory
	case BucketSession:
		return c.Session
	}
	return 0
}

// countsOf returns the counts of an array in bucket order.
func countsOf(n [bucketCount]int) Counts {
	return Counts{n[atBusiness], n[atPolicy], n[atTool], n[atEvidence], n[atMemory], n[atSession]}
}

// Flags holds a mark for each bucket; only those that are set are written.
type Flags struct {
	Business bool `json:"business,omitempty"`
	Policy   bool `json:"policy,omitempty"`
	Tool     bool `json:"tool,omitempty"`
	Evidence bool `json:"evidence,omitempty"`
	Memory   bool `json:"memory,omitempty"`
	Session  bool `json:"session,omitempty"`
}

// Of returns the mark of a bucket, false for a name that is none.
func (f Flags) Of(b Bucket) bool {
	switch b {
	case BucketBusiness:
		return f.Business
	case BucketPolicy:
		return f.Policy
	case BucketTool:
		return f.Tool
	case BucketEvidence:
		return f.Evidence
	case BucketMemory:
		return f.Memory
	case BucketSession:
		return f.Session
	}
	return false
}

// Dropped holds the dropped blocks of each bucket, in block order; only buckets
// that dropped one are written.
type Dropped struct {
	Business []string `json:"business,omitempty"`
	Policy   []string `json:"policy,omitempty"`
	Tool     []string `json:"tool,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Memory   []string `json:"memory,omitempty"`
	Session  []string `json:"session,omitempty"`
}

// Of returns the dropped blocks of a bucket, none for a name that is none.
func (d Dropped) Of(b Bucket) []string {
	switch b {
	case BucketBusiness:
		return d.Business
	case BucketPolicy:
		return d.Policy
	case BucketTool:
		return d.Tool
	case BucketEvidence:
		return d.Evidence
	case BucketMemory:
		return d.Memory
	case BucketSession:
		return d.Session
	}
	return nil
}

// IsZero reports whether no bucket dropped a block.
func (d Dropped) IsZero() bool {
	return !slices.ContainsFunc(Buckets(), func(b Bucket) bool { return len(d.Of(b)) > 0 })
}

// truncationsOf returns marks and lists of an array in bucket order.
func truncationsOf(ids [bucketCount][]string) (Flags, Dropped) {
	some := func(i int) bool { return len(ids[i]) > 0 }
	return Flags{some(atBusiness), some(atPolicy), some(atTool), some(atEvidence), some(atMemory), some(atSession)},
		Dropped{ids[atBusiness], ids[atPolicy], ids[atTool], ids[atEvidence], ids[atMemory], ids[atSession]}
}
