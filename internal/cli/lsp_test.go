package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/repo"
)

// The command serves whoever talks to it, and its status says whether the session ended
// in order.
func TestLSP(t *testing.T) {
	said := ""
	for i, message := range []string{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}`,
		`{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}`,
		`{"jsonrpc": "2.0", "method": "exit"}`,
	} {
		said += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
		want := map[int]int{0: ExitFindings, 1: ExitPass, 2: ExitPass}[i]
		for _, args := range [][]string{{"lsp"}, {"lsp", "--stdio"}} {
			var out, problems bytes.Buffer
			env := Env{Args: args, Stdin: strings.NewReader(said), Stdout: &out, Stderr: &problems, Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(0, 0) }, Version: "7.8.9"}
			if got := Main(t.Context(), env); got != want || problems.Len() > 0 || !strings.Contains(out.String(), `"version":"7.8.9"`) {
				t.Errorf("after %d messages the status is %d, want %d: %s%s", i+1, got, want, &out, &problems)
			}
		}
	}
	var out, problems bytes.Buffer
	env := Env{Args: []string{"lsp"}, Stdin: strings.NewReader("GET / HTTP/1.1\r\n\r\n"), Stdout: &out, Stderr: &problems, Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(0, 0) }}
	if got := Main(t.Context(), env); got != ExitFailure || !strings.Contains(problems.String(), "a message has no Content-Length") {
		t.Errorf("for HTTP the status is %d: %s", got, &problems)
	}
}

func TestRootOf(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "packs", "a")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, repo.ConfigName), []byte("version: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if root, found, err := rootOf(inner); root != dir || !found || err != nil {
		t.Errorf("got %q, %v, %v", root, found, err)
	}
	if _, found, err := rootOf(filepath.Join(dir, "nowhere")); found || err != nil {
		t.Errorf("a folder that is not there: %v, %v", found, err)
	}
	if err := os.Remove(filepath.Join(dir, repo.ConfigName)); err != nil {
		t.Fatal(err)
	}
	if _, found, err := rootOf(inner); found || err != nil {
		t.Errorf("no repository: %v, %v", found, err)
	}
}
