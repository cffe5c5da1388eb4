package generate

import (
	"fmt"
	"math/rand/v2"
)

// Large returns a pack of about that many bytes, with as many intents as that takes. The same
// seed gives the same bytes; the error is that of a pack that cannot be written as JSON.
func Large(seed uint64, size int) ([]byte, error) {
	s := &shape{Rand: rand.New(rand.NewPCG(seed, 0)), revision: 1, size: size, domain: domains[0]}
	s.intents = max(1, size/perIntent)
	actions := s.domain.actions
	s.domain.actions = make([]action, s.intents)
	for i := range s.domain.actions {
		a := actions[i%len(actions)]
		s.domain.actions[i] = action{fmt.Sprintf("%s_%02d", a.name, i), a.noun, fmt.Sprintf("%s_%02d", a.tool, i)}
	}
	return s.pack()
}

// perIntent is about how many bytes of a large pack belong to each intent.
const perIntent = 20 << 10
