package repo

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// An overlay that can be read is there with its members, and in a shared folder it
// belongs to the pack that is its base. One without such a base is everybody's.
func TestOverlays(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"p/pack.json":   `{"pack_meta": {"pack_id": "ctxpack.a"}}`,
		"p/b.pack.json": `{"pack_meta": {"pack_id": "ctxpack.b"}}`,
		"p/overlays/1.json": `{"overlay_id": "of a", "environment": "staging", "base": "ctxpack.a@1.0.0", "order": 2,
			"set": [{"path": "/x", "value": null}, {"path": 7}, 8]}`,
		"p/overlays/2.json": `{"overlay_id": "of b", "base": "ctxpack.b@1.0.0"}`,
		"p/overlays/3.json": `{"overlay_id": "of none", "base": "ctxpack.c"}`,
		"p/overlays/4.json": `{`,
		"p/overlays/5.json": `[]`,
	})
	for name, want := range map[string][]string{"p/pack.json": {"of a", "of none"}, "p/b.pack.json": {"of b", "of none"}} {
		u := unit(t, f, name)
		var ids []string
		for _, o := range u.Overlays {
			ids = append(ids, o.OverlayID.Value)
		}
		if !slices.Equal(ids, want) || len(u.Files) != len(want)+2 {
			t.Errorf("%s has the overlays %q and the files %q", name, ids, listed(u))
		}
	}
	o := unit(t, f, "p/pack.json").Overlays[0]
	set := o.Set.Items
	if o.Environment.Value != "staging" || o.Order.Value != 2 || o.Name != "p/overlays/1.json" || len(set) != 3 {
		t.Fatalf("the overlay is read as %+v", o)
	}
	if set[0].Path.Value != "/x" || set[0].Value == nil || set[0].Value.Kind != pack.Null || set[1].Path.OK || set[1].Value != nil || set[2].Node.Kind != pack.Number {
		t.Errorf("the settings are read as %+v", set)
	}
}
