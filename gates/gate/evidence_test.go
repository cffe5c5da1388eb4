package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

func TestSingular(t *testing.T) {
	for plural, want := range map[string]string{
		"orders": "order", "policies": "policy", "addresses": "address", "branches": "branch", "boxes": "box",
		"purchases": "purchase", "policy": "policy", "access": "access", "crm": "crm", "s": "s", "": "",
		"crm_orders": "crm_order",
	} {
		if got := singular(plural); got != want {
			t.Errorf("singular(%q) = %q, want %q", plural, got, want)
		}
	}
}

func TestEvidenceNames(t *testing.T) {
	got := EvidenceNames("adp_orders", "lookup")
	want := []string{"lookup", "adp_orders.lookup", "orders_lookup", "order_lookup"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReferenceParts(t *testing.T) {
	for _, c := range []struct{ ref, scheme, parts string }{
		{"kg:order:ord_881#snapshot_7", "kg", "order ord_881"},
		{"tool:adp_orders.lookup:tool_117", "tool", "adp_orders.lookup tool_117"},
		{"crm://cases/881/note", "crm", "cases 881 note"},
		{"order_lookup#1", "", "order_lookup"},
		{"#1", "", ""},
	} {
		if scheme, parts := ReferenceParts(c.ref); scheme != c.scheme || strings.Join(parts, " ") != c.parts {
			t.Errorf("%q is of %q with %q, want %q with %q", c.ref, scheme, parts, c.scheme, c.parts)
		}
	}
}

func TestEachMember(t *testing.T) {
	d, _ := pack.Read("", []byte(`{"order": {"id": "1", "none": null, "of": [{"x": 1}]}, "paid": true, "gone": null}`), pack.DefaultLimits())
	var names []string
	EachMember(d.Root, func(name string, _ *pack.Node) { names = append(names, name) })
	if want := "order order.id order.of paid"; strings.Join(names, " ") != want {
		t.Errorf("the members are %q, want %q", names, want)
	}
	EachMember(nil, func(string, *pack.Node) { t.Error("nothing has a member") })
}

// The members below a long name are not looked at.
func TestLongMembers(t *testing.T) {
	long := strings.Repeat("p", MostOfName)
	d, _ := pack.Read("", []byte(`{"`+long+`": {"m": {"deepest": 1}}}`), pack.DefaultLimits())
	EachMember(d.Root, func(name string, _ *pack.Node) {
		if name != long {
			t.Errorf("%q is below a long name", name)
		}
	})
}
