package render

import (
	"io"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteLifecycle writes what a command did: "json" is the form of the schema
// "lifecycle", all else the terminal's. The error is that of the writer.
func WriteLifecycle(w io.Writer, format string, l *model.Lifecycle, s Style) error {
	if format == "json" {
		return model.WriteJSON(w, struct {
			Format int `json:"version"`
			*model.Lifecycle
		}{model.Version, l})
	}
	t := &terminal{style: s}
	t.lifecycle(l)
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *terminal) lifecycle(l *model.Lifecycle) {
	shown := looks["pass"]
	if l.DryRun && !l.Already {
		shown = looks[model.PublicationWould]
	}
	t.line("%s %s", t.paint(shown.color, shown.mark), lifecycleWords(l))
	if t.style.Quiet {
		return
	}
	digest := l.Digest
	if strings.HasSuffix(l.Ref, "@"+digest) {
		digest = ""
	}
	t.facts("  ", facts(
		fact{name: "version", value: l.Ref}, fact{name: "digest", value: digest}, fact{name: "reason", value: l.Reason, words: true},
		fact{name: "by", value: l.Actor, words: true}, fact{name: "before", value: l.Previous}, fact{name: "statement", value: l.Bundle},
	))
	if l.Cases > 0 {
		t.line("  %s run again, as expected", pack.Counted(l.Cases, "case"))
	}
	if l.DryRun {
		t.line("  dry run: nothing was signed or written")
	}
}

// words say what was done, what there was nothing to do about, or what would be done.
func lifecycleWords(l *model.Lifecycle) string {
	name := text(model.VersionName(l.Pack))
	if l.Command == "pin" {
		where := "environment " + text(l.Environment)
		switch {
		case l.Already:
			return where + " already runs " + name
		case l.DryRun:
			return where + " would run " + name
		}
		return where + " runs " + name + " from now on"
	}
	state := text(l.State)
	switch {
	case l.Already:
		return name + " is already " + state
	case l.DryRun:
		return name + " would be " + state
	}
	return name + " is " + state + " from now on"
}
