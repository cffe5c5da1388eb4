package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// eachText calls visit for every string below a value.
func eachText(n *pack.Node, visit func(*pack.Node)) {
	if n.Kind == pack.String {
		visit(n)
	}
	for _, m := range n.Members {
		eachText(m.Value, visit)
	}
	for _, item := range n.Items {
		eachText(item, visit)
	}
}

// A control character in a name is refused at its place in every kind of file that
// is beside a pack.
func TestControlCharactersInSideFiles(t *testing.T) {
	models := map[string]func() any{
		"case": func() any { return new(Case) }, "overlay": func() any { return new(Overlay) },
		"scorecard": func() any { return new(Scorecard) }, "tool-surface": func() any { return new(ToolSurface) },
		"replay-packet": func() any { return new(Packet) }, "decision-record": func() any { return new(Record) },
		"replay-meta": func() any { return new(Meta) },
	}
	refused := map[string]int{}
	err := filepath.Walk("../examples", func(name string, info os.FileInfo, err error) error {
		_, kind, ok := SideKind(filepath.ToSlash(name))
		if err != nil || info.IsDir() || !ok {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		doc, _ := pack.Read(name, src, pack.DefaultLimits())
		eachText(doc.Root, func(n *pack.Node) {
			hostile, _ := pack.Read(name, []byte(string(src[:n.Start+1])+`\u0000`+string(src[n.Start+1:])), pack.DefaultLimits())
			s := &SideFile{Kind: kind, Name: name, Document: hostile}
			decoded(s, models[kind]())
			for _, f := range s.Faults {
				refused[kind+strings.TrimRight(n.Pointer(), "0123456789")]++
				if len(s.Faults) != 1 || f.Kind != pack.Control || f.Location.Pointer != n.Pointer() || f.Location.Start.Offset != n.Start || f.Hint == "" {
					t.Errorf("%s: %s: %+v", name, n.Pointer(), f)
				}
			}
		})
		return nil
	})
	for _, wanted := range strings.Fields(`case/case case/family case/environment case/overlay case/expect/tools/ case/expect/gates/
		case/expect/denied/ case/expect/rules/ overlay/overlay_id overlay/environment overlay/base overlay/set/0/path scorecard/pack
		scorecard/intents/0/intent tool-surface/surface/0/capability replay-packet/replay_packet_id replay-packet/expected/properties/
		decision-record/record_id decision-record/decision_key replay-meta/compiler`) {
		if refused[wanted] == 0 {
			t.Errorf("no control character is refused in %s", wanted)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// Catalogs and configs are refused whole.
func TestControlCharactersInConfiguration(t *testing.T) {
	const catalog = "../examples/acme-support/environments/prod.json"
	src, err := os.ReadFile(catalog)
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := pack.Read(catalog, src, pack.DefaultLimits())
	tried := 0
	eachText(doc.Root, func(n *pack.Node) {
		if n.Pointer() == "/$schema" {
			return
		}
		tried++
		_, err := ParseEnvironment(catalog, []byte(string(src[:n.Start+1])+`\n`+string(src[n.Start+1:])), pack.DefaultLimits())
		var problems Problems
		if !errors.As(err, &problems) || problems[0].Location.Start.Line != n.Location().Start.Line || problems[0].Hint == "" {
			t.Errorf("%s: error %v", n.Pointer(), err)
		}
	})
	if tried < 20 {
		t.Errorf("only %d texts tried", tried)
	}
	for text, line := range map[string]int{
		"waivers:\n  - {rule: RSK001, pack: \"p\\0\", path: /a, reason: r, owner: o, expires: \"2030-01-01\"}\n": 2,
		"reviews:\n  major: [risk]\n  roles:\n    \"risk\\n\": [mona]\n":                                         4,
		"shared_packs: [\"a\\x85b\"]\n": 1,
	} {
		_, err := ParseConfig(ConfigName, []byte("version: 1\n"+text))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s:%d:", ConfigName, line+1)) || !strings.Contains(err.Error(), "control character") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// Every text of a typed file is a name unless it is listed here: a new kind of name
// cannot be forgotten.
func TestWhatIsProse(t *testing.T) {
	want := strings.Fields(`ClassRow.Reason Waiver.Reason Case.Description EvidenceItem.Content MemoryItem.Content
		Outcome.Reason Rule.Rationale Constraint.Pattern BusinessContext.NonNegotiables
		Summary.WhatWeDo Summary.WhoWeServe Summary.Differentiators ToneAndComms.VoiceAttributes ToneAndComms.Do ToneAndComms.Dont`)
	var got []string
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type, name string)
	visit = func(t reflect.Type, name string) {
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[pack.Node]() {
			return
		}
		seen[t] = true
		if own := t.Name(); own != "" && !strings.Contains(own, "[") {
			name = own
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("text") == "prose" {
				got = append(got, name+"."+f.Name)
			}
			visit(f.Type, f.Name)
		}
	}
	for _, model := range []any{pack.Pack{}, Config{}, Environment{}, Case{}, Overlay{}, Scorecard{}, ToolSurface{}, Packet{}, Record{}, Meta{}} {
		visit(reflect.TypeOf(model), "")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("prose is\n%q, wanted\n%q", got, want)
	}
}
