package scaffold

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
)

func unitsOf(t *testing.T, dir string, names ...string) (units []*repo.Unit) {
	t.Helper()
	files, err := repo.OpenFiles(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	for _, name := range names {
		u, err := files.Unit(name, repo.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, u)
	}
	return units
}

// The catalogs are of the environments that cases and overlays name, each with what the packs
// name there, which is what somebody wrote into those of the example but for what packs do not
// tell. Whatever the packs are, nobody has confirmed them.
func TestCatalogs(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "acme-support")
	files, err := Catalogs(unitsOf(t, dir, "packs/finops/pack.json", "packs/support/pack.json"), nil)
	if err != nil || len(files) != 2 || files[0].Name != "environments/prod.json" || files[1].Name != "environments/staging.json" {
		t.Fatalf("%d catalogs, %v", len(files), err)
	}
	for _, f := range files {
		made, there := map[string]any{}, map[string]any{}
		src, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil || json.Unmarshal(src, &there) != nil || json.Unmarshal(f.Content, &made) != nil {
			t.Fatalf("%s cannot be read: %v\n%s", f.Name, err, f.Content)
		}
		if made["unconfirmed"] != true {
			t.Errorf("%s is confirmed", f.Name)
		}
		for _, section := range []string{"intents", "approver_roles", "endpoints", "ontologies"} {
			if made[section] == nil {
				t.Errorf("%s has no %s:\n%s", f.Name, section, f.Content)
			}
		}
		for _, section := range []string{"snapshots", "runtime", "pins"} {
			if made[section] != nil {
				t.Errorf("%s has %s, which packs do not tell", f.Name, section)
			}
		}
	}
	if prod, staging := string(files[0].Content), string(files[1].Content); strings.Contains(prod, "sandbox") || !strings.Contains(staging, "internal://payments-sandbox") {
		t.Errorf("overlays do not count:\n%s", staging)
	}
}

func TestCatalogsOfWhatIsNoPack(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/pack.json", `{`)
	write("b/pack.json", `[]`)
	write("c/pack.json", `{"tooling_layer": {"adapter_registry": [{"endpoint_ref": "https://ann:secret@acme.test"}, {"endpoint_ref": "mcp://x", "approval_mode": "all"}]}}`)
	write("c/golden/x.case.json", `{"environment": "../../etc"}`)
	files, err := Catalogs(unitsOf(t, dir, "a/pack.json", "b/pack.json", "c/pack.json"), []string{"mcp:"})
	if err != nil || len(files) != 1 || files[0].Name != "environments/prod.json" {
		t.Fatalf("%+v, %v", files, err)
	}
	if content := string(files[0].Content); strings.Contains(content, "secret") || !strings.Contains(content, "mcp://x") || !strings.Contains(content, "\"unconfirmed\": true") {
		t.Errorf("the catalog is\n%s", content)
	}
	if _, err := repo.ParseEnvironment("prod.json", files[0].Content, repo.DefaultConfig().Limits); err != nil {
		t.Error(err)
	}
	if files, err = Catalogs(nil, nil); err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if _, err := repo.ParseEnvironment("prod.json", files[0].Content, repo.DefaultConfig().Limits); err != nil {
		t.Error(err)
	}
}
