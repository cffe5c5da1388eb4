package proof

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/randompack"
)

// has reports whether a request is in one of the alternatives.
func (w *When) has(p *pack.Pack, data map[string]any) bool {
	read := Request(p, data).Data()
	return slices.ContainsFunc(w.Any, func(c jsonlogic.Cube) bool { return c.Formula().Holds(read) })
}

// says reports whether the condition says something of a variable.
func (w *When) says(path string) bool {
	return slices.ContainsFunc(w.Any, func(c jsonlogic.Cube) bool {
		return slices.ContainsFunc(c.Terms, func(t jsonlogic.Term) bool { return t.Path == path })
	})
}

// direction is one direction of a change, by its subject.
type direction struct {
	subject
	gained bool
}

// exact holds every condition against what brute force finds for each request of the grid.
func exact(t *testing.T, base, head *pack.Pack, changes []Change, modes []string, count map[string]int) {
	t.Helper()
	whens := map[direction]*When{}
	for _, c := range changes {
		about := subjectOf(c)
		for gained, w := range map[bool]*When{true: c.GainedWhen, false: c.LostWhen} {
			shown := c.Gained
			if !gained {
				shown = c.Lost
			}
			if (shown != nil) != (w != nil) {
				t.Fatalf("a condition without a request, or a request without: %s", describeChange(c))
			}
			if w != nil {
				whens[direction{about, gained}] = w
				tally(count, w)
			}
		}
	}
	v := sides{base, head, compiler.Prepare(base), compiler.Prepare(head)}
	for _, intent := range []string{"i.one", "i.two"} {
		for _, data := range randompack.Grid(intent, modes) {
			is := map[direction]bool{}
			compiled, unstopped := differences(t, v, intent, data, func(s subject, gained, lost bool) {
				is[direction{s, true}] = is[direction{s, true}] || gained
				is[direction{s, false}] = is[direction{s, false}] || lost
			})
			for d, w := range whens {
				if d.intent != intent || data["safety_mode"] != "destructive" && !w.says(safetyModePath) || w.NotProved != "" {
					continue
				}
				in := w.has(base, data)
				if d.gained && slices.Contains(unstopped, d.of) && d.kind <= Tool {
					is[d] = true
				}
				switch {
				case in && is[d]:
					count["in"]++
				case is[d] && !w.More:
					t.Fatalf("%v: not in it is %v\n%s", d, data, describeWhen(w))
				case in && compiled && d.kind != Bounds && d.kind != Mode:
					t.Fatalf("%v: in it is %v\n%s", d, data, describeWhen(w))
				}
			}
		}
	}
}

func tally(count map[string]int, w *When) {
	switch {
	case w.NotProved != "":
		count["not proved: "+w.NotProved]++
	case w.More:
		count["more"]++
	default:
		count["complete"]++
	}
	count["alternatives"] += len(w.Any)
}

// Of random pairs of packs, every condition has the requests of the grid for which brute force
// finds the change, and no others that are compiled.
func TestConditionsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 29))
	count := map[string]int{}
	for i := range 60 {
		before := randompack.Random(r)
		after := before.Change(r)
		if i >= 45 {
			before.Restrict(r)
			after.Eligible = before.Eligible
		}
		base, head := randompack.Read(t, before.String()), randompack.Read(t, after.String())
		changes := Describe(New(base), New(head), jsonlogic.Solver{})
		exact(t, base, head, changes, randompack.ModesOf(before, after), count)
		if t.Failed() {
			t.Fatalf("base %s\nhead %s", before, after)
		}
		if again := Describe(New(base), New(head), jsonlogic.Solver{}); fmt.Sprint(said(again)) != fmt.Sprint(said(changes)) {
			t.Fatalf("%d: %s, then %s", i, said(changes), said(again))
		}
		for k := range changes {
			changes[k].GainedWhen, changes[k].LostWhen = nil, nil
		}
		if plain := Compare(New(base), New(head), jsonlogic.Solver{}); !reflect.DeepEqual(plain, changes) {
			t.Fatalf("%d: %+v is described, and compared are %+v", i, changes, plain)
		}
	}
	t.Logf("%v", count)
	if count["complete"] < 80 || count["in"] < 1000 {
		t.Errorf("%v: the test has lost its power", count)
	}
}

func describeWhen(w *When) string { return fmt.Sprintf("%v, more %t, %s", w.Any, w.More, w.NotProved) }

// said returns what conditions say.
func said(changes []Change) (list []string) {
	for _, c := range changes {
		for _, w := range []*When{c.GainedWhen, c.LostWhen} {
			if w != nil {
				list = append(list, fmt.Sprintf("%v %t %s %s", w.Any, w.More, w.NotProved, pack.CompactJSON(w.Nearest)))
			}
		}
	}
	return list
}

// Of random packs, what is said of a row of the surface has the requests of the grid that are
// compiled with the tool, and with none of its gates active.
func TestRowsAreDescribedExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 31))
	count := map[string]int{}
	for range 60 {
		parts := randompack.Random(r)
		p := randompack.Read(t, parts.String())
		m := New(p)
		rows := Surface(m, jsonlogic.Solver{})
		all := m.DescribeRows(rows, jsonlogic.Solver{})
		program := compiler.Prepare(p)
		for i, row := range rows {
			tally(count, all[i].Available)
			tally(count, all[i].Open)
			for _, data := range randompack.Grid(row.Intent, randompack.ModesOf(parts)) {
				s := observe(t, program, p, data)
				there := s.there[row.Capability]
				open := there && !slices.ContainsFunc(row.Gates, func(id string) bool { return slices.Contains(s.gates, id) })
				for w, is := range map[*When]bool{all[i].Available: there, all[i].Open: open} {
					if all[i].Available == all[i].Open {
						is = there
					}
					if in := w.has(p, data); in != is && (s.ok || is) && w.NotProved == "" && (in || !w.More) {
						t.Fatalf("%s %s: %v is %t, and %s\n%s", row.Intent, row.Capability, data, is, describeWhen(w), parts)
					}
				}
			}
		}
	}
	t.Logf("%v", count)
	if count["complete"] < 200 {
		t.Errorf("%v: the test has lost its power", count)
	}
}
