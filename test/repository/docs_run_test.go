package repository_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The commands of a page run in one folder, one block after the other: a copy of the
// example repository, as the first commit of a branch main. A block ```sh has to
// succeed. A block ```console shows commands, after "$ ", and below each what it
// prints; a line "…" stands for lines that are left out. A command that fails has to be
// followed by "echo $?", so that the page says it. UPDATE=1 rewrites what is shown.
func TestDocsCommandsRun(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, filepath.FromSlash(page))
		blocks := blocksOf(text, page, map[int]bool{})
		if !slices.ContainsFunc(blocks, func(b *block) bool { return b.run }) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			dir := exampleCopy(t)
			for _, b := range blocks {
				if !b.run {
					continue
				}
				if b.language == "sh" {
					if out, err := shell(t, dir, "set -eu\n"+b.text); err != nil {
						t.Fatalf("%v:\n%s\n%s", err, b.text, out)
					}
					continue
				}
				text = strings.Replace(text, b.raw, runConsole(t, dir, b), 1)
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(filepath.FromSlash(page), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// exampleCopy copies the example repository and commits it.
func exampleCopy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "packs")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("examples", "acme-support"))); err != nil {
		t.Fatal(err)
	}
	if out, err := shell(t, dir, "set -e\ngit init -q -b main\ngit add .\ngit commit -q -m packs"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// shell runs a script as a person would who has set nothing up but git's author, and
// returns all that it prints.
func shell(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	c := exec.Command("sh", "-c", script)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "TMPDIR=" + os.TempDir(), "NO_COLOR=1",
		"GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-05-09T00:00:00Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-05-09T00:00:00Z"}
	out, err := c.CombinedOutput()
	return string(out), err
}

// step is one command of a console block, with the lines that it is shown to print.
type step struct {
	command string
	shown   []string
}

// steps reads a console block. A command goes on in the next line after a backslash.
func steps(b *block) (list []step) {
	goesOn := false
	for line := range strings.Lines(b.text) {
		line = strings.TrimSuffix(line, "\n")
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case goesOn:
			list[len(list)-1].command += "\n" + line
		case isCommand:
			list = append(list, step{command: command})
		case len(list) > 0:
			list[len(list)-1].shown = append(list[len(list)-1].shown, line)
		}
		goesOn = strings.HasSuffix(line, "\\") && (goesOn || strings.HasPrefix(line, "$ "))
	}
	return list
}

// printed is the end of what a command printed, with its exit status.
var printed = regexp.MustCompile("(?s)^(.*?)\x1e([0-9]+)\n")

// runConsole runs a console block in one shell and returns it with what its commands
// print.
func runConsole(t *testing.T, dir string, b *block) string {
	t.Helper()
	list := steps(b)
	if len(list) == 0 {
		t.Fatalf("a console block has no command after \"$ \":\n%s", b.text)
	}
	script := ""
	for _, s := range list {
		// The last lines keep the status for an echo $? that follows.
		script += s.command + "\ns=$?; printf '\\036%d\\n' $s; (exit $s)\n"
	}
	before := time.Now()
	out, err := shell(t, dir, script)
	out = fixedDay(out, before, time.Now())
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var now strings.Builder
	for i, s := range list {
		m := printed.FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("%s ended the shell:\n%s", s.command, out)
		}
		out = out[len(m[0]):]
		if m[2] != "0" && (i+1 == len(list) || list[i+1].command != "echo $?") {
			t.Errorf("%s ends with status %s, and the page does not say so with echo $?:\n%s", s.command, m[2], m[1])
		}
		lines := strings.Split(strings.TrimSuffix(m[1], "\n"), "\n")
		if m[1] == "" {
			lines = nil
		}
		if !matches(s.shown, lines) {
			shown, ok := shownAnew(s.shown, lines)
			if os.Getenv("UPDATE") == "" || !ok {
				t.Errorf("%s prints\n%s\nand the page shows\n%s", s.command, m[1], strings.Join(s.shown, "\n"))
			}
			s.shown = shown
		}
		now.WriteString("$ " + s.command + "\n")
		for _, line := range s.shown {
			now.WriteString(line + "\n")
		}
	}
	return b.indent + "```console\n" + indented(now.String(), b.indent) + b.indent + "```"
}

