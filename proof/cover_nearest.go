package proof

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
)

// nearest returns a request of a cube that shows what is described and is next to the limit of the old
// version: 5001 and not 8000, if the limit was raised from 5000 to 8000.
func (d *description) nearest(cube jsonlogic.Cube, old *Model) map[string]any {
	witness := cube.Witness
	for _, t := range cube.Terms {
		at, _ := jsonlogic.Lookup(witness, t.Path)
		if _, isText := at.(string); isText && t.Values.Absent {
			if next := without(witness, t.Path); d.shows(cube, next) {
				witness = next // any other text says less than none
			}
		}
		now, isNumber := at.(float64)
		i := slices.IndexFunc(t.Values.Numbers, func(i jsonlogic.Interval) bool { return isNumber && i.Has(now) })
		if t.Path == "" || i < 0 {
			continue
		}
		to := func(f float64) map[string]any { return with(witness, t.Path, f) }
		if next := to(besideLimit(t.Values.Numbers[i], now, func(a, b float64) bool { return old.tells(to(a), to(b)) })); d.shows(cube, next) {
			witness = next
		}
	}
	return witness
}

// shows reports whether a request is one of the cube and shows what is described.
func (d *description) shows(cube jsonlogic.Cube, witness map[string]any) bool {
	data := Data(d.sides[0].Pack, witness)
	return jsonlogic.All(cube.Formula(), d.of).Holds(data) && d.confirm(witness)
}

// besideLimit returns the number of an interval that is next to its bound, a whole one if there is one.
// Of two bounds it is the one at which something differs.
func besideLimit(i jsonlogic.Interval, now float64, differs func(inside, outside float64) bool) float64 {
	low, high := math.Floor(i.Low)+1, math.Ceil(i.High)-1
	if i.WithLow {
		low = i.Low
	}
	if i.WithHigh {
		high = i.High
	}
	fits := func(f float64) bool { return !math.IsInf(f, 0) && i.Has(f) }
	below, above := i.Low, i.High // the first numbers outside
	if i.WithLow {
		below = math.Nextafter(low, math.Inf(-1))
	}
	if i.WithHigh {
		above = math.Nextafter(high, math.Inf(1))
	}
	switch {
	case fits(low) && (!fits(high) || differs(low, below) || !differs(high, above)):
		return low
	case fits(high):
		return high
	}
	return now
}

// tells reports whether a condition of the pack has different truths in two requests.
func (m *Model) tells(a, b map[string]any) bool {
	one, other := Data(m.Pack, a), Data(m.Pack, b)
	return slices.ContainsFunc(m.exprs(), func(x *jsonlogic.Expr) bool {
		return x.Eval(one).Truth != x.Eval(other).Truth
	})
}

// without returns a witness without a variable.
func without(witness map[string]any, path string) map[string]any {
	name, below, deeper := strings.Cut(path, ".")
	next := maps.Clone(witness)
	inner, isObject := next[name].(map[string]any)
	if !deeper || !isObject {
		delete(next, name)
		return next
	}
	rest := without(inner, below)
	if next[name] = rest; len(rest) == 0 {
		delete(next, name)
	}
	return next
}

// with returns a witness in which a variable has another value.
func with(witness map[string]any, path string, value any) map[string]any {
	names := strings.Split(path, ".")
	for _, name := range slices.Backward(names) {
		value = map[string]any{name: value}
	}
	return jsonlogic.Overlay(witness, value.(map[string]any))
}
