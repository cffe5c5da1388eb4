package render

import (
	"testing"

	"github.com/contextosai/packgate/report/model"
)

// A promotion is none of the packs that the headline counts.
func TestTallyWords(t *testing.T) {
	for _, c := range []struct {
		of   tally
		want string
	}{
		{tally{packs: 12}, "12 packs"},
		{tally{packs: 12, blocked: 3, larger: 2}, "3 of 12 packs are blocked; in 2 of them agents can do more"},
		{tally{packs: 2, waiting: 1, gone: 1}, "1 of 2 packs, 1 pack removed"},
		{tally{packs: 1, blocked: 1, repository: true}, "1 pack is blocked, and the repository has errors"},
		{tally{promotions: 2, blocked: 1}, "1 of 2 promotions is blocked"},
		{tally{promotions: 2, waiting: 2}, "2 of 2 promotions"},
		{tally{packs: 1, promotions: 1}, "1 pack and 1 promotion"},
		{tally{packs: 1, promotions: 1, blocked: 1, larger: 2}, "1 pack and 1 promotion, 1 of them blocked; in 2 of them agents can do more"},
		{tally{packs: 2, promotions: 3, waiting: 4}, "2 packs and 3 promotions"},
		{tally{}, "0 packs"},
	} {
		if got := c.of.words(); got != c.want {
			t.Errorf("%+v: %q, wanted %q", c.of, got, c.want)
		}
	}
}

// TestCautionsAreInOrder holds that of several packs the one in which agents can do more is said
// before the one of which that is not proved, however they are listed.
func TestCautionsAreInOrder(t *testing.T) {
	dangerous := func(does effect) *packRow {
		return &packRow{Row: model.Row{Effect: string(does), Dangerous: true}, is: cannotMerge, caution: func() sentence { return plain(string(does)) }}
	}
	box := (&builder{}).cautions([]*packRow{dangerous(notProved), {is: canMerge}, dangerous(moreAllowed)}, cannotMerge).(alert)
	if len(box.items) != 2 || box.items[0][0].text != string(moreAllowed) {
		t.Errorf("the cautions are %+v", box.items)
	}
}

// Of several first versions the tool that runs without approval is said above the list, as on the page of one alone.
func TestFirstVersionsAreTold(t *testing.T) {
	first := func(id string, tools ...model.SurfaceRow) model.Pack {
		return model.Pack{Pack: id + "@1.0.0", Path: id + ".json", Class: model.ClassInitial, Result: model.Passed, ToolSurface: tools, Gates: []model.Gate{{Status: "passed"}, {Status: "passed"}}}
	}
	request := map[string]any{"request": map[string]any{}}
	bad := first("ctxpack.bad", model.SurfaceRow{Intent: "i", Capability: "adp.pay", ApprovalMode: "destructive", Ungated: request})
	good := first("ctxpack.good", model.SurfaceRow{Intent: "i", Capability: "adp.read", ApprovalMode: "read_only", Ungated: request})
	gated := first("ctxpack.gated", model.SurfaceRow{Intent: "i", Capability: "adp.pay", ApprovalMode: "destructive", Gates: []string{"G"}})
	r := &model.Report{Result: model.Passed, Packs: model.PacksOf(good, bad, gated)}
	for i, wanted := range []bool{false, true, false} {
		if row := RowOf(r.Packs.At(i)); row.Dangerous != wanted {
			t.Errorf("%s: dangerous %t, wanted %t", row.Pack, row.Dangerous, wanted)
		}
	}
	b := &builder{report: r}
	box, ok := b.cautions(b.rows(r.Packs), canMerge).(alert)
	if !ok || len(box.items) != 1 || box.items[0][0].text != "ctxpack.bad" {
		t.Errorf("the cautions are %+v", box.items)
	}
}
