package policy

import (
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// Unite returns the model of several packs together, as pack.Unite puts them: what is
// compiled for an invocation that names all of them. The conflicts say why there is none:
// packs that do not agree, or one that is refused by itself.
func Unite(models ...*Model) (*Model, []pack.Conflict) {
	var packs []*pack.Pack
	var conflicts []pack.Conflict
	for _, m := range models {
		packs = append(packs, m.Pack)
		if m.Fault != nil {
			conflicts = append(conflicts, pack.Conflict{
				At: pack.Place(m.Fault.At, m.Pack.Node), Hint: "fix that pack first",
				Message: fmt.Sprintf("%q cannot be compiled: %s", m.Pack.Ref(), m.Fault.Reason),
			})
		}
	}
	if len(conflicts) > 0 {
		return nil, conflicts
	}
	united, conflicts := pack.Unite(packs...)
	if len(conflicts) > 0 || united == nil {
		return nil, conflicts
	}
	m := models[0].Beside(united)
	if m.Fault != nil {
		return nil, []pack.Conflict{{
			At: pack.Place(m.Fault.At, united.Node), Hint: "rename what two of the packs have",
			Message: fmt.Sprintf("%s cannot be compiled together: %s", pack.Joined(united.Refs(), "and"), m.Fault.Reason),
		}}
	}
	return m, nil
}
