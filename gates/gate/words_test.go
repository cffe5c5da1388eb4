package gate

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

func TestQuoteIsBounded(t *testing.T) {
	if got := []rune(Quote(strings.Repeat("ü", 10*MostShown))); len(got) != MostShown+3 {
		t.Errorf("%d characters are shown", len(got))
	}
	if whole := strings.Repeat("ü", MostShown); Quote(whole) != `"`+whole+`"` {
		t.Errorf("a text of %d characters is cut", MostShown)
	}
}

func TestCalled(t *testing.T) {
	long := pack.Text{Value: strings.Repeat("r", MostShown+1), OK: true}
	for got, want := range map[string]string{
		Called("rule", pack.Text{}):        "the rule",
		CalledBriefly("rule", pack.Text{}): "the rule",
		Called("rule", long):               `rule "` + long.Value + `"`,
		CalledBriefly("rule", long):        `rule "` + long.Value[:MostShown] + `…"`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A name may be compared until the budget is used up, and not once more.
func TestBudget(t *testing.T) {
	b := &Budget{left: 3}
	for _, want := range []string{"orders", ""} {
		if got := b.Nearest("order", []string{"orders", "payments"}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
