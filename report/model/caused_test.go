package model_test

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
)

// A finding follows from one that is there, counts and stands for itself, or from changes that
// are there; a report that says otherwise is refused, for it would hide the finding.
func TestACauseIsThere(t *testing.T) {
	first, second, third := strings.Repeat("0", 32), strings.Repeat("1", 32), strings.Repeat("2", 32)
	of := func(fingerprint string) *model.FollowsFrom { return &model.FollowsFrom{Finding: fingerprint} }
	from := func(changes ...string) *model.FollowsFrom { return &model.FollowsFrom{Changes: changes} }
	cases := map[string]struct {
		causes [3]*model.FollowsFrom // of each finding
		waived bool                  // the first one is
		wrong  bool
	}{
		"another finding":           {causes: [3]*model.FollowsFrom{nil, of(first), of(first)}},
		"a change":                  {causes: [3]*model.FollowsFrom{nil, from("c1"), from("c1", "c2")}},
		"no finding":                {causes: [3]*model.FollowsFrom{nil, of(strings.Repeat("f", 32)), nil}, wrong: true},
		"itself":                    {causes: [3]*model.FollowsFrom{nil, of(second), nil}, wrong: true},
		"each other":                {causes: [3]*model.FollowsFrom{nil, of(third), of(second)}, wrong: true},
		"a consequence":             {causes: [3]*model.FollowsFrom{nil, of(first), of(second)}, wrong: true},
		"nothing":                   {causes: [3]*model.FollowsFrom{nil, {}, nil}, wrong: true},
		"a change that is not":      {causes: [3]*model.FollowsFrom{nil, from("c1", "c3"), nil}, wrong: true},
		"a finding that is excused": {causes: [3]*model.FollowsFrom{nil, of(first), nil}, waived: true, wrong: true},
		"being excused itself":      {causes: [3]*model.FollowsFrom{of(second), nil, nil}, waived: true, wrong: true},
	}
	for name, c := range cases {
		p := halfChecked()
		p.Diff = &model.Diff{Base: "ctxpack.a@1.0.0", Head: "ctxpack.a@1.1.0", Class: "minor", Declared: "minor", Layers: []model.Layer{{
			Layer: "pack_meta", Class: "minor", Changes: []model.Change{
				{Path: "/a", Pointer: "/a", Kind: "added", Row: "r", Class: "minor", File: "a/pack.json", Fingerprint: "c1"},
				{Path: "/b", Pointer: "/b", Kind: "added", Row: "r", Class: "minor", File: "a/pack.json", Fingerprint: "c2"},
			},
		}}}
		for i, cause := range c.causes {
			p.Findings[i].Cause = cause
		}
		if c.waived {
			p.Findings[0].Waived = &model.Waived{Reason: "r", Owner: "o", Expires: "2027-01-01"}
			p.Gates[0].Status, p.Gates[0].Warnings = "pass", 0
		}
		if err := readBack(t, p); (err != nil) != c.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := halfChecked()
	p.Findings[1].Cause, p.Findings[2].Cause = of(first), of(first)
	if list := p.Consequences(first); len(list) != 2 || len(p.Consequences(second)) != 0 {
		t.Errorf("what follows from the first one is %+v", list)
	}
}
