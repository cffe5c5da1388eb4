package cli

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls a function with every command that help shows.
func eachCommand(c *cobra.Command, each func(*cobra.Command)) {
	each(c)
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			eachCommand(sub, each)
		}
	}
}

// proper are the names that a line of help may begin with.
var proper = regexp.MustCompile(`^(OCI|JSON|SARIF|GitHub)\b`)

func TestHelpHasOneForm(t *testing.T) {
	e := env(io.Discard)
	seen := 0
	eachCommand(newRoot(&e), func(c *cobra.Command) {
		seen++
		line := func(what, text string) {
			first := []rune(strings.TrimPrefix(text, "`") + " ")[0]
			if !unicode.IsLower(first) && !proper.MatchString(text) || strings.HasSuffix(text, ".") || strings.ContainsAny(text, "\n\t") || strings.Contains(text, "  ") {
				t.Errorf("%s: %s is %q, wanted one line that begins in lower case and has no full stop", c.CommandPath(), what, text)
			}
		}
		line("the summary", c.Short)
		if len(c.Short) > 80 {
			t.Errorf("%s: the summary has %d characters", c.CommandPath(), len(c.Short))
		}
		for _, l := range strings.Split(c.Long, "\n") {
			if len(l) > 100 {
				t.Errorf("%s: its help has a line of %d characters: %s", c.CommandPath(), len(l), l)
			}
		}
		if !strings.HasSuffix(c.Long, ".") {
			t.Errorf("%s: its help is %q, wanted sentences", c.CommandPath(), c.Long)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			line("--"+f.Name, f.Usage)
			if kind, _ := pflag.UnquoteUsage(f); kind == "string" || kind == "int" {
				t.Errorf("%s: --%s does not say what it takes", c.CommandPath(), f.Name)
			}
			if f.DefValue != "" && strings.Contains(f.Usage, "(default") {
				t.Errorf("%s: --%s says its default twice", c.CommandPath(), f.Name)
			}
		})
	})
	if seen < 25 {
		t.Errorf("only %d commands", seen)
	}
}

// exampleOf is one call of packgate in a line of a shell.
var exampleOf = regexp.MustCompile(`packgate( [^|<>()]+)?`)

// The examples of help can be typed as they stand: the command, its flags, and as many
// arguments as it takes.
func TestExamplesParse(t *testing.T) {
	e := env(io.Discard)
	eachCommand(newRoot(&e), func(c *cobra.Command) {
		lines := strings.Split(c.Example, "\n")
		for _, example := range lines {
			call := exampleOf.FindString(example)
			if call == "" || !strings.HasPrefix(example, "  ") {
				t.Errorf("%s: the example %q is no call of packgate, indented", c.CommandPath(), example)
				continue
			}
			found, rest, err := newRoot(&e).Find(shellWords(call)[1:])
			if err == nil {
				found.InitDefaultHelpFlag()
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: the example %q: %v", c.CommandPath(), example, err)
			} else if c.HasParent() && found.CommandPath() != c.CommandPath() && found.Parent().CommandPath() != c.CommandPath() {
				t.Errorf("%s: the example %q is of %s", c.CommandPath(), example, found.CommandPath())
			}
		}
	})
}

// quotedWord is a word of a shell, or a text in double quotes.
var quotedWord = regexp.MustCompile(`"[^"]*"|\S+`)

func shellWords(call string) []string {
	found := quotedWord.FindAllString(call, -1)
	for i := range found {
		found[i] = strings.Trim(found[i], `"`)
	}
	return found
}
