package jsonlogic

// merge joins lists and single values into one list.
func (e *evaluation) merge(n *node, data any) any {
	merged := []any{}
	var open *unknown
	for _, arg := range n.args {
		switch t := e.eval(arg, data).(type) {
		case []any:
			if e.spend(len(t), 1); e.spent() {
				return e.exhausted(n)
			}
			merged = append(merged, t...)
		case *unknown:
			// It may be a list of any length.
			if open == nil {
				open = t
			}
		default:
			merged = append(merged, t)
		}
	}
	if open == nil {
		return merged
	}
	if len(merged) > 0 {
		return &unknown{truth: True, cause: open.cause}
	}
	return n.opaque(open)
}

// missing gives those keys whose variables are missing, null or "".
func (e *evaluation) missing(n *node, data any) any {
	if n.keys != nil {
		return e.missingKeys(n, n.keys, data)
	}
	values := e.operands(n, data)
	if list, ok := values[0].([]any); ok {
		values = list
	}
	return e.missingValues(n, values, data)
}

// missingSome gives the missing keys unless enough of them are there.
func (e *evaluation) missingSome(n *node, data any) any {
	need, u := e.number(n, 0, data)
	if u != nil {
		return u
	}
	total, absentKeys := len(n.keys), any(nil)
	if n.keys != nil {
		absentKeys = e.missingKeys(n, n.keys, data)
	} else {
		v, u := e.definite(n, 1, data)
		if u != nil {
			return u
		}
		list, ok := v.([]any)
		if !ok {
			return e.wants(n, 1, v, "a list of keys")
		}
		total, absentKeys = len(list), e.missingValues(n, list, data)
	}
	list, ok := absentKeys.([]any)
	if ok && float64(total-len(list)) >= need {
		return []any{}
	}
	return absentKeys
}

// missingValues is missingKeys for keys that an expression gave.
func (e *evaluation) missingValues(n *node, values []any, data any) any {
	e.spend(len(values), 1)
	keys := make([]key, 0, len(values))
	for _, v := range values {
		switch t := v.(type) {
		case string:
			keys = append(keys, key{value: t, path: parsePath(t)})
		case float64:
			keys = append(keys, key{value: t, path: parsePath(formatNumber(t))})
		case *unknown:
			return n.opaque(t)
		default:
			return n.undecided(-1, "a key is %s, wanted a string", kindOf(v))
		}
	}
	return e.missingKeys(n, keys, data)
}

func (e *evaluation) missingKeys(n *node, keys []key, data any) any {
	e.spend(len(keys), 1)
	absentKeys := []any{}
	for i := range keys {
		v, o := keys[i].path.lookup(data)
		if o == undefinable {
			return n.undecided(-1, "a key names something that is not JSON data")
		}
		if u, ok := v.(*unknown); ok {
			return n.opaque(u)
		}
		if v == nil || v == "" {
			absentKeys = append(absentKeys, keys[i].value)
		}
	}
	return absentKeys
}

// items evaluates the subject of an iterator. What is missing has no items; of
// anything but a list it is unknown what they would be.
func (e *evaluation) items(n *node, data any) ([]any, *unknown) {
	v, u := e.definite(n, 0, data)
	list, ok := v.([]any)
	if u == nil && v != nil && !ok {
		u = e.wants(n, 0, v, "a list")
	}
	return list, u
}

// iterate evaluates the operators that look at each item of a list by itself.
func (e *evaluation) iterate(n *node, data any) any {
	list, u := e.items(n, data)
	if u != nil {
		return u
	}
	switch n.op {
	case opMap:
		return e.mapped(n, list)
	case opFilter:
		return e.filtered(n, list)
	case opAll:
		// Not even everything is true of nothing, in JsonLogic.
		if len(list) == 0 {
			return false
		}
		return e.quantified(n, list, False, false)
	case opNone:
		return e.quantified(n, list, True, false)
	}
	return e.quantified(n, list, True, true)
}

func (e *evaluation) mapped(n *node, list []any) any {
	mapped := make([]any, 0, len(list))
	for _, item := range list {
		if e.spent() {
			return e.exhausted(n)
		}
		mapped = append(mapped, e.eval(n.args[1], item))
	}
	return mapped
}

// filtered keeps the items of which the body is true. One unknown body leaves
// the list unknown; it is not empty if another item is kept for certain.
func (e *evaluation) filtered(n *node, list []any) any {
	kept := []any{}
	var open *unknown
	for _, item := range list {
		if e.spent() {
			return e.exhausted(n)
		}
		v := e.eval(n.args[1], item)
		switch truth(v) {
		case True:
			kept = append(kept, item)
		case Unknown:
			if open == nil {
				open = v.(*unknown)
			}
		}
	}
	switch {
	case open == nil:
		return kept
	case len(kept) > 0:
		return &unknown{truth: True, cause: open.cause}
	}
	return n.opaque(open)
}

// quantified looks for an item whose body has the deciding truth: the result is
// then decided, and its opposite if no item has it.
func (e *evaluation) quantified(n *node, list []any, deciding Truth, decided bool) any {
	var open *unknown
	for _, item := range list {
		if e.spent() {
			return e.exhausted(n)
		}
		v := e.eval(n.args[1], item)
		switch t := truth(v); {
		case t == deciding:
			return decided
		case t == Unknown && open == nil:
			open = v.(*unknown)
		}
	}
	if open != nil {
		return open
	}
	return !decided
}

// reduce folds a list. The body reads the members current and accumulator.
func (e *evaluation) reduce(n *node, data any) any {
	list, u := e.items(n, data)
	if u != nil {
		return u
	}
	accumulator := e.eval(n.args[2], data)
	for _, item := range list {
		if e.spent() {
			return e.exhausted(n)
		}
		accumulator = e.eval(n.args[1], &step{current: item, accumulator: accumulator})
	}
	return accumulator
}
