package pack

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

const (
	// leastWeighed is the size from which on the memory of a reading is weighed; below
	// it, what every reading costs would hide what the input costs.
	leastWeighed = 64 << 10
	// timesInput bounds the memory for the text, perValue and perLine that for the tree
	// and for the places of lines, which no text is dense enough to spare: a value may
	// be two bytes, and how many there are is limited.
	timesInput, perValue, perLine = 20, 256, 16
	// perFault bounds the memory for a fault without its paths, timesPaths that for the
	// paths of all faults, whose sum is bounded by itself.
	perFault, timesPaths = 2 << 10, 8
)

// allocated returns how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// mostValuesIn returns a bound for how many values a text has: each but the root
// is after one of these characters.
func mostValuesIn(src []byte) int {
	return 1 + bytes.Count(src, []byte("[")) + bytes.Count(src, []byte(",")) + bytes.Count(src, []byte(":"))
}

// checkMemory holds that reading takes no more memory than the input is good for,
// whether the document is taken or refused, and neither does its keyed form.
func checkMemory(t *testing.T, src []byte) {
	t.Helper()
	var doc *Document
	var faults []Fault
	took := allocated(func() { doc, faults = Read("pack.json", src, DefaultLimits()) })
	values := mostValuesIn(src)
	if doc.Root != nil {
		values = 0
		walk(doc.Root, func(*Node) { values++ })
	}
	paths := 0
	for _, f := range faults {
		paths += len(f.Location.Pointer) + len(f.Location.Path)
	}
	most := timesInput*len(src) + perValue*values + perLine*bytes.Count(src, []byte("\n")) + perFault*len(faults) + timesPaths*paths
	if took > most {
		t.Errorf("%d bytes with %d values and %d faults take %d bytes, wanted at most %d: %.100q", len(src), values, len(faults), took, most, src)
	}
	// A name may double when its slashes are escaped; a keyed path may have the
	// identities of a bundle, of a rule and of what a version tells apart besides.
	if len(faults) > mostFaults+1 || paths > 4*mostPlaces+mostFaults*8*longestIdentity {
		t.Errorf("%d bytes have %d faults with paths of %d bytes: %.100q", len(src), len(faults), paths, src)
	}
	if doc.Root == nil {
		return
	}
	took = allocated(func() { doc.KeyedForm() })
	if most := timesInput*len(src) + 2*perValue*values; took > most {
		t.Errorf("the keyed form of %d bytes with %d values takes %d bytes, wanted at most %d: %.100q", len(src), values, took, most, src)
	}
}

// hostile are documents of about n bytes that would take far more memory than
// that if paths were written out for each value.
var hostile = map[string]func(n int) string{
	"duplicates below a long name": func(n int) string {
		return `{"` + strings.Repeat("n", n/2) + `":{` + repeated(`"a":0`, n/2) + `}}`
	},
	"duplicates below a name of the longest path": func(n int) string {
		return `{"` + strings.Repeat("~", longestPath-10) + `":{` + repeated(`"a":0`, n) + `}}`
	},
	"duplicates below a chain of names": func(n int) string {
		return strings.Repeat(`{"`+strings.Repeat("/", 130)+`":`, 60) + `{` + repeated(`"a":0`, n) + `}` + strings.Repeat("}", 60)
	},
	"long duplicates": func(n int) string { return `{` + repeated(`"`+strings.Repeat("é", 1000)+`":0`, n) + `}` },
	"numbers out of range below a long name": func(n int) string {
		return `{"` + strings.Repeat("n", n/2) + `":[` + repeated(`1e999`, n/2) + `]}`
	},
	"values below a long name": func(n int) string {
		return `{"` + strings.Repeat("n", n/2) + `":[` + repeated(`0`, n/2) + `]}`
	},
	"values below a name of the longest path": func(n int) string {
		return `{"` + strings.Repeat("n", longestPath-10) + `":[` + repeated(`{"a":0}`, n) + `]}`
	},
	"duplicates below a long identity": func(n int) string {
		return `{"policy_layer":{"policy_bundles":[{"bundle_id":"` + strings.Repeat("i", n/2) + `",` + repeated(`"a":0`, n/2) + `}]}}`
	},
	"duplicates below the longest identities": func(n int) string {
		id := strings.Repeat("~", longestIdentity)
		return `{"policy_layer":{"policy_bundles":[{"bundle_id":"` + id + `","policy_dsl":{"rules":[{"rule_id":"` + id + `",` + repeated(`"a":0`, n) + `}]}}]}}`
	},
	"duplicates below long versions": func(n int) string {
		spec := func(version string) string {
			return `{"decision_key":"d","version":"` + strings.Repeat(version, n/4) + `",` + repeated(`"a":0`, n/4) + `}`
		}
		return `{"decision_layer":{"decision_specs":[` + spec("1") + `,` + spec("2") + `]}}`
	},
	"one object": func(n int) string { return `{` + repeated(`"a":1`, n) + `}` },
	"items with names": func(n int) string {
		return `{"policy_layer":{"policy_bundles":[` + repeated(`{"a":1,"a":1}`, n) + `]}}`
	},
	"a set of texts": func(n int) string {
		return `{"tone_and_comms":{"do":[` + repeated(`"`+strings.Repeat("x", 1000)+`"`, n) + `]}}`
	},
	"faults, then an end": func(n int) string { return `{` + repeated(`"a":1`, min(n, 5000)) + `,oops` },
}

