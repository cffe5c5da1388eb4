package overlays

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// OVL007: an overlay is no place for what a deployment keeps secret.
var OVL007 = &gate.Rule{
	ID: "OVL007", Name: "overlay-secret", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "An overlay holds no secret",
	Doc: "Overlays contain what differs by environment, so a key or a password ends up here first: in the endpoint of an " +
		"adapter, with its credentials. An overlay is in the repository, in its history and in every clone of it.\n\n" +
		"Revoke the secret, and replace it by a reference such as `secret://payments/api-key`, or by an `internal://` endpoint " +
		"that the runtime resolves.",
	Bad:   `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "https://svc:v7Lq2fXh9@orders.staging.acme.example"}`,
	Good:  `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "internal://orders-staging"}`,
	Check: checkSecrets,
}

// shown is how many characters of a secret messages show.
const shown = 4

func checkSecrets(p *gate.Pass) {
	for _, f := range p.Unit.Files {
		if f.Kind != "overlay" {
			continue
		}
		s := &search{Pass: p, file: f.Name, document: f.Document}
		if f.Document.Root == nil {
			s.look("", string(f.Document.Source), nil)
			continue
		}
		s.walk(f.Document.Root)
	}
}

// search looks for secrets in one overlay.
type search struct {
	*gate.Pass
	file     string
	document *pack.Document
	found    int
}

func (s *search) walk(n *pack.Node) {
	if n.Kind == pack.String {
		s.look(label(n), n.Text, n)
	}
	for _, m := range n.Members {
		s.look("", m.Name, n)
		s.walk(m.Value)
	}
	for _, item := range n.Items {
		s.walk(item)
	}
}

// label returns the name that says what a text is: that of the member which holds
// it, and for the value of a setting, the end of its path.
func label(n *pack.Node) string {
	for ; n.Parent != nil; n = n.Parent {
		name, ok := n.Name()
		if !ok {
			continue
		}
		if path := n.Parent.Get("path"); name == "value" && path != nil && path.Kind == pack.String {
			if segments, ok := pack.SplitPointer(path.Text); ok && len(segments) > 0 {
				return segments[len(segments)-1]
			}
		}
		return name
	}
	return ""
}

// look reports the secrets in a text that is at a value, or is the whole file.
func (s *search) look(name, text string, at *pack.Node) {
	for _, m := range s.Detected().Secrets(name, text) {
		s.found++
		via := ""
		if m.Via != "" {
			via = ", as " + m.Via
		}
		location := s.document.Range(m.Start, m.End)
		if at != nil {
			around := at // the innermost value whose path does not repeat the text
			for around.Parent != nil && (names(around.KeyedPath(), text) || names(around.Pointer(), text)) {
				around = around.Parent
			}
			location = around.Location()
		}
		s.Report(gate.Diagnostic{
			Location: &location,
			Message:  fmt.Sprintf("%s is in the overlay%s: %q", m.Kind, via, detect.Mask(text[m.Start:m.End], shown)),
			Hint:     "revoke it, and put a reference in its place, such as secret://…",
			Key:      key(s.Unit, s.file, m.Kind, strconv.Itoa(s.found)),
		})
	}
}

// names reports whether a path repeats a text, or holds another secret.
func names(path, text string) bool {
	segments, _ := pack.SplitPointer(path) // it was made of segments
	return slices.ContainsFunc(segments, func(s string) bool { return s == text || len(detect.Secrets("", s)) > 0 })
}
