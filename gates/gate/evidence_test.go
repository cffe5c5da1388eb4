package gate

import (
	"slices"
	"testing"
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
