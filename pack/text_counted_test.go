package pack

import "testing"

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{{0, "error", "0 errors"}, {1, "entry", "1 entry"}, {2, "entry", "2 entries"}, {2, "day", "2 days"}, {3, "new finding", "3 new findings"}, {2, "y", "2 ys"}} {
		if got := Counted(c.n, c.noun); got != c.want {
			t.Errorf("%d of %q is %q, wanted %q", c.n, c.noun, got, c.want)
		}
	}
}
