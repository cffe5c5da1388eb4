package stack

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
)

// inMemory is go-containerregistry's registry together with what was put into it, by which
// another one is made that holds the same.
type inMemory struct {
	mu      sync.Mutex
	handler http.Handler
	puts    []put
}

// put is one request that put a blob or a manifest there.
type put struct {
	address, kind string
	body          []byte
}

func (m *inMemory) empty() {
	m.handler, m.puts = ggcr.New(ggcr.WithReferrersSupport(true), ggcr.Logger(log.New(io.Discard, "", 0))), nil
}

func (m *inMemory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	handler := m.handler
	m.mu.Unlock()
	if r.Method != http.MethodPut {
		handler.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p := put{address: r.URL.String(), kind: r.Header.Get("Content-Type"), body: body}
	answer := &answered{ResponseWriter: w}
	handler.ServeHTTP(answer, r)
	if answer.status == http.StatusCreated {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.puts = append(m.puts, p)
	}
}

// answered notes the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (m *inMemory) keep() (restore func() error, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := slices.Clone(m.puts)
	return func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.empty()
		for _, p := range kept {
			answer := httptest.NewRecorder()
			if m.handler.ServeHTTP(answer, p.again()); answer.Code != http.StatusCreated {
				return fmt.Errorf("putting %s there again: %d %s", p.address, answer.Code, answer.Body)
			}
		}
		m.puts = slices.Clone(kept)
		return nil
	}, nil
}

// again is the request as another registry takes it, which knows nothing of an upload that
// began before.
func (p put) again() *http.Request {
	verb, address := http.MethodPut, p.address
	if before, upload, ok := strings.Cut(address, "/blobs/uploads/"); ok {
		_, query, _ := strings.Cut(upload, "?")
		verb, address = http.MethodPost, before+"/blobs/uploads/?"+query
	}
	r := httptest.NewRequest(verb, address, bytes.NewReader(p.body))
	r.Header.Set("Content-Type", p.kind)
	return r
}
