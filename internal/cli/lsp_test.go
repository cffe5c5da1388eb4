package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
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
		want := map[int]int{0: gating.ExitFindings, 1: gating.ExitPass, 2: gating.ExitPass}[i]
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
	if got := Main(t.Context(), env); got != gating.ExitFailure || !strings.Contains(problems.String(), "a message has no Content-Length") {
		t.Errorf("for HTTP the status is %d: %s", got, &problems)
	}
}
