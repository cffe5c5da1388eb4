package schemas

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// bases are the published examples that serve as the good document of a
// contract; the good documents of the others are in testdata/good.
var bases = map[string]string{
	"context-pack":     supportPack,
	"compiled-context": "compiled_context_api_contracts.json",
	"invoke-agent":     "invoke_agent_live_builder.json",
	"decision-record":  "decision_record_full.json",
	"tool-call":        "tool_call_envelope.json",
	"tool-result":      "tool_result_envelope.json",
}

// TestBadDocuments makes one edit at a time in a good document and compares what
// Validate says. testdata/bad/NAME.txt holds a line for each edit,
//
//	set POINTER JSON
//	remove POINTER
//
// where "root" is the whole document, and below it, indented, what is expected:
// a line per violation, or "fits". A line that begins with # is a remark.
// UPDATE=1 rewrites the indented lines.
func TestBadDocuments(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			good := goodDocument(t, name)
			if got := lines(t, name, decode(t, good)); len(got) > 0 {
				t.Fatalf("the good document does not fit:\n%s", strings.Join(got, "\n"))
			}
			path := filepath.Join("testdata/bad", name+".txt")
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := runEdits(t, name, good, want)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: got\n%s", path, got)
			}
		})
	}
}

// runEdits returns the edits with what Validate says of each.
func runEdits(t *testing.T, name, good string, edits []byte) []byte {
	var out bytes.Buffer
	count := 0
	for line := range strings.Lines(string(edits)) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		out.WriteString(line)
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		count++
		violations, err := Validate(name, applyEdit(t, decode(t, good), line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, v := range violations {
			fmt.Fprintf(&out, "  %s %q %s\n", v.Keyword, v.Pointer, v.Message)
		}
		if len(violations) == 0 {
			fmt.Fprintln(&out, "  fits")
		}
	}
	if count == 0 {
		t.Error("no edits")
	}
	return out.Bytes()
}

// goodDocument is the text of a document that fits the schema.
func goodDocument(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("testdata/good", name+".json")
	if base, ok := bases[name]; ok {
		path = filepath.Join("testdata/contract", base)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func applyEdit(t *testing.T, doc any, line string) any {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	pointer, value, _ := strings.Cut(rest, " ")
	segments, ok := pack.SplitPointer(strings.TrimPrefix(pointer, "root"))
	switch {
	case !ok:
		t.Fatalf("%q is not a pointer", pointer)
	case verb == "set":
		return edit(t, doc, segments, decode(t, value), false)
	case verb == "remove":
		return edit(t, doc, segments, nil, true)
	}
	t.Fatalf("%q is not an edit", line)
	return nil
}

// edit returns doc with the value at segments set or removed.
func edit(t *testing.T, doc any, segments []string, value any, remove bool) any {
	t.Helper()
	if len(segments) == 0 {
		return value
	}
	head, tail := segments[0], segments[1:]
	switch v := doc.(type) {
	case map[string]any:
		if old, ok := v[head]; !ok && (remove || len(tail) > 0) {
			t.Fatalf("no member %q", head)
		} else if remove && len(tail) == 0 {
			delete(v, head)
		} else {
			v[head] = edit(t, old, tail, value, remove)
		}
		return v
	case []any:
		index, err := strconv.Atoi(head)
		if err != nil || index < 0 || index >= len(v) {
			t.Fatalf("no item %q", head)
		}
		if remove && len(tail) == 0 {
			return slices.Delete(v, index, index+1)
		}
		v[index] = edit(t, v[index], tail, value, remove)
		return v
	}
	t.Fatalf("nothing below %q", head)
	return nil
}
