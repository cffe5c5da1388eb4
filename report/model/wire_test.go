package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// written are reports of each kind, as reports that were stored are.
func written() []*model.Report {
	all := []*model.Report{reporttest.Run(model.Passed, reporttest.Bound(), reporttest.Other(reporttest.Bound(), "b"))}
	for _, s := range reporttest.Samples() {
		all = append(all, reporttest.Settled(s.Report))
	}
	return all
}

// sorted returns a document with its members sorted.
func sorted(t *testing.T, src string) string {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(src), &tree); err != nil {
		t.Fatal(err)
	}
	return pack.CompactJSON(tree)
}

// A pack that is written and read is the same pack, and what version 1 says of it gives it too.
func TestWrittenIsRead(t *testing.T) {
	rows := 0
	for _, r := range written() {
		src := reporttest.JsonOf(t, r)
		for _, from := range []string{src, reporttest.Version1(t, src)} {
			got, err := model.Read(strings.NewReader(from))
			if err != nil {
				t.Fatal(err)
			}
			if again := reporttest.JsonOf(t, got); from == src && again != src || sorted(t, again) != sorted(t, src) {
				t.Errorf("%s\nis read as\n%s", from, again)
			}
			for i, p := range r.Packs.All() {
				rows += len(p.ToolSurface)
				if is := got.Packs.At(i); !reflect.DeepEqual(is.Graph, p.Graph) || pack.CompactJSON(is.ToolSurface) != pack.CompactJSON(p.ToolSurface) {
					t.Errorf("pack %d has the graph %+v and the rows %+v", i, is.Graph, is.ToolSurface)
				}
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows were read", rows)
	}
}

// What rows have in common is written once, and which rows there is none of stays so.
func TestRequestsAreWrittenOnce(t *testing.T) {
	p := reporttest.Bound()
	src := pack.CompactJSON(p)
	if n := strings.Count(src, `"refund_amount":3000`); n != 1 {
		t.Errorf("a request that two rows have is written %d times in\n%s", n, src)
	}
	for _, words := range []string{
		`["rule","R_A",12,"support.refund"]`, `["decision","<gone> #\u0023[x]",0,"","missing"]`, `["gate","GATE",40]`, `["tool","a.b"]`, `["evidence","",0,"where?"]`,
		`["evidence","e",7,"","missing"]`, `[[0,1,"binds","broken"],[5,0,"gates"],[3,3,"permits"]]`,
	} {
		if !strings.Contains(src, words) {
			t.Errorf("there is no %s in\n%s", words, src)
		}
	}
	var back model.Pack
	if err := json.Unmarshal([]byte(src), &back); err != nil || pack.CompactJSON(back.ToolSurface) != pack.CompactJSON(p.ToolSurface) || pack.CompactJSON(back) != src {
		t.Errorf("%v: the rows are %+v", err, back.ToolSurface)
	}
	for i, row := range back.ToolSurface {
		if (row.Ungated == nil) != (p.ToolSurface[i].Ungated == nil) || row.Bounds == nil {
			t.Errorf("row %d is %+v", i, row)
		}
	}
	p.ToolSurface[0].Ungated = map[string]any{"x": func() {}}
	if _, err := json.Marshal(p); err == nil {
		t.Error("a request that JSON does not have is written")
	}
}

// References that lead nowhere are refused, in each version, and whether or not the schema was asked.
func TestReferencesThatLeadNowhere(t *testing.T) {
	good := reporttest.JsonOf(t, reporttest.Run(model.Passed, reporttest.Bound()))
	for _, c := range []struct{ from, to, says string }{
		{`"ungated":0`, `"ungated":4`, "row 0 of its tool surface names request 4, and it has 4 requests"},
		{`"ungated":0`, `"ungated":-1`, "must be at least 0, not -1"},
		{`"ungated":0`, `"ungated":1e300`, "cannot unmarshal"},
		{`"ungated":0`, `"ungated":99999999999999999999`, "cannot unmarshal"},
		{`"ungated":0`, `"ungated":0.5`, "must be a whole number"},
		{`"ungated":0`, `"ungated":{}`, "must be a whole number, not an object"},
		{`"ungated":3`, `"ungated":2`, "no row of its tool surface names request 3"},
		{`"requests":[`, `"requests":[{},`, "no row of its tool surface names request 4"},
		{`"requests":[`, `"requests":[null,`, "must be an object, not null"},
		{`"requests":[`, `"asked":[`, `unknown member "asked"`},
		{`[5,0,"gates"]`, `[6,0,"gates"]`, "edge 1 of its graph leads from node 6 to node 0, and it has 6 nodes"},
		{`[5,0,"gates"]`, `[5,-1,"gates"]`, "must be at least 0, not -1"},
		{`[5,0,"gates"]`, `[5,1e99,"gates"]`, "cannot unmarshal"},
		{`[5,0,"gates"]`, `[5,0]`, "must have at least 3 items"},
		{`[5,0,"gates"]`, `[5,0,"gates","broken",1]`, "must have at most 4 items"},
		{`[5,0,"gates"]`, `{"from":"n1","to":"n2","kind":"gates"}`, "must be an array, not an object"},
		{`["gate","GATE",40]`, `["gate"]`, "must have at least 2 items"},
		{`["gate","GATE",40]`, `["gate",null]`, "must be a string, not null"},
		{`["gate","GATE",40]`, `{"id":"n1","kind":"gate","label":"GATE"}`, "must be an array, not an object"},
		{`"version": 2`, `"version": 1`, "its version is 1, and it has a pack that is of another version"},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("there is no %s in\n%s", c.from, good)
		}
		src := strings.Replace(good, c.from, c.to, 1)
		if _, err := model.Read(strings.NewReader(src)); !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, wanted %s", c.to, err, c.says)
		}
	}
	for _, src := range []string{`[1,2]`, `[1,2,null]`, `[1,2,"gates","torn"]`, `[1,2,"gates","broken",1]`, `{}`, `[1,"2","gates"]`} {
		if err := json.Unmarshal([]byte(src), &model.GraphEdge{}); err == nil {
			t.Errorf("the edge %s is read", src)
		}
	}
}

