package proof

import (
	"sync"

	"github.com/contextosai/packgate/jsonlogic"
)

// mostKnown bounds the requests of an intent that are remembered: trying one costs a tenth of
// a proof.
const mostKnown = 24

// remembered are requests that were found before, for questions that only ask whether there is one.
type remembered struct {
	mu       sync.Mutex
	requests map[string][]map[string]any // by intent
}

// Known reports whether all formulas hold for a remembered request of the intent, and returns that
// request as conditions read it. It looks at the formulas only until one does not hold.
func (m *Model) Known(intent string, parts ...[]jsonlogic.Formula) (data map[string]any, found bool) {
	m.known.mu.Lock()
	defer m.known.mu.Unlock()
next:
	for _, data := range m.known.requests[intent] {
		for _, list := range parts {
			for _, f := range list {
				if !f.Holds(data) {
					continue next
				}
			}
		}
		return data, true
	}
	return nil, false
}

// Remembered returns the requests of an intent that were found before, as conditions read them.
func (m *Model) Remembered(intent string) []map[string]any {
	m.known.mu.Lock()
	defer m.known.mu.Unlock()
	return m.known.requests[intent]
}

// Remember keeps a request of an intent, as conditions read it, for Known.
func (m *Model) Remember(intent string, data map[string]any) {
	m.known.mu.Lock()
	defer m.known.mu.Unlock()
	if m.known.requests == nil {
		m.known.requests = map[string][]map[string]any{}
	}
	if list := m.known.requests[intent]; len(list) < mostKnown {
		m.known.requests[intent] = append(list, data)
	}
}
