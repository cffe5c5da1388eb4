package lsp

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// enlarged returns a text of a pack with so many spaces at its end that its proofs follow.
func enlarged(src string) string { return src + strings.Repeat(" ", mostAtOnce) }

// open makes a document of the client's the server's, of which nothing is looked at yet.
func (e *session) open(name string, version int, src string) {
	e.to.lock.Lock()
	defer e.to.lock.Unlock()
	d := &document{uri: e.uri(name), version: version, root: e.dir, name: name, text: newText(src)}
	e.to.open[d.key()] = d
}

// moved is the support pack with a member that no pack has in a layer, so that what RSK006 is
// about stands on a later line.
func moved(src, layer string) string {
	return enlarged(strings.Replace(src, `"`+layer+`": {`, `"`+layer+"\": {\n\n\"zz\": 1,", 1))
}

// What takes no proof is shown at once. What does was found in an earlier text until the
// proofs are made, and says so, at the place where it is now; and that proofs are open is
// shown beside it.
func TestLargePack(t *testing.T) {
	e := connect(t)
	e.initialize(full)
	src := e.file(supportPack)
	e.open(supportPack, 1, enlarged(src))
	at := []string{e.dir}
	if !e.to.gate(at) {
		t.Fatal("no proofs follow")
	}
	if first := e.waitFor(supportPack, 1, ""); first[0].Message != openWords || first[0].Severity != severityInformation {
		t.Errorf("got %+v", first)
	}
	e.to.prove(t.Context())
	proved := e.waitFor(supportPack, 1, "RSK006")

	e.open(supportPack, 2, moved(src, "policy_layer"))
	if !e.to.gate(at) {
		t.Fatal("no proofs follow")
	}
	list := e.waitFor(supportPack, 2, "", "SCH005", "RSK006")
	stale := list[2]
	if stale.Message != staleWords+proved[0].Message || stale.Severity != severityWarning || stale.Range.Start.Line != proved[0].Range.Start.Line+2 {
		t.Errorf("got %+v, and before %+v", stale, proved[0])
	}
	if was, is := proved[0].RelatedInformation[0].Location.Range.Start.Line, stale.RelatedInformation[0].Location.Range.Start.Line; is != was+2 {
		t.Errorf("beside it is line %d, and was %d", is, was)
	}

	// A change that ends the proofs leaves what is there as it is, marked once.
	ended, end := context.WithCancel(t.Context())
	end()
	e.to.prove(ended)
	if !e.to.gate(at) {
		t.Fatal("no proofs follow any more")
	}
	if got := e.to.results[packKey{e.dir, supportPack}]; !got.open || !slices.Equal(messages(got), []string{openWords, list[1].Message, stale.Message}) {
		t.Errorf("it is %+v", got)
	}
	e.to.prove(t.Context())
	final := e.waitFor(supportPack, 2, "SCH005", "RSK006")
	if final[1].Range != stale.Range || strings.Contains(final[1].Message, staleWords) {
		t.Errorf("got %+v, and it was said to be at %+v", final[1], stale.Range)
	}

	// What the edited layer has no part in is said again at once.
	e.open(supportPack, 3, moved(moved(src, "policy_layer"), "business_context"))
	if !e.to.gate(at) {
		t.Fatal("the other checks do not follow")
	}
	again := e.waitFor(supportPack, 3, "", "SCH005", "SCH005", "RSK006")
	if again[3].Message != final[1].Message || again[3].Range.Start.Line != final[1].Range.Start.Line+2 {
		t.Errorf("got %+v, and before %+v", again[3], final[1])
	}
	e.shutDown()
}

// messages returns what a result says, by place.
func messages(r *result) (list []string) {
	var all []Diagnostic
	for _, f := range r.found {
		all = append(all, f.diagnostic)
	}
	for _, d := range ordered(all) {
		list = append(list, d.Message)
	}
	return list
}

// What is stale offers no repair, for that was made for another text.
func TestStaleFindingsRepairNothing(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	src := strings.Replace(e.file(supportPack), `"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`, 1)
	at := []string{e.dir}
	repairs := func() int {
		var actions []CodeAction
		whole := Range{End: Position{Line: 1 << 20}}
		e.ask("textDocument/codeAction", map[string]any{"textDocument": documentID{URI: e.uri(supportPack)}, "range": whole}, &actions)
		return len(actions)
	}
	e.open(supportPack, 1, enlarged(src))
	e.to.gate(at)
	e.to.prove(t.Context())
	if got := repairs(); got != 1 {
		t.Errorf("%d repairs, wanted one", got)
	}
	e.open(supportPack, 2, "\n"+enlarged(src))
	e.to.gate(at)
	if got := repairs(); got != 0 {
		t.Errorf("%d repairs of an earlier text", got)
	}
	e.shutDown()
}

// A place stays where it is before an edit, moves with what is behind it, and takes in all of
// an edit in which it lies.
func TestMovedPlaces(t *testing.T) {
	for _, c := range []struct {
		from, to string
		at, want [2]int
	}{
		{"abcdef", "abcdef", [2]int{1, 3}, [2]int{1, 3}},
		{"abcdef", "abXXcdef", [2]int{3, 5}, [2]int{5, 7}},
		{"abcdef", "abXXcdef", [2]int{0, 2}, [2]int{0, 2}},
		{"abcdef", "af", [2]int{2, 4}, [2]int{1, 1}},
		{"abcdef", "aXYZWf", [2]int{2, 3}, [2]int{1, 5}},
		{"abcdef", "aXf", [2]int{0, 6}, [2]int{0, 3}},
	} {
		start, end, with := difference(c.from, c.to)
		e := edit{start, end, len(with) - (end - start)}
		if got := [2]int{e.moved(c.at[0], false), e.moved(c.at[1], true)}; got != c.want {
			t.Errorf("%q to %q: %v is at %v, want %v", c.from, c.to, c.at, got, c.want)
		}
	}
}
