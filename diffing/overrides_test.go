package diffing

import (
	"errors"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestOverrideSettlesOpenRow(t *testing.T) {
	base := gatetest.Support()
	head := edit(t, base, "replace /pack_meta/ttl_seconds 60\nreplace /pack_meta/pack_version \"1.0.1\"")
	d, err := Compare(read(t, "base.json", base), read(t, "head.json", head),
		[]Override{{Change: "pack_meta.ttl_seconds", Class: Patch, Reason: "caches only"}})
	if err != nil {
		t.Fatal(err)
	}
	c := d.Changes()[0]
	if c.Class != Patch || c.NeedsHumanClass || c.OverrideReason != "caches only" || d.Class != Patch || d.Required != "" {
		t.Errorf("the override does not hold: %+v, class %s, required %q", c, d.Class, d.Required)
	}
}

// A proof goes before a row, and so before what the config says of it, unless that
// is stricter. Where nothing is proved, the config settles the row.
func TestOverrideBesideProof(t *testing.T) {
	const bundle = "/policy_layer/policy_bundles/POLICY_RETURNS_V4"
	const idv = bundle + "/rules/R_REFUND_REQUIRES_IDV"
	for _, test := range []struct {
		about, base, edit, row string
		class, want            Class
		overridden             bool
	}{
		{"proved to be the same, and the config is stricter", "", "replace " + bundle + "/priority 1", "policy_layer.priority", Minor, Minor, true},
		{"proved to be more, and the config is weaker", "", "add " + idv + "/non_enforcing true\nreplace /decision_layer/decision_specs/support.refund.execute/approval_mode \"network\"", "policy_layer.non_enforcing", Minor, Major, false},
		{"proved to be more, and the config is stricter", "", "replace " + idv + "/applies_to/intent \"support.x\"", "policy_layer.intent", Reject, Reject, true},
		{"not proved", "replace " + idv + "/if {\"exec\": []}", "replace " + bundle + "/priority 1", "policy_layer.priority", Minor, Minor, true},
	} {
		base := edit(t, gatetest.Support(), test.base)
		head := withVersion(t, edit(t, base, test.edit), "2.0.0")
		d, err := Compare(read(t, "base.json", base), read(t, "head.json", head), []Override{{Change: test.row, Class: test.class, Reason: "so it is"}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, c := range d.Changes() {
			if c.Row != test.row {
				continue
			}
			found = true
			if c.Class != test.want || (c.OverrideReason != "") != test.overridden || c.NeedsHumanClass {
				t.Errorf("%s: %+v", test.about, c)
			}
		}
		if !found {
			t.Errorf("%s: no change of the row\n%s", test.about, renderChanges(d))
		}
	}
}

func TestOverridesThatCannotBe(t *testing.T) {
	support := read(t, "pack.json", gatetest.Support())
	for _, test := range []struct {
		override Override
		want     string
	}{
		{Override{Change: "pack_meta.ttl", Class: Patch}, `class override: the class table has no row "pack_meta.ttl"`},
		{Override{Change: "pack_meta.pack_id", Class: Minor}, `class override: the class of "pack_meta.pack_id" is reject, which cannot be lowered`},
		{Override{Change: "tooling_layer.approval_mode.lowered", Class: Major}, `class override: the class of "tooling_layer.approval_mode.lowered" is reject, which cannot be lowered`},
		{Override{Change: "policy_layer.condition", Class: Minor}, `class override: the class of "policy_layer.condition" is major, and not open`},
	} {
		_, err := Compare(support, support, []Override{test.override})
		if !errors.Is(err, ErrOverride) || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestOverridesOfConfig(t *testing.T) {
	c, err := repo.ParseConfig(".packgate.yaml", []byte(`version: 1
classes:
  - {change: pack_meta.ttl_seconds, class: patch, reason: caches only}
  - {change: pack_meta.currency, class: reject, reason: never}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Overrides(c)
	if err != nil || len(got) != 2 || got[0] != (Override{"pack_meta.ttl_seconds", Patch, "caches only"}) || got[1].Class != Reject {
		t.Errorf("got %v, %v", got, err)
	}
	c, err = repo.ParseConfig(".packgate.yaml", []byte(`version: 1
classes:
  - {change: pack_meta.ttl_seconds, class: patch, reason: caches only}
  - {change: pack_meta.ttl_seconds, class: minor, reason: or not}
  - {change: tooling_layer.approval_mode.lowered, class: major, reason: it is only a word}
`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Overrides(c)
	want := `.packgate.yaml:4:14: class override: "pack_meta.ttl_seconds" has one already
.packgate.yaml:5:14: class override: the class of "tooling_layer.approval_mode.lowered" is reject, which cannot be lowered`
	if err == nil || err.Error() != want || !errors.Is(err, repo.ErrUse) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestTableReadsWell(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Table() {
		if seen[r.ID] || r.What == "" || r.Reason == "" || r.Class > Reject {
			t.Errorf("row %q is there twice or lacks words", r.ID)
		}
		seen[r.ID] = true
		if !strings.HasPrefix(r.ID, r.Layer+".") {
			t.Errorf("row %q does not begin with its layer %q", r.ID, r.Layer)
		}
		if strings.HasSuffix(r.What, ".") || strings.HasSuffix(r.Reason, ".") {
			t.Errorf("row %q ends with a period", r.ID)
		}
	}
	for id := range identities {
		if !seen[id] {
			t.Errorf("there is no row %q", id)
		}
	}
}

func TestLayersInOrder(t *testing.T) {
	d := diff(t, gatetest.Support(), gatetest.Support())
	if len(d.Layers) != len(pack.Layers()) {
		t.Fatalf("there are %d layers", len(d.Layers))
	}
	for i, name := range pack.Layers() {
		if l := d.Layers[i]; l.Name != name || l.Class != None || l.Changes != nil {
			t.Errorf("layer %d is %+v", i, l)
		}
	}
	d = diff(t, gatetest.Support(), edit(t, gatetest.Support(), "add /x_notes 1"))
	if last := d.Layers[len(d.Layers)-1]; last.Name != Other || len(last.Changes) != 1 || last.Changes[0].Layer != Other {
		t.Errorf("unknown members of the root are not in a layer of their own: %+v", last)
	}
}

func TestSidesAreNamed(t *testing.T) {
	d := diff(t, gatetest.Support(), edit(t, gatetest.Support(), `replace /pack_meta/pack_version "1.0.1"`))
	want, _ := pack.Canonical(gatetest.Support())
	if d.Base != (Side{"ctxpack.support", "1.0.0", "base.json", pack.DigestOf(want)}) || d.Head.Version != "1.0.1" || d.Head.File != "head.json" {
		t.Errorf("got %+v and %+v", d.Base, d.Head)
	}
}

func TestFaultyPackIsNotComparable(t *testing.T) {
	twice := strings.Replace(string(gatetest.Support()), `"issuer":`, `"issuer": "x", "issuer":`, 1)
	doc, _ := pack.Read("twice.json", []byte(twice), pack.DefaultLimits())
	support := read(t, "pack.json", gatetest.Support())
	for side, compare := range map[string]func() (*Diff, error){
		"base":   func() (*Diff, error) { return Compare(pack.New(doc), support, nil) },
		"head":   func() (*Diff, error) { return Compare(support, pack.New(doc), nil) },
		"; head": func() (*Diff, error) { return Compare(pack.New(doc), pack.New(doc), nil) },
	} {
		if _, err := compare(); !errors.Is(err, ErrIncomparable) || !strings.Contains(err.Error(), side+":") {
			t.Errorf("%s: got %v", side, err)
		}
	}
}

func TestClassWords(t *testing.T) {
	for c := None; c <= Reject; c++ {
		text, err := c.MarshalText()
		var back Class
		if err != nil || back.UnmarshalText(text) != nil || back != c || string(text) != c.String() {
			t.Errorf("%s does not come back: %s, %v", c, back, err)
		}
	}
	if _, err := ParseClass("huge"); !errors.Is(err, ErrClass) {
		t.Errorf("got %v", err)
	}
	if _, err := Class(9).MarshalText(); !errors.Is(err, ErrClass) {
		t.Errorf("got %v", err)
	}
}
