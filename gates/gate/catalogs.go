package gate

import (
	"fmt"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// EachCatalog calls check for every environment whose catalog has a section, and
// notes which have none. What names what the section lists. It returns how many
// have it.
func (p *Pass) EachCatalog(what string, section func(*repo.Environment) *pack.Node, check func(*repo.Environment)) int {
	var without []*repo.Environment
	for _, e := range p.Environments {
		if section(e) == nil {
			without = append(without, e)
			continue
		}
		check(e)
	}
	if len(without) == len(p.Environments) {
		p.NotChecked("no environment catalog lists " + what)
		return 0
	}
	for _, e := range without {
		p.NotChecked(fmt.Sprintf("the catalog of environment %q lists no %s", e.Name(), what))
	}
	return len(p.Environments) - len(without)
}
