package flips

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// finder is one search.
type finder struct {
	Result
	pair
	variables []string // that conditions of either version read, sorted
	found     map[key]*candidate
	cases     map[key][]string
	seen      map[string]bool // the requests that were run, as JSON
	shrinking int             // requests spent on making others small
	memo      *memo
}

// origin says where a request comes from, or the one that it was varied from.
type origin uint8

const (
	fromCase origin = iota
	fromProof
	fromNothing
)

// candidate is a request that flips.
type candidate struct {
	data     map[string]any
	origin   origin
	name     string // of the golden case
	at       string // the variable that was varied, "" for none
	value    any
	missing  bool // it was taken away
	old, new State
	overlay  string
	pair     pair // the versions that it flips between
	whole    bool // it flips as a case only, and cannot be made smaller
	leaves   int
	written  string // as JSON
}

// from words where the request comes from.
func (c *candidate) from() string {
	switch {
	case c.at != "" && c.missing:
		return "boundary " + c.at + " missing"
	case c.at != "":
		return fmt.Sprintf("boundary %s = %s", c.at, pack.CompactJSON(c.value))
	case c.origin == fromCase:
		return "golden case " + c.name
	case c.origin == fromProof:
		return "proof"
	}
	return "empty request"
}

// compare orders requests by their size.
func (c *candidate) compare(other *candidate) int {
	return cmp.Or(
		cmp.Compare(c.leaves, other.leaves), cmp.Compare(len(c.written), len(other.written)),
		strings.Compare(c.written, other.written),
	)
}

// measure notes the size of a request.
func (c *candidate) measure() {
	c.leaves, c.written = leaves(c.data), pack.CompactJSON(c.data)
}

// leaves counts the values of a request.
func leaves(data any) int {
	n := 0
	switch v := data.(type) {
	case map[string]any:
		for _, value := range v {
			n += leaves(value)
		}
		return n
	case []any:
		for _, value := range v {
			n += leaves(value)
		}
		return n + 1
	}
	return 1
}

// try runs a request and keeps it for the flips of which it is the smallest one. It
// reports whether it was run, now or before.
func (f *finder) try(c candidate) bool {
	c.pair = f.pair
	c.measure()
	f.memo.budget.Spend(stepsPerLeaf * c.leaves)
	if f.seen[c.written] {
		return true
	}
	flips, done := f.memo.run(f.pair, c.data)
	if done {
		f.seen[c.written] = true
		f.Requests++
		f.keep(c, flips)
	}
	return done
}

// keep keeps a request that flips.
func (f *finder) keep(c candidate, flips []flip) {
	for _, x := range flips {
		k := keyOf(c.data, x)
		mine := c
		mine.old, mine.new = x.old, x.new
		if have := f.found[k]; have == nil || mine.compare(have) < 0 {
			f.found[k] = &mine
		}
	}
}

func keyOf(data map[string]any, x flip) key {
	return key{item: x.item, intent: intentOf(data), old: x.old.String(), new: x.new.String()}
}

func intentOf(data map[string]any) string {
	intent, _ := jsonlogic.Lookup(data, "request.intent")
	text, _ := intent.(string)
	return text
}

// golden runs the golden cases that have no overlay, and returns what conditions
// read of them. It says which cases cannot be run at all.
func (f *finder) golden(cases []compiles.Case) []candidate {
	var bases []candidate
	for i := range cases {
		switch c := &cases[i]; {
		case c.Base.Result == nil || c.Head.Result == nil:
			f.NotChecked = append(f.NotChecked, fmt.Sprintf("golden case %q was not run: %s", c.Name, cmp.Or(c.Base.Reason, c.Head.Reason)))
		case c.Overlay == "":
			bases = append(bases, f.goldenCase(c, f.pair))
		}
	}
	return bases
}

// overlaid runs the golden cases that have an overlay. They show flips only that
// are not there without it.
func (f *finder) overlaid(cases []compiles.Case) {
	plain := maps.Clone(f.found)
	for i := range cases {
		if c := &cases[i]; c.Overlay != "" && c.Base.Result != nil && c.Head.Result != nil {
			f.goldenCase(c, pair{c.Base.Program, c.Head.Program})
		}
	}
	maps.Copy(f.found, plain)
}

