package environments_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

func built(t *testing.T, s *gate.Subject, environment string) *environments.Built {
	t.Helper()
	b, err := environments.Build(s.Unit, environment, s.Environments)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBuild changes one file of the example and says whether the bundle of production
// changes with it. The sources always name what was changed where it is one of them.
func TestBuild(t *testing.T) {
	limited := edits{{limits, "", overlaid("prod", bound, "20000")}}
	was := built(t, limited.subject(t), "prod")
	for _, c := range []struct {
		name  string
		edit  edits
		bytes string // what of the bundle is otherwise: "", "pack" or "catalog"
	}{
		{"nothing", nil, ""},
		{"the number of an overlay", edits{{limits, "20000", "10000"}}, "pack"},
		{"an overlay less", edits{{limits, "", ""}}, "pack"},
		{"an overlay of another environment", edits{{staging, "5000", "4000"}}, ""},
		{"an overlay written otherwise", edits{{limits, `"order": 1`, `"order":    2`}}, ""},
		{"a setting that leaves the pack as it is", edits{{"packs/support/overlays/same.json", "", strings.Replace(overlaid("prod", bound, "20000"), `"limits"`, `"same"`, 1)}}, ""},
		{"the number itself in the overlay, written otherwise", edits{{limits, "20000", "2e4"}}, ""},
		{"an endpoint that the pack does not name", edits{{prod, `"internal://orders": {`, `"internal://returns": {}, "internal://orders": {`}}, ""},
		{"a tenant more at an endpoint of the pack", edits{{prod, `"internal://orders": {
      "tenants": [`, `"internal://orders": {
      "tenants": ["tenant_other",`}}, "catalog"},
		{"a tenant more at another endpoint", edits{{prod, `"internal://vendors": {
      "tenants": [`, `"internal://vendors": {
      "tenants": ["tenant_other",`}}, ""},
		{"a snapshot of the pack", edits{{prod, "T0930", "T1030"}}, "catalog"},
		{"an intent of nobody", edits{{prod, `"support.refund",`, `"support.refund", "support.other",`}}, ""},
		{"an intent of the pack less", edits{{prod, `"support.refund",`, ``}}, "catalog"},
		{"an intent twice", edits{{prod, `"support.refund",`, `"support.refund", "support.refund",`}}, ""},
		{"the ceiling", edits{{prod, `"max_approval_mode": "destructive"`, `"max_approval_mode": "delegated"`}}, "catalog"},
		{"the section of the ceiling less", edits{{prod, `"max_approval_mode": "destructive",`, ``}}, "catalog"},
		{"the runtime", edits{{prod, `"runtime": "1.4.0"`, `"runtime": "1.5.0"`}}, "catalog"},
		{"another version of the ontology", edits{{prod, `"ont.support": {`, `"ont.support": {"2.0.0": {},`}}, ""},
		{"a type of the ontology that the pack does not use", edits{{prod, `"Customer",`, `"Customer", "Parcel",`}}, ""},
		{"a type of the ontology that the pack uses", edits{{prod, `"Customer",`, ``}}, "catalog"},
		{"what may be pinned", edits{{prod, `"runtime"`, `"complete": true, "runtime"`}}, ""},
		{"the catalog of another environment", edits{{"environments/staging.json", `"runtime": "`, `"runtime": "9`}}, ""},
		{"no catalog", edits{{prod, "", ""}}, "catalog"},
		{"the pack", edits{{packFile, `"max": 50000`, `"max": 60000, "min_note": 1`}}, "pack"},
		{"the pack where the overlay replaces it", edits{{packFile, `"max": 50000`, `"max": 60000`}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			is := built(t, slices.Concat(limited, c.edit).subject(t), "prod")
			if got := string(is.Pack) != string(was.Pack); got != (c.bytes == "pack") {
				t.Errorf("the pack is another one: %v", got)
			}
			if got := string(is.Catalog) != string(was.Catalog); got != (c.bytes == "catalog") {
				t.Errorf("the catalog is another one: %v\n%s\n%s", got, was.Catalog, is.Catalog)
			}
		})
	}
}

func TestSources(t *testing.T) {
	overlay := overlaid("prod", bound, "20000")
	s := edits{{limits, "", overlay}}.subject(t)
	var got []string
	digests := map[string]pack.Digest{packFile: pack.DigestOf(s.Unit.Document.Source), limits: pack.DigestOf([]byte(overlay))}
	for _, e := range s.Environments {
		digests[e.Path] = pack.DigestOf(e.Document.Source)
	}
	for _, source := range built(t, s, "prod").Sources {
		if digests[source.Name] != source.Digest {
			t.Errorf("%s is %s, wanted %s", source.Name, source.Digest, digests[source.Name])
		}
		got = append(got, source.Name)
	}
	if want := []string{packFile, limits, prod}; !slices.Equal(got, want) {
		t.Errorf("sources %q, wanted %q", got, want)
	}
	if got, want := environments.Named(s.Unit, s.Environments), []string{"prod", "staging"}; !slices.Equal(got, want) {
		t.Errorf("environments %q, wanted %q", got, want)
	}
}

// Whatever the order of files, the same files make the same bytes, which are canonical.
func TestBuildIsAFunctionOfItsFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 12 {
		s := anyOverlays(r).subject(t)
		want := built(t, s, "prod")
		unit := *s.Unit
		unit.Overlays, unit.Files = slices.Clone(unit.Overlays), slices.Clone(unit.Files)
		catalogs := slices.Clone(s.Environments)
		r.Shuffle(len(unit.Overlays), func(i, j int) { unit.Overlays[i], unit.Overlays[j] = unit.Overlays[j], unit.Overlays[i] })
		r.Shuffle(len(unit.Files), func(i, j int) { unit.Files[i], unit.Files[j] = unit.Files[j], unit.Files[i] })
		r.Shuffle(len(catalogs), func(i, j int) { catalogs[i], catalogs[j] = catalogs[j], catalogs[i] })
		document := *unit.Document
		document.Revision, document.File = "0123", "elsewhere/pack.json"
		unit.Document = &document
		got, err := environments.Build(&unit, "prod", catalogs)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Pack) != string(want.Pack) || string(got.Catalog) != string(want.Catalog) {
			t.Errorf("another order makes other bytes:\n%s\n%s", want.Catalog, got.Catalog)
		}
		for _, src := range [][]byte{got.Pack, got.Catalog} {
			if again, err := pack.Canonical(src); err != nil || string(again) != string(src) {
				t.Errorf("not canonical: %v", err)
			}
		}
		if id := "ctxpack.support@1.0.0"; got.Unit.Pack.Ref() != id {
			t.Errorf("the resolved pack is %s, wanted %s", got.Unit.Pack.Ref(), id)
		}
	}
}

