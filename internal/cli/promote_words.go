package cli

import (
	"crypto/sha256"
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

// maxBranch bounds what the name of a branch says, in bytes: it is a file of git.
const maxBranch = 150

// branch returns the name of a branch for the promotion. It says what is promoted; where that is
// too much to say, it ends in a digest of all of it, so that no two promotions have one branch.
func (p *promoting) branch() string {
	words := []string{"promote", p.options.to}
	whole := sha256.New()
	for i, m := range p.moved {
		if i < 2 {
			words = append(words, m.Pack, m.Version)
		}
		fmt.Fprintf(whole, "%q %q %q\n", p.options.to, m.Pack, m.Version)
	}
	plain := func(r rune) rune {
		if r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}
	said := strings.Join(words, "-")
	name := strings.Map(plain, said)
	for strings.Contains(name, "..") {
		name = strings.ReplaceAll(name, "..", ".")
	}
	name = strings.Trim(name[:min(len(name), maxBranch)], "-.")
	if cut, ok := strings.CutSuffix(name, ".lock"); ok { // which git keeps for itself
		name = cut + "-lock"
	}
	if len(p.moved) > 2 || name != said {
		name += fmt.Sprintf("-%x", whole.Sum(nil)[:4])
	}
	return "packgate/" + name
}
