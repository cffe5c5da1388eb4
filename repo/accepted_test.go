package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var anAcceptance = Acceptance{
	Pack: "ctxpack.support", Rule: "SCH005", Path: "/pack_meta/x_team", Finding: strings.Repeat("a", 32), Content: strings.Repeat("b", 32),
	Recorded: "2026-11-26", Expires: "2027-05-25", Owner: "@acme/support", Reason: "found when the gate came",
}

func acceptedText(t *testing.T, entries ...Acceptance) string {
	t.Helper()
	src, err := AcceptedBytes(entries)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// What is written is read, in the same order whatever the order was.
func TestAcceptedBytes(t *testing.T) {
	other := anAcceptance
	other.Pack, other.Count = "ctxpack.finops", 2
	src := acceptedText(t, anAcceptance, other)
	if acceptedText(t, other, anAcceptance) != src {
		t.Error("the file depends on the order of the entries")
	}
	a, err := ParseAccepted("b.json", []byte(src))
	if err != nil || len(a.Entries) != 2 || a.Entries[0].Most() != 2 || a.Entries[1].Most() != 1 || a.Entries[1].Location.Start.Line != 5 {
		t.Fatalf("%+v, %v", a, err)
	}
	if acceptedText(t) != "{\n  \"version\": 1,\n  \"entries\": []\n}\n" {
		t.Error("a file without entries is another one")
	}
}

// Every edit by hand is an error at its line, whichever member it is of.
func TestAcceptedByHand(t *testing.T) {
	src := acceptedText(t, anAcceptance)
	for old, now := range map[string]string{
		`"ctxpack.support"`: `"ctxpack.other"`, `"SCH005"`: `"RSK002"`, "x_team": "y_team", "aaaa": "aaac", "bbbb": "bbbc",
		"2026-11-26": "2026-11-27", "2027-05-25": "2028-05-25", "@acme/support": "@acme/other", "found when": "when",
		`"recorded"`: `"count":2,"recorded"`, `"seal":"`: `"seal":"0`,
	} {
		edited := strings.Replace(src, old, now, 1)
		if old == `"seal":"` {
			edited = strings.Replace(edited, `"}`, `x"}`, 1)
		}
		_, err := ParseAccepted("b.json", []byte(edited))
		if err == nil || !strings.HasPrefix(err.Error(), "b.json:4:") {
			t.Errorf("%s → %s: %v", old, now, err)
		}
	}
	line := strings.Split(src, "\n")[3]
	twice := strings.Replace(src, line, line+",\n"+line, 1)
	if _, err := ParseAccepted("b.json", []byte(twice)); err == nil || !strings.Contains(err.Error(), "b.json:5:") || !strings.Contains(err.Error(), "twice") {
		t.Errorf("an entry twice: %v", err)
	}
	early := anAcceptance
	early.Expires = "2026-01-01"
	if _, err := AcceptedBytes([]Acceptance{early}); err == nil {
		t.Error("an entry ends before it was recorded")
	}
}

// Line ends of another system change nothing, a mark at the beginning is an error there, and so is
// a count that no file of packgate's has.
func TestAcceptedInOtherForms(t *testing.T) {
	src := acceptedText(t, anAcceptance)
	a, err := ParseAccepted("b.json", []byte(strings.ReplaceAll(src, "\n", "\r\n")))
	if err != nil || len(a.Entries) != 1 || a.Entries[0].Location.Start.Line != 4 {
		t.Errorf("with CRLF: %+v, %v", a, err)
	}
	for name, text := range map[string]string{
		"a mark": "\ufeff" + src, "UTF-16": "\xff\xfe" + src, "two documents": src + src, "a name in other letters": strings.Replace(src, `"rule"`, `"Rule"`, 1),
		"a name twice": strings.Replace(src, `"rule"`, `"rule":"SCH001","rule"`, 1),
	} {
		if a, err := ParseAccepted("b.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "b.json:") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	for _, count := range []string{"0", "1", "-1", "2.5", "2.0", "2e0", "1e400", "9007199254740993", "99999999999999999999", `"2"`, "null"} {
		text := strings.Replace(src, `"recorded"`, `"count":`+count+`,"recorded"`, 1)
		if a, err := ParseAccepted("b.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "b.json:4:") {
			t.Errorf("count %s: %+v, %v", count, a, err)
		}
	}
}

// A baseline that is none, too large or behind a link is refused, and an absent one is none.
func TestAcceptedFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "not JSON": "{", "a list": "[]", "another version": `{"version": 2, "entries": []}`,
		"an unknown member": `{"version": 1, "entries": [], "owner": "x"}`, "no entry": `{"version": 1, "entries": [null]}`,
		"a name twice": `{"version": 1, "entries": [], "entries": []}`,
		"too large":    `{"version": 1, "entries": []}` + strings.Repeat(" ", maxAccepted),
		"too many":     `{"version": 1, "entries": [` + strings.Repeat("0,", maxAcceptedValues) + `0]}`,
	} {
		f, _ := tree(t, map[string]string{AcceptedName: text})
		if a, err := f.Accepted(); err == nil {
			t.Errorf("%s: %+v", name, a)
		} else if p := new(Problem); errors.As(err, &p) && strings.Contains(p.Hint, "the pack") {
			t.Errorf("%s: it is no pack: %s", name, p.Hint)
		}
	}
	f, dir := tree(t, map[string]string{"other.json": acceptedText(t, anAcceptance)})
	if a, err := f.Accepted(); a != nil || err != nil {
		t.Errorf("none: %v, %v", a, err)
	}
	if err := os.Symlink("other.json", filepath.Join(dir, AcceptedName)); err != nil {
		t.Fatal(err)
	}
	if a, err := f.Accepted(); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link: %v, %v", a, err)
	}
}

// Only what ends no later, is for no more and was recorded at the same time is covered.
func TestCoversNoMore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Acceptance)
		want   bool
	}{
		"the same": {func(*Acceptance) {}, true}, "another owner": {func(a *Acceptance) { a.Owner = "x" }, false},
		"another reason": {func(a *Acceptance) { a.Reason = "x" }, false}, "another path": {func(a *Acceptance) { a.Path = "/x" }, false},
		"fewer, and an earlier day": {func(a *Acceptance) { a.Count, a.Expires = 1, "2027-01-01" }, true},
		"an earlier day":            {func(a *Acceptance) { a.Expires = "2027-01-01" }, true}, "a later day": {func(a *Acceptance) { a.Expires = "2027-05-26" }, false},
		"more": {func(a *Acceptance) { a.Count = 2 }, false}, "recorded again": {func(a *Acceptance) { a.Recorded = "2026-11-27" }, false},
		"another content": {func(a *Acceptance) { a.Content = "c" }, false}, "another pack": {func(a *Acceptance) { a.Pack = "c" }, false},
		"another rule": {func(a *Acceptance) { a.Rule = "c" }, false}, "another finding": {func(a *Acceptance) { a.Finding = "c" }, false},
	} {
		now := anAcceptance
		c.change(&now)
		if got := now.CoversNoMore(&anAcceptance); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
