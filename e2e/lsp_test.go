package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The language server answers the client library that VS Code is built on: a pack is
// opened, found wrong, fixed and clean; names are explained, found and offered; and the
// session ends in order.
func TestLanguageServerWithMicrosoftsClient(t *testing.T) {
	repository := scratchDir(t)
	copyExample(t, repository)
	program := filepath.Join(t.TempDir(), "packgate")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-C", "..", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	var said bytes.Buffer
	client := exec.CommandContext(t.Context(), "node", filepath.Join("lsp", "client.mjs"), npmModules(t, "lsp"), program, repository)
	client.Stderr = &said
	out, err := client.Output()
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, &said)
	}
	var got, want any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal([]byte(`{
		"server": "packgate", "found": "true",
		"page": "https://contextosai.github.io/packgate/rules/SEC008",
		"actions": ["quickfix"], "fixed": true, "left": ["RSK006"],
		"hover": "decision, declared at [packs/support/pack.json:239:25]",
		"definition": ["\"support.refund.execute\""], "completion": ["support.refund.execute"], "exit": 0
	}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", out)
	}
	if said.Len() > 0 {
		t.Errorf("the server says %s", &said)
	}
}

// npmModules returns a folder in which npm has put the modules, at the versions, that the
// package.json of a folder here names.
func npmModules(t *testing.T, folder string) string {
	t.Helper()
	wanted, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(filepath.Join("node_modules", "."+folder))
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "package.json")
	if have, err := os.ReadFile(manifest); err == nil && bytes.Equal(have, wanted) {
		return dir
	}
	fetched := filepath.Join(dir, "fetched")
	if err := os.MkdirAll(fetched, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(fetched, "package.json"), string(wanted))
	npm := exec.CommandContext(t.Context(), "npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = fetched
	if said, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm, which fetches what %s needs: %v\n%s", folder, err, strings.TrimSpace(string(said)))
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(fetched, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	write(t, manifest, string(wanted)) // last, so that what is there is whole
	return dir
}
