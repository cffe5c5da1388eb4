package repository_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// shown finds a command in the README and the output that it is shown with.
var shown = regexp.MustCompile("(?s)<!-- example: ([^\n]*) -->\n```\n(.*?)```\n<!-- /example -->")

// What the README shows is what the command prints. UPDATE=1 rewrites it.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := shown.FindAllSubmatch(readme, -1)
	if len(examples) == 0 {
		t.Fatal("the README shows no example")
	}
	for _, e := range examples {
		words := strings.Fields(string(e[1]))
		c := exec.Command(words[0], words[1:]...)
		c.Env = append(os.Environ(), "NO_COLOR=1")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", e[1], err, out)
		}
		if bytes.Equal(out, e[2]) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("%s prints\n%s\nand the README shows\n%s", e[1], out, e[2])
		}
		readme = bytes.Replace(readme, e[0], bytes.Replace(e[0], append([]byte("```\n"), e[2]...), append([]byte("```\n"), out...), 1), 1)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("README.md", readme, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
