package compiler_test

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// A pack with a control character in a name of any kind is refused by every compile.
func TestControlCharactersInNames(t *testing.T) {
	doc := supportPack(t).Node.Document()
	tried := 0
	var visit func(n *pack.Node)
	visit = func(n *pack.Node) {
		for _, m := range n.Members {
			visit(m.Value)
		}
		for _, item := range n.Items {
			visit(item)
		}
		if n.Kind != pack.String {
			return
		}
		for _, control := range []string{`\u0000`, `\n`, `\u2028`} {
			p := pack.New(read(t, []byte(string(doc.Source[:n.End-1])+control+string(doc.Source[n.End-1:]))))
			if len(p.Faults) == 0 {
				continue
			}
			tried++
			result := compile(t, p, reference(t))
			if result.Outcome != compiler.Refused || result.Stop == nil || !result.Stop.Invalid || !strings.Contains(result.Reason(), "a control character") {
				t.Errorf("%s with %s: %s %q", n.Pointer(), control, result.Outcome, result.Reason())
			}
		}
	}
	visit(doc.Root)
	if tried < 200 {
		t.Errorf("only %d names tried", tried)
	}
}
