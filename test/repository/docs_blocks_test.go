package repository_test

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/cli"
)

// block is what a page has between ```sh or ```console and the end of it.
type block struct {
	language string
	text     string // without the indentation that it has in a list
	indent   string
	raw      string // as it stands on the page
	run      bool   // whether it is run, or in the table below
}

// notRun lists the blocks that are not run, by page and by how their first command
// starts, each with the reason. An empty start is the whole page. Their commands are
// still held against the program: each subcommand and each flag is there.
var notRun = []struct{ page, start, reason string }{
	{".github/CONTRIBUTING.md", "", "they are the targets that run the tests"},
	{"README.md", "go run . check", "TestReadmeShowsWhatIsPrinted runs it"},
	{"README.md", "go install .", "TestReadmePublishes runs it"},
	{"README.md", "packgate verify ghcr.io", needsGitHub},
	{"README.md", "make test", "it runs the tests"},
	{"docs/action.md", "packgate comment", needsGitHub},
	{"docs/adopt.md", "", "TestAdoptRuns runs the whole page"},
	{"docs/ci.md", "#!/bin/sh", "TestPreReceiveHook runs it as the hook of a repository"},
	{"docs/comparison.md", "cd bench/compare", "it installs packages of Node and takes minutes"},
	{"docs/environments.md", "packgate promote", "it needs a version that staging runs; testdata/script/promote.txtar has one"},
	{"docs/evaluation.md", "cosign ", needsCosign},
	{"docs/install.md", "", "they fetch a release"},
	{"docs/operations.md", "gh ", needsGitHub},
	{"docs/operations.md", "cosign ", needsCosign},
	{"docs/operations.md", "packgate publish --dry-run", "it needs the services of a private Sigstore; make e2e-sigstore has them"},
	{"docs/performance.md", "go run ./bench", "it measures for minutes, in packgate's own repository"},
	{"docs/playground.md", "go run ./playground", "it builds packgate; make playground does the same"},
	{"docs/playground.md", "go run ./playground/build", "it builds packgate itself"},
	{"docs/performance.md", "cd bench/compare", "it installs packages of Node and takes minutes"},
	{"docs/performance.md", "go run ./bench/cmd/measure", "it takes minutes; the tests of bench/throughput run its parts"},
	{"docs/publishing.md", "packgate ", "the workflow's identity signs; docs/release-managers.md runs them with a key"},
	{"docs/publishing.md", "openssl genpkey", "it asks for a password"},
	{"docs/releasing.md", "", "they make a release"},
	{"docs/report.md", "packgate merge shard-1", "the reports are those of a matrix; testdata/script/merge.txtar merges some"},
	{"docs/start.md", "", "TestStartRuns runs the whole page"},
	{"docs/verifying.md", "", "it is about what others published; make e2e-sigstore and make e2e-cosign verify it so"},
	{"examples/acme-support/README.md", "go run .", "it runs in packgate's own repository; TestReadmeShowsWhatIsPrinted does"},
}

const (
	needsGitHub = "it needs a repository on GitHub"
	needsCosign = "cosign is not among what these tests need; make e2e-cosign has it"
)

var (
	commandBlock = regexp.MustCompile("(?ms)^( *)```(sh|console)\n(.*?)^ *```$")
	// unfenced is a command in an indented block, where nothing would run it.
	unfenced = regexp.MustCompile(`(?m)^\n {4}(?:packgate|go|git|gh|cosign|oras|openssl|make|npm|docker|jq) .*$`)
)

// pages returns the pages whose commands are looked at, by their path with slashes.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, file := range files(t) {
		if strings.HasPrefix(file, "docs/") && path.Ext(file) == ".md" {
			list = append(list, file)
		}
	}
	if len(list) == 0 {
		t.Fatal("no page found under docs; wanted at least one")
	}
	return append(list, "README.md", ".github/CONTRIBUTING.md", "examples/acme-support/README.md")
}

