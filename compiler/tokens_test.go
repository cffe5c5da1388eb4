package compiler_test

import (
	"testing"

	"github.com/contextosai/packgate/compiler/tokens"
)

// A stored context says which tokenizer counted, so that one of another is told
// from one that drifted. Contexts of the estimate say nothing and have the hash
// that they always had.
func TestTokenizerIsRecorded(t *testing.T) {
	_, estimated := compiled(t, supportPack(t), reference(t))
	if name := estimated.BudgetReport.Tokenizer; name != "" {
		t.Errorf("a context of the estimate names the tokenizer %q", name)
	}
	hashes := map[string]string{estimated.ContextLedger.CompiledContextHash: "estimate"}
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		r := reference(t)
		var err error
		if r.Tokenizer, err = tokens.Find(name); err != nil {
			t.Fatal(err)
		}
		_, c := compiled(t, supportPack(t), r)
		hash := c.ContextLedger.CompiledContextHash
		if other, there := hashes[hash]; there || c.BudgetReport.Tokenizer != name {
			t.Errorf("a context of %s names %q and has the hash of %q", name, c.BudgetReport.Tokenizer, other)
		}
		hashes[hash] = name
		valid(t, c)
	}
}
