package model_test

import (
	"encoding/json"
	"testing"

	"github.com/contextosai/packgate/report/model"
)

// A page has a bounded number of playgrounds, those of packs that changed or fail.
func TestKeepPlayground(t *testing.T) {
	ready := func() *model.Playground { return &model.Playground{Source: json.RawMessage("{}")} }
	kept := 0
	for i := range model.MaxPlaygrounds + 5 {
		p := model.Pack{Playground: ready()}
		if kept = p.KeepPlayground(kept); (p.Playground.Source != nil) != (i < model.MaxPlaygrounds) || p.Playground.Source == nil && p.Playground.Reason == "" {
			t.Errorf("pack %d has %+v", i, p.Playground)
		}
	}
	for _, c := range []struct {
		class  string
		result model.Result
		want   bool
	}{{"none", model.Passed, false}, {"none", model.Failed, true}, {"minor", model.Passed, true}} {
		p := model.Pack{Playground: ready(), Result: c.result, Diff: &model.Diff{Class: c.class}}
		if got := p.KeepPlayground(0); (got == 1) != c.want || (p.Playground.Source != nil) != c.want {
			t.Errorf("of a pack of class %s that has %s, %d are kept", c.class, c.result, got)
		}
	}
}
