package gating

import (
	"sync"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/repo/overlay"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/test/gatetest"
)

// compiled counts how often each expression is compiled while something is done.
func compiled(t *testing.T, do func()) map[jsonlogic.Key]int {
	t.Helper()
	var mu sync.Mutex
	times := map[jsonlogic.Key]int{}
	stop := jsonlogic.Watch(func(n *pack.Node) {
		if n != nil {
			mu.Lock()
			times[jsonlogic.KeyOf(n)]++
			mu.Unlock()
		}
	})
	defer stop()
	do()
	return times
}

// conditionsOf returns the keys of the conditions of a pack and of what its overlays
// make of it.
func conditionsOf(t *testing.T, s *gate.Subject) map[jsonlogic.Key]bool {
	t.Helper()
	packs := []*pack.Pack{s.Pack}
	for _, o := range s.Unit.Overlays {
		view, err := overlay.ForCase(s.Unit, o.OverlayID.Value)
		if err != nil {
			t.Fatal(err)
		}
		packs = append(packs, view.Unit.Pack)
	}
	keys := map[jsonlogic.Key]bool{}
	for _, p := range packs {
		for _, c := range policy.New(p, nil).Conditions {
			keys[c.Key] = true
		}
	}
	return keys
}

// A run compiles each distinct condition of a pack once, for its gates, its golden
// cases, its overlays and environments, its proofs and its report; and so does the
// comparison of all that with the version before it, for both versions.
func TestConditionsAreCompiledOnce(t *testing.T) {
	base, s := gatetest.ExampleEdited(t, "support", gateLimit+"5000")
	keys := conditionsOf(t, s)
	if len(s.Unit.Overlays) == 0 || len(s.Unit.Cases) == 0 || len(keys) < 4 {
		t.Fatalf("the example has %d overlays, %d cases and %d conditions", len(s.Unit.Overlays), len(s.Unit.Cases), len(keys))
	}
	times := compiled(t, func() {
		build.NewPack(s, gates.Run(s, gates.Policy{}, gates.Outside{}), build.Comparison{}, nil)
	})
	for key := range keys {
		if times[key] != 1 {
			t.Errorf("a condition of the pack is compiled %d times", times[key])
		}
	}
	again := compiled(t, func() {
		compiles.Compare(t.Context(), base, s.Unit, s.Golden(), nil)
		compiler.For(s.Policy().Beside(base))
	})
	for _, c := range policy.New(base, nil).Conditions {
		if want := map[bool]int{false: 1}[keys[c.Key]]; again[c.Key] != want {
			t.Errorf("a condition of the base is compiled %d times, wanted %d", again[c.Key], want)
		}
	}
}
