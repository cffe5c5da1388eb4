package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Verdict is what is known of one version in a registry, and whether it may be used.
// Digests are "sha256:" and 64 hex digits, times RFC 3339; what is not known is "".
type Verdict struct {
	Ref     string `json:"ref"`                    // what was asked for
	Pack    string `json:"pack,omitempty"`         // id
	Version string `json:"pack_version,omitempty"` // MAJOR.MINOR.PATCH
	Digest  string `json:"digest,omitempty"`       // of the OCI manifest
	Content string `json:"content,omitempty"`      // of the pack's bytes
	Status  string `json:"status"`                 // usable, deprecated, revoked or untrusted
	// Reasons are why the status is what it is, and what else is worth a look.
	Reasons    []Problem  `json:"reasons,omitempty"`
	Class      string     `json:"class,omitempty"`
	Baseline   string     `json:"baseline,omitempty"` // id@version
	Signer     string     `json:"signer,omitempty"`
	Issuer     string     `json:"issuer,omitempty"`
	Repository string     `json:"repository,omitempty"`
	Commit     string     `json:"commit,omitempty"`
	Signed     string     `json:"signed,omitempty"`
	Report     string     `json:"report,omitempty"` // digest of the gate report
	Policy     string     `json:"policy,omitempty"` // what it was gated by
	Approvals  []Approval `json:"approvals,omitempty"`
	// States are the signed states, and Pins the environments that a signed record moved here, be it long ago.
	States []Statement `json:"states,omitempty"`
	Pins   []string    `json:"pins,omitempty"`
	// NotChecked are sentences on what could not be looked at.
	NotChecked []string `json:"not_checked,omitempty"`
	// Path is the file that the version was written to, "" where none was.
	Path string `json:"path,omitempty"`
}

// Statement is one signed statement that a version is deprecated or revoked.
type Statement struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Actor  string `json:"actor,omitempty"`
	Time   string `json:"time,omitempty"`   // RFC 3339
	Digest string `json:"digest,omitempty"` // of its bundle
}

// WriteVerdict writes a verdict: "json" is the form of the schema "verdict", all else
// the terminal's. The error is that of the writer.
func WriteVerdict(w io.Writer, format string, v *Verdict, s Style) error {
	if format == "json" {
		return WriteJSON(w, struct {
			Format int `json:"version"`
			*Verdict
		}{ModelVersion, v})
	}
	t := &terminal{style: s}
	t.verdictOf(v)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// verdictOf writes the verdict first, then why it is so, then what is known.
func (t *terminal) verdictOf(v *Verdict) {
	l := lookOf(v.Status)
	name := v.Ref
	if v.Pack != "" && v.Version != "" {
		name = v.Pack + " " + v.Version
	}
	t.line("%s %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), t.paint("bold", text(name)))
	states := slices.Clone(v.States)
	slices.SortStableFunc(states, func(a, b Statement) int { // that which is in force first
		return cmp.Compare(slices.Index([]string{v.Status, a.State}, a.State), slices.Index([]string{v.Status, b.State}, b.State))
	})
	for _, s := range states {
		t.state(s)
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

// state writes one signed state.
func (t *terminal) state(s Statement) {
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
func verdictFacts(v *Verdict) []fact {
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
