package script_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/contextosai/packgate/pack"
)

// drop removes members and items of a JSON file, each by its pointer, the last ones of a list
// first: drop FILE POINTER…
func drop(ts *testscript.TestScript, _ bool, args []string) {
	edit(ts, args[0], func(root any) any {
		for _, pointer := range args[1:] {
			root = without(ts, root, segments(pointer))
		}
		return root
	})
}

// put sets a member of a JSON file, or appends to a list where the pointer ends in "-":
// put FILE POINTER VALUE
func put(ts *testscript.TestScript, _ bool, args []string) {
	var value any
	ts.Check(json.Unmarshal([]byte(args[2]), &value))
	edit(ts, args[0], func(root any) any { return with(ts, root, segments(args[1]), value) })
}

// measure writes into a scorecard that it measured a pack as it is: measure SCORECARD PACK
func measure(ts *testscript.TestScript, _ bool, args []string) {
	doc, faults := pack.Read(args[1], []byte(ts.ReadFile(args[1])), pack.DefaultLimits())
	if len(faults) > 0 {
		ts.Fatalf("%s: %v", args[1], faults)
	}
	digest, err := doc.CanonicalDigest()
	ts.Check(err)
	edit(ts, args[0], func(root any) any {
		card := root.(map[string]any)
		card["pack"], card["digest"] = pack.New(doc).Ref(), digest
		return card
	})
}

func edit(ts *testscript.TestScript, name string, change func(any) any) {
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(name)))
	decoder.UseNumber()
	var root any
	ts.Check(decoder.Decode(&root))
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	ts.Check(encoder.Encode(change(root)))
	ts.Check(os.WriteFile(ts.MkAbs(name), out.Bytes(), 0o644))
}

// segments returns the segments of a JSON pointer (RFC 6901).
func segments(pointer string) []string {
	all := strings.Split(pointer, "/")[1:]
	for i := range all {
		all[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(all[i])
	}
	return all
}

func without(ts *testscript.TestScript, at any, path []string) any {
	switch at := at.(type) {
	case map[string]any:
		if _, ok := at[path[0]]; !ok {
			ts.Fatalf("there is no %s", path[0])
		}
		if len(path) == 1 {
			delete(at, path[0])
		} else {
			at[path[0]] = without(ts, at[path[0]], path[1:])
		}
		return at
	case []any:
		i, err := strconv.Atoi(path[0])
		ts.Check(err)
		if len(path) == 1 {
			return slices.Delete(at, i, i+1)
		}
		at[i] = without(ts, at[i], path[1:])
		return at
	}
	ts.Fatalf("there is no %s", path[0])
	return nil
}

func with(ts *testscript.TestScript, at any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch at := at.(type) {
	case map[string]any:
		at[path[0]] = with(ts, at[path[0]], path[1:], value)
		return at
	case []any:
		if path[0] == "-" {
			return append(at, value)
		}
		i, err := strconv.Atoi(path[0])
		ts.Check(err)
		at[i] = with(ts, at[i], path[1:], value)
		return at
	}
	ts.Fatalf("there is no %s", path[0])
	return nil
}

// rerecord writes into a replay packet that it is of a pack as it is, and compiles to a stored
// snapshot: rerecord PACKET PACK SNAPSHOT
func rerecord(ts *testscript.TestScript, _ bool, args []string) {
	doc, _ := pack.Read(args[1], []byte(ts.ReadFile(args[1])), pack.DefaultLimits())
	var compiled struct {
		ContextLedger struct {
			CompiledContextHash string `json:"compiled_context_hash"`
		} `json:"context_ledger"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[2])), &compiled))
	edit(ts, args[0], func(root any) any {
		packet := root.(map[string]any)
		packet["context_pack_ref"], packet["compiled_context_hash"] = pack.New(doc).Ref(), compiled.ContextLedger.CompiledContextHash
		return packet
	})
}