// goldenCase looks at the compiles of a case. The request that is shown is what
// conditions read of the case; where that alone does not flip, because something
// else of the case counts, it is all of it.
func (f *finder) goldenCase(c *compiles.Case, p pair) candidate {
	f.Requests++
	all := c.Request.Data()
	small := candidate{
		data: f.read(all), origin: fromCase, name: c.Name, overlay: c.Overlay, pair: p,
	}
	small.measure()
	flips := flipsOf(standingOf(c.Base.Result), standingOf(c.Head.Result))
	if len(flips) == 0 {
		return small
	}
	again, _ := f.memo.run(p, small.data)
	whole := small
	whole.data, whole.whole = all, true
	whole.measure()
	for _, x := range flips {
		k := keyOf(all, x)
		f.cases[k] = append(f.cases[k], c.Name)
		if slices.ContainsFunc(again, func(y flip) bool { return keyOf(small.data, y) == k }) {
			f.keep(small, []flip{x})
		} else {
			f.keep(whole, []flip{x})
		}
	}
	return small
}

// read returns what conditions read of a request, with its intent and safety mode.
func (f *finder) read(data map[string]any) map[string]any {
	out := map[string]any{}
	for _, path := range append([]string{"request.intent", "safety_mode"}, f.variables...) {
		segments := strings.Split(path, ".")
		for n := range segments {
			// A path may lead into a list or a text: then all of that is kept.
			value, there := jsonlogic.Lookup(data, strings.Join(segments[:n+1], "."))
			if _, object := value.(map[string]any); there && (!object || n == len(segments)-1) {
				out = jsonlogic.Set(out, segments[:n+1], value)
				break
			}
		}
	}
	return out
}

// proofs runs the requests that the comparison of effects found, and returns them.
func (f *finder) proofs(effects []proof.Change) []candidate {
	var bases []candidate
	for _, e := range effects {
		for _, w := range []map[string]any{e.Gained, e.Lost} {
			if w == nil || len(bases) >= mostRequests {
				continue
			}
			c := candidate{data: jsonlogic.Set(jsonlogic.Unset(w, []string{proof.CallMember}), []string{"request", "intent"}, e.Intent), origin: fromProof}
			c.measure()
			if !f.seen[c.written] {
				bases = append(bases, c)
			}
			f.try(c)
		}
	}
	return bases
}

// boundaries varies requests around the thresholds that changed.
func (f *finder) boundaries(changed *changed, bases []candidate) {
	skipped, before := 0, f.Requests
	most := f.Requests + mostRequests
	for _, intent := range changed.intents {
		own := basesOf(intent, bases)
		for _, t := range changed.thresholds(intent) {
			values, beyondBound := t.values()
			if beyondBound > 0 {
				f.NotChecked = append(f.NotChecked, fmt.Sprintf("%d constants of %s were not looked at, only the first %d are", beyondBound, t.path, mostConstants))
			}
			for _, b := range own {
				for _, c := range t.vary(b, values) {
					if f.Requests >= most || !f.try(c) {
						skipped++
					}
				}
			}
		}
	}
	if skipped > 0 {
		f.NotChecked = append(f.NotChecked, fmt.Sprintf("%d requests around changed thresholds were not run, only the first %d were", skipped, f.Requests-before))
	}
}

// basesOf returns the requests of an intent that are varied, each once, and the
// empty one.
func basesOf(intent string, bases []candidate) []candidate {
	own := []candidate{{data: map[string]any{"request": map[string]any{"intent": intent}}, origin: fromNothing}}
	known := map[string]bool{}
	for _, b := range bases {
		if intentOf(b.data) == intent && !known[b.written] {
			known[b.written] = true
			own = append(own, b)
		}
	}
	return own
}

// shrink takes away of a request what its flip does not need.
func (f *finder) shrink(k key, c *candidate) {
	if c.whole {
		return
	}
	for path := range jsonlogic.Leaves(c.data) {
		if strings.Join(path, ".") == "request.intent" {
			continue
		}
		if f.shrinking++; f.shrinking > mostRequests || f.memo.budget.Err() != nil {
			return
		}
		less := jsonlogic.Unset(c.data, path)
		f.memo.budget.Spend(stepsPerLeaf * c.leaves)
		flips, _ := f.memo.run(c.pair, less)
		if slices.ContainsFunc(flips, func(x flip) bool { return keyOf(less, x) == k }) {
			c.data = less
			if strings.Join(path, ".") == c.at { // the flip is not about it
				c.at = ""
			}
		}
	}
}
