package refresh_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing/refresh"
)

// A state differs from itself in nothing.
func TestNothingAgainstItself(t *testing.T) {
	for _, s := range steps(t) {
		for _, f := range []files{s.base, s.head} {
			if found := triggers(t, f, f); len(found) > 0 {
				t.Errorf("%s: a state against itself has %q", s.about, found)
			}
		}
	}
}

// The order in which packs and environments are given does not show, and neither
// does that of a map.
func TestOrderDoesNotShow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range steps(t) {
		base, head := s.base.state(t), s.head.state(t)
		want := refresh.Triggers(base, head)
		for range 5 {
			for _, side := range []refresh.State{base, head} {
				random.Shuffle(len(side.Packs), func(i, j int) { side.Packs[i], side.Packs[j] = side.Packs[j], side.Packs[i] })
				random.Shuffle(len(side.Environments), func(i, j int) {
					side.Environments[i], side.Environments[j] = side.Environments[j], side.Environments[i]
				})
			}
			if got := refresh.Triggers(base, head); !slices.Equal(got, want) {
				t.Errorf("%s: in another order the triggers are %v, not %v", s.about, got, want)
			}
		}
	}
}

// What changed around packs that are the same on both sides concerns the same
// packs in the same ways, whichever side is the head.
func TestBothWays(t *testing.T) {
	about := func(base, head files) []string {
		var lines []string
		for _, x := range refresh.Triggers(base.state(t), head.state(t)) {
			lines = append(lines, x.Pack+" "+string(x.Kind))
		}
		slices.Sort(lines)
		return slices.Compact(lines)
	}
	looked := 0
	for _, s := range steps(t) {
		if !maps.EqualFunc(packs(s.base), packs(s.head), slices.Equal[[]byte]) {
			continue
		}
		looked++
		if there, back := about(s.base, s.head), about(s.head, s.base); !slices.Equal(there, back) {
			t.Errorf("%s: there it concerns %q, and back %q", s.about, there, back)
		}
	}
	if looked < 20 {
		t.Errorf("only %d steps leave the packs as they are", looked)
	}
}

func packs(f files) files {
	g := maps.Clone(f)
	maps.DeleteFunc(g, func(name string, _ []byte) bool { return !strings.HasSuffix(name, "/pack.json") })
	return g
}

// The steps show every kind, and triggers in every kind name a pack of the head,
// a place and what changed there.
func TestKinds(t *testing.T) {
	seen := map[refresh.Kind]bool{}
	for _, s := range steps(t) {
		for _, x := range refresh.Triggers(s.base.state(t), s.head.state(t)) {
			seen[x.Kind] = true
			if x.What == "" || x.File == "" || s.head[x.Pack] == nil {
				t.Errorf("%s: a trigger lacks words, a place or a pack: %+v", s.about, x)
			}
		}
	}
	for _, kind := range refresh.Kinds() {
		if !seen[kind] {
			t.Errorf("no step shows %s", kind)
		}
	}
	if len(seen) != len(refresh.Kinds()) {
		t.Errorf("there are kinds that Kinds does not list: %v", seen)
	}
}

// Without a config, catalogs and packs there is nothing to say.
func TestEmpty(t *testing.T) {
	full := repository(t).state(t)
	for _, s := range [][2]refresh.State{{}, {full, {}}, {{}, full}} {
		if found := refresh.Triggers(s[0], s[1]); len(found) > 0 {
			t.Errorf("triggers of packs that one side does not have: %v", found)
		}
	}
}

// The names in JSON are those of a report.
func TestJSON(t *testing.T) {
	got, err := json.Marshal(refresh.Trigger{Pack: "p", Kind: refresh.Ontology, What: "w", File: "f", Path: "/x"})
	const want = `{"pack":"p","kind":"ONTOLOGY_UPDATED","what":"w","file":"f","path":"/x"}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v, wanted %s", got, err, want)
	}
}
