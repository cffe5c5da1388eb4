package schemas

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// strangers is a tool surface whose only entry has so many members that its schema
// does not know.
func strangers(count int) any {
	entry := map[string]any{"intent": "support.refund", "capability": "adp_orders.lookup"}
	for i := range count {
		entry[fmt.Sprintf("approval_mod%d", i)] = true
	}
	return map[string]any{"surface": []any{entry}}
}

// spent returns the bytes that a call allocates.
func spent(call func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// Four times as many unknown members take about four times as much, and all of them
// are named. Known ones are suggested for the first of them, always the same.
func TestUnknownMembersScale(t *testing.T) {
	const few, many = 5_000, 20_000
	validate := func(doc any) []Violation {
		found, err := Validate("tool-surface", doc)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(found, func(v Violation) bool { return v.Keyword != "additionalProperties" })
	}
	small, large := strangers(few), strangers(many)
	validate(small) // compiles the schema
	var found []Violation
	one, four := spent(func() { validate(small) }), spent(func() { found = validate(large) })
	if four > 6*one {
		t.Errorf("%d members take %.0f bytes, and %d of them %.0f", few, one, many, four)
	}
	suggested := 0
	for _, v := range found {
		if v.Nearest != "" {
			suggested++
		}
	}
	if len(found) != many || suggested != mostSuggested {
		t.Errorf("%d members are named, %d with a suggestion", len(found), suggested)
	}
	if again := validate(strangers(many)); !reflect.DeepEqual(found, again) {
		t.Error("two runs differ")
	}
}

// A name is compared with those alone that its length leaves possible.
func TestNearestMakesNothingOfOtherLengths(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("a_name_that_is_much_longer_%04d", i))
	}
	if allocations := testing.AllocsPerRun(20, func() { Nearest("short", names) }); allocations > 20 {
		t.Errorf("%.0f allocations for a name that is near to none", allocations)
	}
}
