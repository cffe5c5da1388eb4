package publish

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A publisher reads each record of a pack's history once, however often it asks for the history:
// for the baseline, before it signs, and before and after it writes a record of its own.
func TestARecordIsReadOnce(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), t.TempDir())
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		w.publish(candidate(version, ""))
	}
	records := map[string]bool{}
	ch, err := w.checker().head(t.Context(), support)
	w.must(err)
	all, err := w.checker().survey(t.Context(), support, request{})
	w.must(err)
	for _, r := range all.chain.records {
		records[r.digest] = true
	}
	if len(records) != 3 || !records[ch.Digest] {
		t.Fatalf("records %v, head %+v", records, ch)
	}
	var mu sync.Mutex
	read := map[string]int{}
	h.on(func(_ int64, rw http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		_, digest, ok := strings.Cut(r.URL.Path, "/manifests/")
		if ok && r.Method == http.MethodGet && records[digest] {
			mu.Lock()
			read[digest]++
			mu.Unlock()
		}
		return false
	})
	p := w.publisher()
	_, _, err = p.Checker().Baseline(t.Context(), support, "1.3.0")
	w.must(err)
	_, err = p.Publish(t.Context(), candidate("1.3.0", ""))
	w.must(err)
	for digest := range records {
		if read[digest] != 1 {
			t.Errorf("record %s is read %d times", digest, read[digest])
		}
	}
	t.Logf("%d requests", h.requests.Load())
}
