package model_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
)

func TestMissingShards(t *testing.T) {
	for _, c := range []struct {
		shards, missing, err string
	}{
		{"", "", ""},
		{"1/1", "", ""},
		{"2/3 1/3 3/3", "", ""},
		{"2/3", "1/3 3/3", ""},
		{"2/2 2/2", "", `two of them are of shard "2/2"`},
		{"1/2 1/3", "", `one is of shard "1/2" and another of shard "1/3"`},
		{"3/2", "", `one is of shard "3/2"`},
		{"0/2", "", `one is of shard "0/2"`},
		{"1/1000000000", "", `one is of shard "1/1000000000"`},
		{"x", "", `one is of shard "x"`},
	} {
		reports := []*model.Report{{}} // one that is of no shard says nothing of them
		for _, s := range strings.Fields(c.shards) {
			reports = append(reports, &model.Report{Shard: s})
		}
		got, err := model.MissingShards(reports)
		if strings.Join(got, " ") != c.missing || (err == nil) != (c.err == "") {
			t.Errorf("%q: missing are %q, %v", c.shards, got, err)
		}
		if err != nil && (!errors.Is(err, model.ErrNotOneRun) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v, wanted %s", c.shards, err, c.err)
		}
	}
}

// All shards but those that are there are missing, whichever these are.
func TestMissingShardsIsTheRest(t *testing.T) {
	const n = 5
	for set := 1; set < 1<<n; set++ {
		var reports []*model.Report
		var want []string
		for i := range n {
			if name := fmt.Sprintf("%d/%d", i+1, n); set&(1<<i) != 0 {
				reports = append(reports, &model.Report{Shard: name})
			} else {
				want = append(want, name)
			}
		}
		if got, err := model.MissingShards(reports); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("of %d: missing are %q, wanted %q, %v", len(reports), got, want, err)
		}
	}
}

func TestShardsMissing(t *testing.T) {
	var missing []string
	for i := range 20 {
		missing = append(missing, fmt.Sprintf("%d/20", i+1))
	}
	if got := model.ShardsMissing(missing).Message; !strings.Contains(got, `"12/20" and 8 more shards`) || strings.Contains(got, "13/20") {
		t.Error(got)
	}
}
