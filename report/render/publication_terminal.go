package render

import (
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// published writes what became of each version in the registry; where the style is
// quiet, what has to be acted on alone.
func (t *terminal) published(r *model.Report) {
	all := published(r)
	if t.style.Quiet {
		all = all[:haltedOnes(all)]
	}
	if len(all) == 0 {
		return
	}
	t.line("%s", t.paint("bold", strings.ToLower(partTitle(all))))
	t.list(t.builder.publications(all), "  ")
	if !t.style.Quiet {
		t.line("")
	}
}

// known writes what is known of a version, unless the style is quiet.
func (t *terminal) known(k *known, indent string) {
	if k == nil || t.style.Quiet {
		return
	}
	t.facts(indent, k.facts)
	for _, c := range k.commands {
		t.command(indent, c)
	}
}

// facts writes what is known of a version, one thing a line. Words that do not fit go
// on below themselves; digests, names and addresses are not broken.
func (t *terminal) facts(indent string, facts []fact) {
	longest := 0
	for _, f := range facts {
		longest = max(longest, len(f.name))
	}
	hang := strings.Repeat(" ", len(indent)+longest+2)
	for _, f := range facts {
		value := text(f.value)
		if f.words && t.style.Width > 0 {
			value = strings.ReplaceAll(wrap(value, max(narrowest, t.style.Width-len(hang))), "\n", "\n"+hang)
		}
		name := t.paint("dim", f.name) + strings.Repeat(" ", longest-len(f.name)+2)
		t.out.WriteString(Inert(indent+name+value) + "\n")
	}
}

// command writes a command that can be copied: its lines are not broken.
func (t *terminal) command(indent string, c shellCommand) {
	lines, ok := copyable(c.line)
	if !ok {
		t.line("%scheck it %s: %s", indent, c.name, notCopyable)
		return
	}
	t.line("%scheck it %s:", indent, c.name)
	for _, l := range lines {
		t.line("%s  %s", indent, strings.ReplaceAll(l, " ", joint))
	}
}

// unlooked writes what could not be looked at.
func (t *terminal) unlooked(indent string, sentences []string) {
	for _, s := range sentences {
		t.line("%s%s", indent, t.paint("dim", "not checked: "+text(s)))
	}
}