// fixedDay puts the day of the example's commit in the place of today, which is what
// signatures are dated with.
func fixedDay(text string, days ...time.Time) string {
	for _, day := range days {
		text = regexp.MustCompile(day.UTC().Format("2006-01-02")+`(T[0-9:]{8}Z)?`).ReplaceAllStringFunc(text, func(at string) string {
			if len(at) > len("2006-01-02") {
				return "2026-05-09T00:00:00Z"
			}
			return "2026-05-09"
		})
	}
	return text
}

func indented(text, indent string) (out string) {
	for line := range strings.Lines(text) {
		if line != "\n" {
			line = indent + line
		}
		out += line
	}
	return out
}

const leftOut = "…"

// matches reports whether lines are what is shown, where leftOut stands for any number
// of lines.
func matches(shown, lines []string) bool {
	if len(shown) == 0 {
		return len(lines) == 0
	}
	if shown[0] != leftOut {
		return len(lines) > 0 && shown[0] == lines[0] && matches(shown[1:], lines[1:])
	}
	for i := 0; i <= len(lines); i++ {
		if matches(shown[1:], lines[i:]) {
			return true
		}
	}
	return false
}

// shownAnew makes of lines what is to be shown: all of them, or between what is left
// out as many as before, from the line on that the part began with. It fails where that
// line is not printed any more.
func shownAnew(shown, lines []string) ([]string, bool) {
	if !slices.Contains(shown, leftOut) {
		return lines, true
	}
	var anew []string
	all := lines
	for i := 0; i < len(shown); {
		if shown[i] == leftOut {
			anew, i = append(anew, leftOut), i+1
			continue
		}
		end := i
		for end < len(shown) && shown[end] != leftOut {
			end++
		}
		at := slices.Index(lines, shown[i])
		switch {
		case i == 0: // nothing is left out before it
			at = 0
		case end == len(shown): // nor after it
			at = len(lines) - (end - i)
		}
		if at < 0 || at+end-i > len(lines) {
			return shown, false
		}
		anew, lines, i = append(anew, lines[at:at+end-i]...), lines[at+end-i:], end
	}
	return anew, matches(anew, all)
}

// A page that shows something else than what is printed is found out, also around the
// lines that it leaves out.
func TestShownLinesAreCompared(t *testing.T) {
	lines := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		shown string
		want  bool
		anew  string // what UPDATE makes of it
	}{
		{"a b c d", true, "a b c d"},
		{"a b c", false, "a b c d"},
		{"a x c d", false, "a b c d"},
		{"a b c d e", false, "a b c d"},
		{"…", true, "…"},
		{"… c d", true, "… c d"},
		{"… c", false, "… d"},
		{"a …", true, "a …"},
		{"x …", false, "a …"},
		{"… b …", true, "… b …"},
		{"… b x …", false, "… b c …"},
		{"… c … b …", false, ""},
		{"… x …", false, ""},
	} {
		shown := strings.Fields(c.shown)
		if got := matches(shown, lines); got != c.want {
			t.Errorf("%q matches %q: %v, wanted %v", shown, lines, got, c.want)
		}
		if anew, ok := shownAnew(shown, lines); ok != (c.anew != "") || ok && strings.Join(anew, " ") != c.anew {
			t.Errorf("%q becomes %q (%v), wanted %q", shown, anew, ok, c.anew)
		}
	}
	if matches(nil, lines) || !matches(nil, nil) {
		t.Error("nothing shown matches what is printed, or not nothing")
	}
}
