package statement_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/statement"
)

func ledger() *statement.Ledger {
	return &statement.Ledger{
		Registry: "ghcr.io/acme/packs", Publisher: "somebody", Sequence: 7,
		Packs: map[string]statement.PackLedger{
			"ctxpack.support": {
				Head:   statement.Head{Sequence: 3, Digest: digest("1")},
				States: map[string]string{digest("2"): statement.StateRevoked, digest("3"): statement.StateDeprecated},
				Pins:   map[string]*statement.PinLedger{"prod": {Manifest: digest("4"), Bundle: digest("5"), Version: "1.2.0"}, "staging": {Manifest: digest("4"), Version: "1.2.0"}, "old": nil},
			},
			"ctxpack.new": {States: map[string]string{}, Pins: map[string]*statement.PinLedger{}},
		},
	}
}

func document(t testing.TB, l *statement.Ledger) []byte {
	t.Helper()
	src, err := l.Document()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestALedgerReadsBackAndIsCanonical(t *testing.T) {
	src := document(t, ledger())
	got, err := statement.ReadLedger(src)
	if err != nil || !reflect.DeepEqual(got, ledger()) {
		t.Errorf("read %+v, %v", got, err)
	}
	if canonical, err := pack.Canonical(src); err != nil || !bytes.Equal(canonical, src) {
		t.Errorf("%s is not canonical: %v", src, err)
	}
	if s := ledger().Status(src); s.Digest != string(pack.DigestOf(src)) || s.Name != "ghcr.io/acme/packs" || s.Publisher != "somebody" || s.Sequence != 7 {
		t.Errorf("status %+v", s)
	}
}

func TestReadingALedgerRefuses(t *testing.T) {
	src := string(document(t, ledger()))
	for _, c := range []struct{ old, new, want string }{
		{`{"packs"`, `["packs"`, "line 1, column"},
		{`"sequence":7`, `"sequence":7,"sequence":8`, "the object already has a member"},
		{`"sequence":7`, `"sequence":0`, "the sequence is 0"},
		{`"sequence":7`, `"sequence":1.5`, `member "/sequence" of the status document is 1.5`},
		{`"registry":`, `"was":`, `member "/registry" of the status document is missing`},
		{`"publisher":"somebody"`, `"publisher":"\u0007"`, "the publisher is"},
		{`"packs":{`, `"packs":[],"was":{`, "is an array, wanted an object"},
		{`"packs":{`, `"packs":{"a b":{"pins":{},"states":{}},`, `a pack is "a b"`},
		{`"packs":{`, `"packs":{"a":7,`, `member "/packs/a" of the status document is a number`},
		{`"head":{"digest":"sha256:1`, `"head":{"digest":"sha256:X`, "the head of ctxpack.support is"},
		{`"sequence":3`, `"sequence":0`, "the sequence is 0"},
		{`"states":{"sha256:2`, `"states":{"sha256:X`, "a version of ctxpack.support is"},
		{`:"revoked"`, `:"usable"`, `is "usable", wanted`},
		{`:"revoked"`, `:null`, "is null, wanted a string"},
		{`"revoked"`, `"revoked","sha256:2` + strings.Repeat("2", 63) + `":"deprecated"`, "the object already has a member"},
		{`"prod":{`, `"../x":{`, `an environment of ctxpack.support is "../x"`},
		{`"prod":{`, `"prod":7,"was":{`, "is a number, wanted an object"},
		{`"bundle":"sha256:5`, `"bundle":"sha256:X`, "the bundle that prod runs is"},
		{`"version":"1.2.0"`, `"version":"latest"`, "the version that"},
		{`"pins":{"old"`, `"was":{"old"`, `member "/packs/ctxpack.support/pins" of the status document is missing`},
	} {
		changed := strings.Replace(src, c.old, c.new, 1)
		if changed == src {
			t.Fatalf("%q is not in %s", c.old, src)
		}
		if _, err := statement.ReadLedger([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s\ngot  %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

func TestALedgerThatIsTooLargeIsNotWritten(t *testing.T) {
	l, states := ledger(), map[string]string{}
	for i := range 150_000 {
		states["sha256:"+fmt.Sprintf("%064x", i)] = statement.StateRevoked
	}
	l.Packs["ctxpack.support"] = statement.PackLedger{States: states}
	if src, err := l.Document(); err == nil || !strings.Contains(err.Error(), "wanted at most 12582912") || src != nil {
		t.Errorf("got %d bytes, %v", len(src), err)
	}
}

// FuzzLedger holds that what can be read is written again, and reads the same.
func FuzzLedger(f *testing.F) {
	f.Add(document(f, ledger()))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := statement.ReadLedger(src)
		if err != nil {
			return
		}
		again, err := statement.ReadLedger(document(t, l))
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("read %+v, written and read again %+v, %v", l, again, err)
		}
	})
}

// BenchmarkReadLedger reads a ledger of 10,000 versions that have a state.
func BenchmarkReadLedger(b *testing.B) {
	l := &statement.Ledger{Registry: "ghcr.io/acme/packs", Publisher: "somebody", Sequence: 7, Packs: map[string]statement.PackLedger{}}
	for p := range 100 {
		states := map[string]string{}
		for v := range 100 {
			states["sha256:"+fmt.Sprintf("%064x", p<<8|v)] = statement.StateRevoked
		}
		l.Packs[fmt.Sprintf("ctxpack.p%d", p)] = statement.PackLedger{
			Head: statement.Head{Sequence: 120, Digest: digest("1")}, States: states, Pins: map[string]*statement.PinLedger{"prod": {Manifest: digest("4"), Version: "1.2.0"}},
		}
	}
	src := document(b, l)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := statement.ReadLedger(src); err != nil {
			b.Fatal(err)
		}
	}
}
