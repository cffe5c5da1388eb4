package gating

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/completion"
	"github.com/contextosai/packgate/test/randompack"
)

// permitted is what a compile permits: decisions and tools, with the gates that hold
// each of them, and the values of arguments that are let through.
type permitted struct {
	stopped bool
	above   map[string]bool // what may do more than read
	gates   map[string][]string
	lets    map[string]map[string]bool
	ranks   map[string]int
}

func permits(t *testing.T, p *pack.Pack, program *compiler.Program, intent string, data map[string]any) permitted {
	t.Helper()
	result, err := program.Compile(proof.Request(p, data))
	if err != nil {
		t.Fatal(err)
	}
	is := permitted{result.Outcome == compiler.PolicyEvalError, map[string]bool{}, map[string][]string{}, map[string]map[string]bool{}, map[string]int{}}
	if result.Outcome != compiler.Compiled {
		return is
	}
	hold := func(id string, above bool) {
		is.above[id] = above
		is.gates[id] = []string{}
		for _, g := range result.Context.RuntimeControls.ApprovalGatesActive {
			if randompack.Related(p, intent, g, id) {
				is.gates[id] = append(is.gates[id], g)
			}
		}
	}
	for _, d := range result.Trace.Decisions {
		if d.State == compiler.DecisionAllowed {
			hold(d.Decision.DecisionKey.Value, pack.Mode(d.Decision.ApprovalMode) != pack.ReadOnly)
		}
	}
	for _, e := range result.Context.Manifests.ToolManifest {
		for _, name := range e.Capabilities {
			id := e.AdapterID + "." + name
			hold(id, e.CapabilityMetadata[name].Kind != "read")
			is.ranks[id] = pack.ApprovalMode(e.CapabilityMetadata[name].ApprovalMode).Rank()
			for _, arg := range randompack.ArgNames {
				is.lets[id+" "+arg] = randompack.Calls(e.Constraints[name][arg])
			}
		}
	}
	return is
}

// more says what above read_only is permitted more than was, "" for nothing.
func (is permitted) more(was permitted) string {
	for id, gates := range is.gates {
		before, there := was.gates[id]
		switch {
		case !is.above[id]:
		case !there:
			return id + " is there"
		case slices.ContainsFunc(before, func(g string) bool { return !slices.Contains(gates, g) }):
			return id + " is held by fewer gates"
		case is.ranks[id] > was.ranks[id]:
			return id + " has a higher mode"
		}
	}
	for name, lets := range is.lets {
		id, _, _ := strings.Cut(name, " ")
		if _, there := was.gates[id]; !there || !is.above[id] {
			continue
		}
		for value, let := range lets {
			if let && !was.lets[name][value] {
				return name + " may be " + value
			}
		}
	}
	return ""
}

// moreThanAny says what is permitted more than in some way in which a request that
// stopped may have been decided.
func moreThanAny(t *testing.T, is permitted, base *pack.Pack, intent string, data map[string]any) string {
	request := proof.Request(base, data)
	for _, p := range completion.Packs(t, base, intent, request.Data()) {
		if what := is.more(permits(t, p, compiler.Prepare(p), intent, data)); what != "" {
			return what
		}
	}
	return ""
}

// pairsOfLaw is how many pairs of packs the law is held against.
const pairsOfLaw = 2000

// Of random packs with one to four edits of any kind: where some request is permitted
// more above read_only, by compiling both versions for it, the class is major. And
// nothing that is shown beside a class contradicts it.
func TestClassIsNotBelowTheEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 100))
	count := map[diffing.Class]int{}
	for i := range pairsOfLaw {
		before := randompack.Random(r)
		after := before.Change(r)
		if r.IntN(2) == 0 {
			after = after.Change(r)
		}
		base, head := randompack.Read(t, before.String()), randompack.Read(t, strings.Replace(after.String(), `"1.0.0"`, `"1.0.1"`, 1))
		d, err := diffing.Compare(base, head, nil)
		if err != nil {
			t.Fatal(err)
		}
		class := d.Class
		count[class]++
		if i%10 == 0 {
			StepBetween(t.Context(), d, proof.New(head), nil)
			if err := d.Contradicted(); err != nil {
				t.Errorf("%d: %v\nbase %s\nhead %s", i, err, before, after)
			}
		}
		if class >= diffing.Major {
			continue
		}
		if what := grown(t, r, base, head, randompack.ModesOf(before, after)); what != "" {
			t.Errorf("%d: the class is %s, and %s\nbase %s\nhead %s", i, class, what, before, after)
		}
	}
	t.Log(count)
	if count[diffing.Major] < pairsOfLaw/10 || count[diffing.Major] > pairsOfLaw*9/10 {
		t.Errorf("classes %v", count)
	}
}

// grown says what some of the requests that tell packs apart are permitted more in
// head, "" for nothing.
func grown(t *testing.T, r *rand.Rand, base, head *pack.Pack, modes []string) string {
	b, h := compiler.Prepare(base), compiler.Prepare(head)
	for _, intent := range []string{"i.one", "i.two"} {
		requests := randompack.Grid(intent, modes)
		for range 60 {
			data := requests[r.IntN(len(requests))]
			was, is := permits(t, base, b, intent, data), permits(t, head, h, intent, data)
			what := is.more(was)
			if was.stopped {
				what = moreThanAny(t, is, base, intent, data)
			}
			if what != "" {
				return what + " for " + pack.CompactJSON(data)
			}
		}
	}
	return ""
}
