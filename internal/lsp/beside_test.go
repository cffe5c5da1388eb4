package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const finopsPack = "packs/finops/pack.json"

// A pack whose golden case names another one is looked at again when that one changes, and each text of
// that one gets its findings.
func TestNamedPackChanges(t *testing.T) {
	e := connect(t)
	both := strings.Replace(e.file(smallCase), `"ctxpack.support@1.0.0"`, `"ctxpack.support@1.0.0", "ctxpack.finops@1.0.0"`, 1)
	if err := os.WriteFile(filepath.Join(e.dir, smallCase), []byte(both), 0o644); err != nil {
		t.Fatal(err)
	}
	e.initialize(plain)
	src := e.file(finopsPack)
	e.show(supportPack, e.file(supportPack))
	e.show(finopsPack, src)
	isOf := func(version int) bool {
		p := e.shown[e.uri(finopsPack)]
		return p.Version != nil && *p.Version == version
	}
	e.wait("both packs together", func() bool { return isOf(1) && e.says(finopsPack, "RPL004") })
	e.set(finopsPack, 2, strings.Replace(src, `"pack_version": "1.0.0"`, `"pack_version": "2.0.0"`, 1))
	e.wait("the case that names another version", func() bool { return isOf(2) && e.says(smallCase, "RPL020") && !e.says(finopsPack, "RPL004") })
	e.set(finopsPack, 3, src)
	e.wait("both packs together again", func() bool { return isOf(3) && !e.says(smallCase, "RPL020") && e.says(finopsPack, "RPL004") })
	e.shutDown()
}
