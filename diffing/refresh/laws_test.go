package refresh_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
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

// later returns two states in which the packs that both files have byte for byte are read once somebody asks, and how
// many of them there are. Read counts those that were.
func later(t *testing.T, base, head files, read *int) (from, to refresh.State, same int) {
	from, to = base.state(t), head.state(t)
	for i := range to.Packs {
		p := &to.Packs[i]
		at := slices.IndexFunc(from.Packs, func(q refresh.Pack) bool { return q.Name == p.Name })
		if at < 0 || !bytes.Equal(base[p.Name], head[p.Name]) {
			continue
		}
		id, version, _ := strings.Cut(p.Ref(), "@")
		p.Facts = refresh.FactsLater(refresh.Unread{ID: id, Version: version,
			Source: func() []byte { return head[p.Name] },
			Read: func() *pack.Pack {
				*read++
				return pack.New(document(t, p.Name, head[p.Name]).Document())
			},
		})
		same++
		from.Packs[at].Facts = p.Facts
	}
	return from, to, same
}

// What packs say that are the same on both sides is the same whenever they are read.
func TestReadLater(t *testing.T) {
	var read, same int
	for _, s := range steps(t) {
		base, head, n := later(t, s.base, s.head, &read)
		same += n
		if got, want := refresh.Triggers(base, head), refresh.Triggers(s.base.state(t), s.head.state(t)); !slices.Equal(got, want) {
			t.Errorf("%s: read later, the triggers are %v, not %v", s.about, got, want)
		}
		if got, want := refresh.Gone(base, head), refresh.Gone(s.base.state(t), s.head.state(t)); len(got) != len(want) {
			t.Errorf("%s: read later, %d packs are gone, not %d", s.about, len(got), len(want))
		}
	}
	if read == 0 || read >= same {
		t.Errorf("%d of %d packs were read", read, same)
	}
}

// A pack that names nothing of what changed is not read. One that may name it in another way of writing is.
func TestReadWhatMayDefine(t *testing.T) {
	r := repository(t)
	step := func(r files, name string, operations ...finding.Operation) (read int, found []refresh.Trigger) {
		base, head, _ := later(t, r, r.with(t, name, operations...), &read)
		return read, refresh.Triggers(base, head)
	}
	limit := replace("/policy_layer/policy_bundles/POLICY_RETURNS_V4/priority", `5`)
	if read, found := step(r, support, replace("/pack_meta/pack_version", `"9.0.0"`)); read != 0 || len(found) > 0 {
		t.Errorf("%d packs were read for another version: %v", read, found)
	}
	if read, found := step(r, support, limit); read != 1 || len(found) != 1 || found[0].Pack != sales {
		t.Errorf("%d packs were read for a bundle that one of them shares: %v", read, found)
	}
	for _, way := range []string{`"\u0050OLICY_RETURNS_V4"`, `"POLICY_RETURNS_V\u0034"`} {
		escaped := r.put(sales, bytes.ReplaceAll(r[sales], []byte(`"POLICY_RETURNS_V4"`), []byte(way)))
		if read, found := step(escaped, support, limit); read != 1 || len(found) != 1 || found[0].Pack != sales {
			t.Errorf("%d packs were read for a bundle that is %s: %v", read, way, found)
		}
	}
	odd := replace("/policy_layer/policy_bundles/POLICY_RETURNS_V4/bundle_id", `"POLICY \"A/B\""`)
	both := r.with(t, support, odd).with(t, sales, odd)
	both[sales] = bytes.ReplaceAll(both[sales], []byte(`A/B`), []byte(`A\/B`))
	if read, found := step(both, support, replace(`/policy_layer/policy_bundles/POLICY "A~1B"/priority`, `5`)); read == 0 || len(found) != 1 || found[0].Pack != sales {
		t.Errorf("%d packs were read for a bundle whose name has to be escaped: %v", read, found)
	}
}
