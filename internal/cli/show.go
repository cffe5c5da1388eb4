package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/report/model"
)

// shownVerdict returns a verdict in the report's form.
func shownVerdict(v *publish.Verdict) *model.Verdict {
	out := &model.Verdict{
		Ref: v.Ref.String(), Pack: v.Pack, Version: v.Version, Digest: v.Manifest, Content: v.Content, Status: string(v.Status),
		Signed: shownTime(v.Signed), NotChecked: v.NotChecked,
	}
	for _, r := range v.Reasons {
		if r.Kind == publish.ReasonState {
			continue // the statements below say it
		}
		out.Reasons = append(out.Reasons, model.Problem{Message: r.Message, Hint: r.Hint})
	}
	if s := v.Signer; s != nil {
		out.Signer, out.Issuer, out.Repository, out.Commit = signerName(s), s.Issuer, s.Repository, s.Commit
	}
	if s := v.Summary; s != nil {
		out.Class, out.Report, out.Policy = s.Class, s.Report, fmt.Sprintf("packgate %s, rules %s", s.Tool, s.Rules)
		if s.Baseline != nil {
			out.Baseline = s.Baseline.Pack + " " + s.Baseline.Manifest
		}
		for _, a := range s.Approvals {
			out.Approvals = append(out.Approvals, model.Approval{Role: a.Role, Login: a.Login})
		}
	}
	for _, s := range v.States {
		out.States = append(out.States, model.Statement{State: s.State, Reason: s.Reason, Actor: s.Actor, Time: shownTime(s.Time), Digest: s.Bundle})
	}
	for _, p := range v.Pins {
		if !slices.Contains(out.Pins, p.Environment) {
			out.Pins = append(out.Pins, p.Environment)
		}
	}
	slices.Sort(out.Pins) // those of one second have no order of their own
	return out
}

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@+-]+$`)

// shellWord returns a text as one word of a POSIX shell. The name of a branch may
// hold nearly anything, and a command is there to be copied.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shownTime returns a time as reports write it, "" for none.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// shownLog returns the versions of a pack in the report's form.
func shownLog(id, repository string, entries []publish.Entry) *model.VersionLog {
	out := &model.VersionLog{Pack: id, Repository: repository, Versions: []model.LogEntry{}}
	for _, e := range entries {
		shown := model.LogEntry{
			Version: e.Version, Class: e.Class, Digest: e.Manifest, Signed: shownTime(e.Signed), State: string(e.Status),
			Pins: e.Environments, Conflict: len(e.Conflicts) > 0,
		}
		for _, s := range e.States {
			if s.State == string(e.Status) { // of two states the one in force
				shown.Reason = s.Reason
			}
		}
		for _, r := range e.Reasons {
			if r.Refuses {
				shown.Problems = append(shown.Problems, r.Message)
			}
		}
		for _, n := range e.NotChecked {
			out.NotChecked = append(out.NotChecked, e.Version+": "+n)
		}
		if e.Signer != nil {
			shown.Signer = signerName(e.Signer)
		}
		out.Versions = append(out.Versions, shown)
	}
	return out
}
