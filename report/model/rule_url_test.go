package model_test

import (
	"testing"

	"github.com/contextosai/packgate/report/model"
)

func TestRuleURL(t *testing.T) {
	if got, want := model.RuleURL("RPL002"), "https://contextosai.github.io/packgate/rules/RPL002"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !model.WebURL(model.RuleURL("SCH001")) {
		t.Error("the address of a rule's page is no address that a report links")
	}
	for _, id := range []string{"", "rpl002", "RPL02", "RPL0022", "RPL002\n", "../RPL002", "RPL002)", "RPL002 snapshot-drift", "ŘPL002", "RPL٠٠٢"} {
		if got := model.RuleURL(id); got != "" {
			t.Errorf("%q leads to %s", id, got)
		}
	}
}