// No bundle becomes another one without a change that is shown and has a class: where the
// bytes of an environment differ, comparing it shows something, or the pack itself changed.
func TestEveryNewBundleHasAChange(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 17))
	replaced := []edits{
		{{prod, `"runtime": "1.4.0"`, `"runtime": "1.5.0"`}}, {{prod, `"Customer",`, ``}}, {{prod, `"support.refund",`, ``}}, {{prod, "T0930", "T1030"}},
		{{prod, `"max_approval_mode": "destructive"`, `"max_approval_mode": "delegated"`}}, {{prod, `"tenant_acme_prod"`, `"tenant_acme_prod", "tenant_other"`}}, {{prod, "", ""}},
		{{prod, `"ont.support": {`, `"ont.support": {"2.0.0": {},`}}, {{prod, `"internal://orders": {`, `"internal://returns": {}, "internal://orders": {`}},
	}
	differ := 0
	for range 24 {
		overlays := anyOverlays(r)
		head := anyOverlays(r)
		if r.IntN(2) == 0 {
			head = slices.Concat(overlays, replaced[r.IntN(len(replaced))])
		}
		before, after := overlays.subject(t), head.subject(t)
		was, is := built(t, before, "prod"), built(t, after, "prod")
		if string(was.Pack)+string(was.Catalog) == string(is.Pack)+string(is.Catalog) {
			continue
		}
		differ++
		changes, _ := comparedSubjects(t, before, after)
		if !slices.ContainsFunc(changes, func(c environments.Change) bool { return c.Environment == "prod" }) {
			t.Errorf("a new bundle without a change:\n%q\n%q", overlays, head)
		}
	}
	if differ < 8 {
		t.Errorf("%d bundles differ: the law was not tried", differ)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"an overlay of another pack", limits, strings.Replace(overlaid("prod", bound, "1"), "ctxpack.support", "ctxpack.other", 1), "is not this pack"},
		{"an overlay without an environment", limits, strings.Replace(overlaid("prod", bound, "1"), `"environment"`, `"environmen"`, 1), "it names no environment"},
		{"an overlay that is not an object", limits, `[]`, "cannot be read, so that it is not known"},
		{"an overlay that is no JSON", limits, `{`, "cannot be read, so that it is not known"},
		{"a setting that is refused", limits, overlaid("prod", "/pack_meta/pack_id", `"other"`), "limits.json"},
		{"a setting of nothing", limits, overlaid("prod", bound+"imum", `1`), "limits.json"},
		{"two catalogs", "environments/prod2.json", `{"environment": "prod"}`, "are both catalogs of the environment"},
		{"no pack", packFile, `[]`, "cannot be read as a pack"},
		{"half a pack", packFile, `{`, "cannot be read as a pack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := edits{{c.file, "", c.text}}.subject(t)
			_, err := environments.Build(s.Unit, "prod", s.Environments)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, wanted one with %q", err, c.want)
			}
		})
	}
}

// An overlay of another environment that is refused keeps nothing from this one.
func TestFaultsOfAnotherEnvironment(t *testing.T) {
	s := edits{{limits, "", overlaid("eu", "/pack_meta/pack_id", `"other"`)}}.subject(t)
	built(t, s, "prod")
	if _, err := environments.Build(s.Unit, "eu", s.Environments); err == nil {
		t.Error("eu is built with half an overlay")
	}
}

// Every member of a catalog binds packs, or is said not to.
func TestEveryCatalogMemberIsBoundOrNot(t *testing.T) {
	var schema struct{ Properties map[string]any }
	src, err := os.ReadFile("../../schemas/environment.schema.json")
	if err == nil {
		err = json.Unmarshal(src, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := edits(nil).subject(t)
	p := s.Pack
	p.PackMeta.EnvironmentDefaults.Region.Value = "in-west"
	e, err := repo.ParseEnvironment("all.json", fmt.Appendf(nil, `{"environment": "all", "runtime": "1", "ontologies": {}, "snapshots": {}, "endpoints": {}, "issuers": [],
		"intents": [], "approver_roles": [], "schemas": [], "regions": ["in-west", "eu"], "max_approval_mode": "network"}`), pack.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	parts := refresh.Bound(p, e)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if _, in := parts[name]; in == slices.Contains(refresh.Unbound, name) {
			t.Errorf("the member %q: bound %v, said to be unbound %v", name, in, !in)
		}
	}
	if got := fmt.Sprint(parts["regions"]); got != "[in-west]" {
		t.Errorf("regions %s", got)
	}
}