// A small text does not become any number of large packs: rows count as if each had its own request.
func TestRowsAreBounded(t *testing.T) {
	const large, rows = 1 << 20, 80
	p := reporttest.Clean(model.Passed)
	request := map[string]any{"request": map[string]any{"note": strings.Repeat("x", large)}}
	for i := range rows {
		p.ToolSurface = append(p.ToolSurface, model.SurfaceRow{Intent: "i", Capability: fmt.Sprintf("a.c%d", i), ApprovalMode: "network", Gates: []string{}, SafetyMode: "network", Ungated: request})
	}
	for n, says := range map[int]string{rows: "have more than 67108864 bytes", 60: ""} {
		p.ToolSurface = p.ToolSurface[:n]
		src := reporttest.JsonOf(t, reporttest.Run(model.Passed, p))
		if len(src) > 2*large {
			t.Fatalf("it is written in %d bytes", len(src))
		}
		_, err := model.Read(strings.NewReader(src))
		if says == "" && err != nil || says != "" && (!errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%d rows: %v, wanted %s", n, err, says)
		}
		p.ToolSurface = p.ToolSurface[:cap(p.ToolSurface)]
	}
}

// Of a hostile document of either version, what is read is read again as it is written.
func FuzzRead(f *testing.F) {
	for _, r := range written() {
		if src := reporttest.JsonOf(f, r); len(src) < 1<<14 {
			f.Add(src)
			f.Add(reporttest.Version1(f, src))
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		r, err := model.Read(strings.NewReader(src))
		if err != nil {
			return
		}
		again := reporttest.JsonOf(t, r)
		if back, err := model.Read(strings.NewReader(again)); err != nil || reporttest.JsonOf(t, back) != again {
			t.Errorf("%v: what was read is written as\n%s", err, again)
		}
	})
}
