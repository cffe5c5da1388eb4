package jsonlogic

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// golden runs every case of a file and compares. A case is a line that begins
// with "> " and holds the input, followed by lines of "  " with what is to come
// out. UPDATE=1 rewrites the latter.
func golden(t *testing.T, name string, run func(input string) []string) {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten strings.Builder
	cases := 0
	for _, line := range strings.SplitAfter(string(source), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		rewritten.WriteString(line)
		input, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
		if !ok {
			continue
		}
		cases++
		for _, out := range run(input) {
			fmt.Fprintf(&rewritten, "  %s\n", out)
		}
	}
	if cases == 0 {
		t.Fatalf("%s holds no case", name)
	}
	if rewritten.String() == string(source) {
		return
	}
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(name, []byte(rewritten.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s differs; UPDATE=1 rewrites it. Now:\n%s", name, rewritten.String())
}

// TestProblems holds the words of every problem, with the place it is shown at.
func TestProblems(t *testing.T) {
	golden(t, "testdata/problems.txt", func(input string) []string {
		x, problems := Compile(read(t, input))
		if (x == nil) != (len(problems) > 0) {
			t.Errorf("%s: expression %v with problems %v", input, x, problems)
		}
		var out []string
		for _, p := range problems {
			out = append(out, fmt.Sprintf("%q: %s", p.Node.Pointer(), p.Message))
			if p.Hint != "" {
				out = append(out, "    hint: "+p.Hint)
			}
		}
		if out == nil {
			out = []string{"compiles"}
		}
		return out
	})
}

// TestCauses holds what is said about results that are not definite: the truth,
// the words, the variable and the place. Rule and data are separated by " ; ".
func TestCauses(t *testing.T) {
	golden(t, "testdata/causes.txt", func(input string) []string {
		rule, data, ok := strings.Cut(input, " ; ")
		if !ok {
			t.Fatalf("%s: no data", input)
		}
		got := compile(t, rule).Eval(decode(t, data))
		if got.Cause == nil {
			t.Fatalf("%s: definite, %v", input, got.Value)
		}
		return []string{fmt.Sprintf("%s; %s (%q at %q)", got.Truth, got.Cause, got.Cause.Variable, got.Cause.Node.Pointer())}
	})
}
