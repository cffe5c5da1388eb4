package pack

import (
	"os"
	"testing"
)

func supportBytes(t testing.TB) []byte {
	t.Helper()
	src, err := os.ReadFile("testdata/support.json")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func BenchmarkRead(b *testing.B) {
	src := supportBytes(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := Read("pack.json", src, DefaultLimits()); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkReadAndNew(b *testing.B) {
	src := supportBytes(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		doc, _ := Read("pack.json", src, DefaultLimits())
		if New(doc) == nil {
			b.Fatal("no pack")
		}
	}
}

func BenchmarkKeyedForm(b *testing.B) {
	doc, _ := Read("pack.json", supportBytes(b), DefaultLimits())
	b.ReportAllocs()
	for b.Loop() {
		if form, _ := doc.KeyedForm(); form == nil {
			b.Fatal("no form")
		}
	}
}

func BenchmarkFindKeyed(b *testing.B) {
	doc, _ := Read("pack.json", supportBytes(b), DefaultLimits())
	b.ReportAllocs()
	for b.Loop() {
		if doc.Root.FindKeyed("/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if") == nil {
			b.Fatal("not found")
		}
	}
}

func BenchmarkLocation(b *testing.B) {
	doc, _ := Read("pack.json", supportBytes(b), DefaultLimits())
	n := doc.Root.FindKeyed("/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if")
	b.ReportAllocs()
	for b.Loop() {
		if n.Location().Path == "" {
			b.Fatal("no path")
		}
	}
}

func BenchmarkCanonicalDigest(b *testing.B) {
	doc, _ := Read("pack.json", supportBytes(b), DefaultLimits())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := doc.CanonicalDigest(); err != nil {
			b.Fatal(err)
		}
	}
}