// blocksOf returns the commands of a page, in order.
func blocksOf(text, page string, used map[int]bool) (list []*block) {
	for _, m := range commandBlock.FindAllStringSubmatch(text, -1) {
		b := &block{language: m[2], indent: m[1], raw: m[0], run: true}
		for line := range strings.Lines(m[3]) {
			b.text += strings.TrimPrefix(line, m[1])
		}
		first := strings.TrimPrefix(b.text, "$ ")
		for i, n := range notRun {
			if n.page == page && strings.HasPrefix(first, n.start) {
				b.run, used[i] = false, true
			}
		}
		list = append(list, b)
	}
	return list
}

// Every command of the documentation is in a block that is run, or in the table
// above, and the table has nothing else.
func TestDocsCommandsAreRunOrListed(t *testing.T) {
	used := map[int]bool{}
	seen := map[string]bool{}
	for _, page := range pages(t) {
		text := read(t, filepath.FromSlash(page))
		seen[page] = true
		blocksOf(text, page, used)
		if m := unfenced.FindString(text); m != "" && !wholePage(page) {
			t.Errorf("%s has a command in an indented block, where nothing runs it: %q; put it between ```sh and ```", page, strings.TrimSpace(m))
		}
	}
	for i, n := range notRun {
		if seen[n.page] && n.start != "" && !used[i] {
			t.Errorf("no block of %s starts with %q; take it out of the table", n.page, n.start)
		}
	}
}

// wholePage reports whether nothing of a page is run.
func wholePage(page string) bool {
	for _, n := range notRun {
		if n.page == page && n.start == "" {
			return true
		}
	}
	return false
}

var (
	packgateCommand = regexp.MustCompile(`(?m)^(?:\$ )?(?:\w+=\$\()?packgate ((?:[^\n\\]*\\\n)*[^\n]*)$`)
	usedFlag        = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*|-[a-z])(?:[\s=)]|$)`)
	commandWord     = regexp.MustCompile(`^[a-z]+$`)
)

// Every subcommand and every flag in a command of the documentation is one that the
// program has, also where the command is not run.
func TestDocsUseFlagsThatExist(t *testing.T) {
	helps := map[string]string{}
	flags := 0
	for _, page := range pages(t) {
		commands := ""
		for _, b := range blocksOf(read(t, filepath.FromSlash(page)), page, map[int]bool{}) {
			commands += b.text
		}
		for _, m := range packgateCommand.FindAllStringSubmatch(commands, -1) {
			command, _, _ := strings.Cut(m[1], " #")
			command, _, _ = strings.Cut(command, " | ")
			help := helpOf(t, page, command, helps)
			for _, used := range usedFlag.FindAllStringSubmatch(command, -1) {
				flags++
				if !regexp.MustCompile(`(?m)^\s+(-[a-z], )?` + used[1] + `(,|\s|$)`).MatchString(help) {
					t.Errorf("%s gives %s to packgate %s, which has no such flag", page, used[1], command)
				}
			}
		}
	}
	if flags == 0 {
		t.Error("no page gives a flag to a command; wanted some to check")
	}
}

// helpOf returns the help of the command that a line begins with, of which there are
// also such as "golden init".
func helpOf(t *testing.T, page, command string, helps map[string]string) string {
	t.Helper()
	var words []string
	for _, word := range strings.Fields(command) {
		if !commandWord.MatchString(word) || len(words) == 2 {
			break
		}
		words = append(words, word)
	}
	name := strings.Join(words, " ")
	if help, ok := helps[name]; ok {
		return help
	}
	var help bytes.Buffer
	env := cli.Env{Args: append(slices.Clone(words), "--help"), Stdout: &help, Stderr: &help, Getenv: func(string) string { return "" }}
	if code := cli.Main(t.Context(), env); code != gating.ExitPass || len(words) > 0 && !strings.Contains(help.String(), fmt.Sprintf("\n  packgate %s", words[0])) {
		t.Errorf("%s runs packgate %s, and there is no such command: %s", page, command, help.String())
	}
	helps[name] = help.String()
	return helps[name]
}
