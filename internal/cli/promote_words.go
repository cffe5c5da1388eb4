package cli

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
)

// judged notes what the rules forbid.
func (p *promoting) judged(found []finding.Finding) error {
	for _, f := range found {
		p.refused = append(p.refused, problemAt(f.Location, f.Rule+": "+f.Message, f.Hint))
	}
	return nil
}

// write writes the pins file, and says what to do next.
func (p *promoting) write() error {
	switch {
	case len(p.moved) == 0:
		p.say("nothing to do")
		return nil
	case p.options.dryRun:
		p.say("would write %s", p.Files.Show(p.name))
		p.say("nothing was written")
		return nil
	}
	if err := gating.Replace(p.Dir, []gating.Edit{{Name: p.name, Source: p.source}}); err != nil {
		return err
	}
	p.say("wrote %s", p.Files.Show(p.name))
	p.say("next: commit it on a branch, and open a pull request; when it is merged, the workflow that publishes moves the environment")
	p.say("  git switch -c %s", p.branch())
	p.say("  git add %s", shellWord(p.Files.Show(p.name)))
	p.say("  git commit -m %s", shellWord(p.title()))
	if roles := p.to.Promote.Demanded(); len(roles) > 0 {
		p.say("the pull request needs the approval of %s", pack.Joined(roles, "and"))
	}
	return nil
}

// title says in one line what is promoted.
func (p *promoting) title() string {
	names := make([]string, len(p.moved))
	for i, m := range p.moved {
		names[i] = m.Pack + " " + m.Version
	}
	what := names[0]
	if len(names) > 1 {
		what = pack.Counted(len(names), "pack")
	}
	return fmt.Sprintf("Promote %s from %s to %s", what, p.options.from, p.options.to)
}

// maxBranch bounds the name of a branch, which is a file of git, in bytes.
const maxBranch = 200

// branch returns the name of a branch for the promotion, which says what is promoted.
func (p *promoting) branch() string {
	words := []string{"promote", p.options.to}
	for _, m := range p.moved[:min(len(p.moved), 2)] {
		words = append(words, m.Pack, m.Version)
	}
	plain := func(r rune) rune {
		if r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}
	name := strings.Map(plain, strings.Join(words, "-"))
	for strings.Contains(name, "..") {
		name = strings.ReplaceAll(name, "..", ".")
	}
	name = strings.Trim(name[:min(len(name), maxBranch)], "-.")
	if cut, ok := strings.CutSuffix(name, ".lock"); ok { // which git keeps for itself
		name = cut + "-lock"
	}
	return "packgate/" + name
}
