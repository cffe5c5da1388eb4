package finding

import "testing"

// A gate has the worst of what there is against it.
func TestStatusIsTheWorst(t *testing.T) {
	there := Tally{Errors: 1, Missing: true, Undecided: true, Partial: true, Warnings: 1}
	for _, want := range []Status{Fail, NotRun, Undecided, Partial, Warn, Pass} {
		if got := there.Status(); got != want {
			t.Errorf("%+v is %s, want %s", there, got, want)
		}
		switch want {
		case Fail:
			there.Errors = 0
		case NotRun:
			there.Missing = false
		case Undecided:
			there.Undecided = false
		case Partial:
			there.Partial = false
		default:
			there.Warnings = 0
		}
	}
}

func TestParseInput(t *testing.T) {
	for _, kind := range Inputs() {
		if in, ok := ParseInput(string(kind)); !ok || in != (Input{Kind: kind}) {
			t.Errorf("%q is read as %+v, %v", kind, in, ok)
		}
	}
	if in, ok := ParseInput("catalog:eu:prod"); !ok || in != CatalogOf("eu:prod") {
		t.Errorf("read as %+v, %v", in, ok)
	}
	for _, text := range []string{"", "catalog:", ":prod", "scorecard:prod", "scorecards", "Registry", " registry"} {
		if in, ok := ParseInput(text); ok {
			t.Errorf("%q is read as %+v", text, in)
		}
	}
}

// A catalog serves what it is itself needed for, and what could be any.
func TestServes(t *testing.T) {
	prod, some := CatalogOf("prod"), CatalogOf("")
	for _, c := range []struct {
		in, needs Input
		want      bool
	}{
		{prod, prod, true}, {prod, some, true}, {some, some, true}, {some, prod, false}, {prod, CatalogOf("dev"), false},
		{Input{Kind: Scorecard}, Input{Kind: Scorecard}, true}, {Input{Kind: Scorecard}, Input{Kind: Baseline}, false},
		{Input{}, Input{}, false}, {prod, Input{}, false},
	} {
		if c.in.Serves(c.needs) != c.want {
			t.Errorf("%v serves %v: want %v", c.in, c.needs, c.want)
		}
	}
}
