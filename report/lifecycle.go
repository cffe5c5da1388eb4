package report

import (
	"io"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Lifecycle is what a command did to a version that is in a registry.
type Lifecycle struct {
	Command     string `json:"command"` // deprecate, revoke or pin
	Ref         string `json:"ref"`
	Pack        string `json:"pack"` // id@version
	Digest      string `json:"digest,omitempty"`
	Environment string `json:"environment,omitempty"` // of a pin
	State       string `json:"state,omitempty"`       // deprecated or revoked
	Reason      string `json:"reason,omitempty"`
	Actor       string `json:"actor,omitempty"`
	Previous    string `json:"previous,omitempty"` // digest of the manifest that was pinned before
	Bundle      string `json:"bundle,omitempty"`   // digest of the signed statement
	// Already says that it was so before, and DryRun that nothing was done.
	Already bool `json:"already,omitempty"`
	DryRun  bool `json:"dry_run,omitempty"`
	// Cases is how many golden and replay cases were run again before a pin.
	Cases int `json:"cases,omitempty"`
}

// WriteLifecycle writes what a command did: "json" is the form of the schema
// "lifecycle", all else the terminal's. The error is that of the writer.
func WriteLifecycle(w io.Writer, format string, l *Lifecycle, s Style) error {
	if format == "json" {
		return WriteJSON(w, struct {
			Format int `json:"version"`
			*Lifecycle
		}{ModelVersion, l})
	}
	t := &terminal{style: s}
	t.lifecycle(l)
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *terminal) lifecycle(l *Lifecycle) {
	shown := looks["pass"]
	if l.DryRun && !l.Already {
		shown = looks[PublicationWould]
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
func lifecycleWords(l *Lifecycle) string {
	name := text(versionName(l.Pack))
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
