package gates_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

// overlaid runs the gates over the documented support pack with one overlay, and one
// catalog that lists the endpoints of the pack.
func overlaid(t *testing.T, environment, endpoint string) gates.Result {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"packs/support/pack.json": string(gatetest.Support()),
		"environments/prod.json":  `{"environment": "prod", "endpoints": {"internal://orders": {}, "internal://policy": {}, "internal://payments": {}}}`,
		"packs/support/overlays/one.json": `{"overlay_id": "one", "environment": "` + environment + `", "base": "ctxpack.support@1.0.0",
			"set": [{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "` + endpoint + `"}]}`,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	c := repo.DefaultConfig()
	unit, err := files.Unit("packs/support/pack.json", c)
	if err != nil {
		t.Fatal(err)
	}
	environments, err := files.Environments(c)
	if err != nil {
		t.Fatal(err)
	}
	return gates.Run(gate.NewSubject(unit, environments, c), policy(t, "", false), gates.Outside{})
}

func about(r gates.Result, rule string) (said []string) {
	for _, n := range r.NotChecked {
		if n.Rule == rule {
			said = append(said, n.Reason)
		}
	}
	return said
}

// What the catalog of the only environment says is checked in the resolved pack, and
// is not called unchecked.
func TestCatalogOfAnOverlay(t *testing.T) {
	r := overlaid(t, "prod", "internal://policy")
	if said := about(r, "TEN003"); len(said) > 0 {
		t.Errorf("the endpoints were checked, and it is said: %q", said)
	}
	if said := about(r, "TEN007"); len(said) == 0 {
		t.Error("no catalog lists regions, and nobody says so")
	}
	if said := about(overlaid(t, "prod", "internal://elsewhere"), "TEN003"); len(said) > 0 {
		t.Errorf("the endpoints were checked, and it is said: %q", said)
	}
}

// An overlay for an environment without a catalog is held against no other one's.
func TestOverlayWithoutCatalog(t *testing.T) {
	r := overlaid(t, "qa", "internal://elsewhere")
	if i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "OVL009" }); i >= 0 {
		t.Errorf("found %s", r.Findings[i].Message)
	}
	if said := about(r, "OVL009"); len(said) != 1 || !strings.Contains(said[0], `"qa"`) {
		t.Errorf("that there is no catalog is said as %q", said)
	}
}
