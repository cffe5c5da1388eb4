package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/reporttest"
)

// version1 are the reports of two shards with frames, as they were written in version 1 over the
// example repository.
func version1(t *testing.T) []string {
	var all []string
	for _, name := range []string{"shard-1.json", "shard-2.json"} {
		src, err := os.ReadFile(filepath.Join("testdata", "version1", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(src))
	}
	return all
}

// asTool is the program that wrote them.
var asTool = model.Tool{Name: "packgate", Version: "devel", RulesVersion: "0.2.0"}

func readStored(t *testing.T, src string, by model.Tool) *model.Report {
	t.Helper()
	r, err := stored(src, by).Read()
	if err != nil {
		t.Fatal(err)
	}
	r.Packs.RowOf = render.RowOf
	return r
}

// merged returns the JSON form of reports put together.
func merged(t *testing.T, reports ...*model.Report) string {
	t.Helper()
	all, err := model.Merge(reports)
	if err != nil {
		t.Fatal(err)
	}
	all.Summary = model.Summarise(all.Packs)
	return reporttest.JsonOf(t, all)
}

// Shards of version 1 are read by whoever reads them, and merged with others into version 2: nothing of
// them is copied.
func TestVersion1IsMerged(t *testing.T) {
	old := version1(t)
	var now []string // the same in version 2
	for _, src := range old {
		r := readStored(t, src, model.Tool{})
		packs := model.Packs{RowOf: render.RowOf}
		for _, p := range r.Packs.All() {
			packs.Add(*p)
		}
		r.Packs = packs
		now = append(now, reporttest.JsonOf(t, r))
	}
	if !strings.Contains(now[0], `"frame": {`) || strings.Contains(now[0], `"id":`) || !strings.Contains(now[0], `"requests":[`) {
		t.Fatalf("a shard of version 2 is\n%s", now[0])
	}
	want := merged(t, readStored(t, now[0], asTool), readStored(t, now[1], asTool))
	if !strings.Contains(want, `"version": 2`) || !strings.Contains(want, `"packs": 2`) || strings.Contains(want, `"id":`) {
		t.Fatalf("both together are\n%s", want)
	}
	for name, by := range map[string]model.Tool{"the same program": asTool, "another one": {Name: "packgate", Version: "v0.1.0"}} {
		for which, c := range map[string][2]string{"both old": {old[0], old[1]}, "the first old": {old[0], now[1]}, "the second old": {now[0], old[1]}} {
			if got := merged(t, readStored(t, c[0], by), readStored(t, c[1], by)); got != want {
				t.Errorf("%s, %s: merged it is\n%s\nwanted\n%s", name, which, got, want)
			}
		}
	}
	if got := merged(t, readStored(t, old[0], asTool), readStored(t, now[0], asTool), readStored(t, old[1], asTool)); got != want {
		t.Errorf("a pack that is there in both versions is two:\n%s", got)
	}
	piped, err := model.Read(strings.NewReader(old[0]))
	if err != nil || piped.Version != model.Version {
		t.Errorf("from a pipe it is %+v, %v", piped, err)
	}
}

// No byte of a framed report of version 1 can be another one either.
func TestVersion1HoldsEveryByte(t *testing.T) {
	src := version1(t)[1]
	for at := 0; at < len(src); at += 97 {
		for _, tool := range []model.Tool{asTool, {}} {
			changed := src[:at] + string(src[at]^1) + src[at+1:]
			if _, err := stored(changed, tool).Read(); !errors.Is(err, model.ErrNotAReport) {
				t.Fatalf("%q at byte %d is not refused: %v", changed[at], at, err)
			}
		}
	}
}

// The version may stand behind the packs, as in a document with sorted members; all of them have to be of it.
func TestVersionBehindPacks(t *testing.T) {
	src := reporttest.JsonOf(t, reporttest.Run(model.Passed, reporttest.Bound(), reporttest.Other(reporttest.Clean(model.Passed), "z")))
	old := reporttest.Version1(t, src) // sorted
	if strings.Index(old, `"version": 1`) < strings.Index(old, `"packs": [`) {
		t.Fatal("the version stands before the packs")
	}
	behind := strings.Replace(strings.Replace(src, `"version": 2,`, "", 1), `"summary": {`, `"version": 2, "summary": {`, 1)
	for _, c := range []struct{ src, says string }{
		{old, ""}, {behind, ""},
		{strings.Replace(old, `"version": 1`, `"version": 2`, 1), "its version is 2, and it has a pack that is of another version"},
		{strings.Replace(behind, `"version": 2`, `"version": 1`, 1), "its version is 1, and it has a pack that is of another version"},
	} {
		r, err := model.Read(strings.NewReader(c.src))
		if c.says == "" {
			if err != nil || reporttest.JsonOf(t, r) != src {
				t.Errorf("%v for\n%s", err, c.src)
			}
		} else if !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, wanted %s", err, c.says)
		}
	}
}

func TestVersion1Refuses(t *testing.T) {
	good := reporttest.Version1(t, reporttest.JsonOf(t, reporttest.Run(model.Passed, reporttest.Bound())))
	for _, c := range []struct{ from, to, says string }{
		{`"from": "n1"`, `"from": "n9"`, `an edge of a graph leads from "n9" to "n2", and there are no such two nodes`},
		{`"id": "n2"`, `"id": "n1"`, `two nodes of a graph have the id "n1"`},
		{`"id": "n2"`, `"name": "n2"`, `unknown field "name"`},
		{`"id": "n2"`, `"id": 2`, "cannot unmarshal"},
		{`"nodes": [`, `"knots": [`, "the nodes of a graph"},
		{`"edges": [`, `"edges": [[0,1,"binds"],`, "the edges of a graph"},
		{`"kind": "rule"`, `"kind": "ruler"`, "/packs/0/graph/nodes/0/0 must be one of"},
		{`"kind": "binds"`, `"kind": "bends"`, "/packs/0/graph/edges/0/2 must be one of"},
		{`"ungated": {}`, `"ungated": 0`, "it has a pack that is of another version"},
		{`"ungated": {}`, `"ungated": []`, "must be a whole number, not an array"},
		{`"tool_surface": [`, `"requests": [], "tool_surface": [`, "must be a whole number, not an object"},
		{`"tool_surface": [`, `"requests": [], "graphs": [`, `unknown member "graphs"`},
		{`"tool_surface": [`, `"tool_surface": [1,`, "must be an object, not a number"},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("there is no %s in\n%s", c.from, good)
		}
		_, err := model.Read(strings.NewReader(strings.Replace(good, c.from, c.to, 1)))
		if !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, wanted %s", c.to, err, c.says)
		}
	}
}
