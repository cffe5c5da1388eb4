package refresh_test

import (
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// A state keeps no document of a pack or scorecard in memory, nor the bytes that it
// was read from.
func TestFactsKeepNothing(t *testing.T) {
	all := repository(t)
	read := func(name string) (*pack.Document, weak.Pointer[pack.Node], weak.Pointer[byte]) {
		src := append([]byte(nil), all[name]...)
		doc, _ := pack.Read(name, src, pack.DefaultLimits())
		return doc, weak.Make(doc.Root), weak.Make(&src[0])
	}
	state := func() (p refresh.Pack, nodes []weak.Pointer[pack.Node], texts []weak.Pointer[byte]) {
		doc, root, text := read(support)
		side, sideRoot, sideText := read(card)
		// Every text without escapes is a part of one copy of the source.
		cut := weak.Make(unsafe.StringData(pack.New(doc).PackMeta.PackID.Value))
		u := &repo.Unit{Name: support, Document: doc, Pack: pack.New(doc), Files: []*repo.SideFile{{Kind: "scorecard", Name: card, Document: side}}}
		return refresh.PackOf(u), []weak.Pointer[pack.Node]{root, sideRoot}, []weak.Pointer[byte]{text, sideText, cut}
	}
	p, nodes, texts := state()
	runtime.GC()
	runtime.GC()
	for i, n := range nodes {
		if n.Value() != nil {
			t.Errorf("document %d is still in memory", i)
		}
	}
	for i, b := range texts {
		if b.Value() != nil {
			t.Errorf("text %d is still in memory", i)
		}
	}
	if p.ID() != "ctxpack.support" || len(p.Files) != 1 {
		t.Errorf("the pack is %q with %d files", p.ID(), len(p.Files))
	}
	runtime.KeepAlive(p)
}