// repeated returns a piece, again and again with commas between, n bytes or a few
// more in all.
func repeated(piece string, n int) string {
	return strings.Repeat(piece+",", n/(len(piece)+1)) + piece
}

func TestMemoryOfHostileDocuments(t *testing.T) {
	for name, make := range hostile {
		for _, n := range []int{64 << 10, 256 << 10} {
			t.Run(fmt.Sprintf("%s, %d", name, n), func(t *testing.T) { checkMemory(t, []byte(make(n))) })
		}
	}
}

// What is refused for its bounds says where, and what to do; what stays within
// them is taken, with every fault.
func TestBoundsOfPathsAndFaults(t *testing.T) {
	name := func(n int) string { return `{"` + strings.Repeat("n", n) + `":[1]}` }
	nested := func(n int) string { return `{"` + strings.Repeat("é", 1000) + `":[` + name(n) + `]}` }
	duplicates := func(n int) string { return `{"a":0` + strings.Repeat(`,"a":0`, n) + `}` }
	numbers := func(n int) string { return `[` + repeated("1e999", 6*n-1) + `]` }
	tooLong := "the member names on the way here have more than 8192 bytes together"
	tooMany := "the document has more faults than the first 1000, and reading ends here"
	for _, c := range []struct {
		src     string
		faults  int
		message string // of the last fault
		at      string // the text that it is about
	}{
		{src: name(8191)},
		{name(8192), 1, tooLong, `"` + strings.Repeat("n", 8192) + `"`},
		{src: nested(6190)},
		{nested(6191), 1, tooLong, `"` + strings.Repeat("n", 6191) + `"`},
		{src: "[" + repeated(name(8000), 10*8008) + "]"},
		{duplicates(1000), 1000, `the object already has a member "a"`, `"a"`},
		{duplicates(1001), 1001, tooMany, `"a"`},
		{numbers(1000), 1000, "the number 1e999 is beyond the range of a 64-bit float", "1e999"},
		{numbers(1001), 1001, tooMany, "1e999"},
	} {
		doc, faults := Read("pack.json", []byte(c.src), DefaultLimits())
		if len(faults) != c.faults {
			t.Errorf("%.50s: %d faults, wanted %d", c.src, len(faults), c.faults)
			continue
		}
		if c.faults == 0 {
			continue
		}
		last := faults[len(faults)-1]
		checkFault(t, c.message, doc, last)
		ends := c.message == tooLong || c.message == tooMany
		if at := c.src[last.Location.Start.Offset:last.Location.End.Offset]; last.Message != c.message || at != c.at ||
			last.Hint == "" || (doc.Root == nil) != ends || (last.Kind == Limit) != ends {
			t.Errorf("%.50s: at %.50s %+v", c.src, at, last)
		}
	}
}
