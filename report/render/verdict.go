package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// WriteVerdict writes a verdict: "json" is the form of the schema "verdict", all else
// the terminal's. The error is that of the writer.
func WriteVerdict(w io.Writer, format string, v *model.Verdict, s Style) error {
	if format == "json" {
		return model.WriteJSON(w, struct {
			Format int `json:"version"`
			*model.Verdict
		}{model.Version, v})
	}
	t := &terminal{style: s}
	t.verdictOf(v)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// verdictOf writes the verdict first, then why it is so, then what is known.
func (t *terminal) verdictOf(v *model.Verdict) {
	l := lookOf(v.Status)
	name := v.Ref
	if v.Pack != "" && v.Version != "" {
		name = v.Pack + " " + v.Version
	}
	t.line("%s %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), t.paint("bold", text(name)))
	states := slices.Clone(v.States)
	slices.SortStableFunc(states, func(a, b model.Statement) int { // that which is in force first
		return cmp.Compare(slices.Index([]string{v.Status, a.State}, a.State), slices.Index([]string{v.Status, b.State}, b.State))
	})
	for _, s := range states {
		t.stated(s)
	}
	for _, reason := range v.Reasons {
		t.problem("", "", "  ", reason)
	}
	if t.style.Quiet {
		return
	}
	t.facts("  ", verdictFacts(v))
	t.unlooked("  ", v.NotChecked)
	if v.Path != "" {
		t.line("  written to %s", solid(v.Path))
	}
}

// stated writes one signed state.
func (t *terminal) stated(s model.Statement) {
	l := lookOf(s.State)
	words := t.paint(l.color, l.word)
	if s.Time != "" {
		words += " since " + text(s.Time)
	}
	if s.Actor != "" {
		words += " by " + text(s.Actor)
	}
	t.line("  %s: %s", words, cmp.Or(text(s.Reason), "no reason is given"))
}

// facts returns what is known of the version besides its name.
func verdictFacts(v *model.Verdict) []fact {
	return facts(
		fact{name: "digest", value: v.Digest}, fact{name: "content", value: v.Content},
		fact{name: "class", value: classSince(v.Class, v.Baseline), words: true},
		fact{name: "signer", value: v.Signer}, fact{name: "issuer", value: v.Issuer}, fact{name: "signed", value: v.Signed},
		fact{name: "source", value: commitWords(v.Repository, v.Commit)}, fact{name: "gate report", value: v.Report}, fact{name: "gated by", value: v.Policy, words: true},
		fact{name: "approved by", value: approvalWords(v.Approvals), words: true}, fact{name: "pin records", value: strings.Join(v.Pins, ", "), words: true},
	)
}

// commitWords says from where a version was published.
func commitWords(repository, commit string) string {
	if repository == "" || commit == "" {
		return repository + commit
	}
	return fmt.Sprintf("%s at %s", repository, commit)
}
