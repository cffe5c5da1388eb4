package publish

import "sync"

// knownRecords are records that were read and verified: what a digest names does not change. It may
// be used by several goroutines; nil knows none.
type knownRecords struct {
	mu   sync.Mutex
	seen map[recordKey]*recordAt
}

// recordKey is a manifest in the repository of a pack.
type recordKey struct{ repository, digest string }

func (k *knownRecords) of(key recordKey) *recordAt {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.seen[key]
}

func (k *knownRecords) put(key recordKey, r *recordAt) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen == nil {
		k.seen = map[recordKey]*recordAt{}
	}
	k.seen[key] = r
}
