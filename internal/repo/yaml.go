package repo

import (
	"math"
	"strings"

	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML reads a YAML file into the same tree that JSON files have, so that
// schema, places and typed reading are one for both. Anchors, aliases, merge
// keys and tags are refused: a config is to say what it says where one reads
// it, and aliases can grow without bound.
func readYAML(file string, src []byte) (*pack.Document, error) {
	y := yamlReader{doc: pack.NewDocument(file, src, nil)}
	parsed, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, y.syntaxError(err)
	}
	var bodies []ast.Node
	for _, d := range parsed.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			bodies = append(bodies, d.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return pack.NewDocument(file, src, &pack.Node{Kind: pack.Object}), nil
	case 1:
	default:
		return nil, y.problem(bodies[1], "a second YAML document begins here", "keep one document per file")
	}
	root, err := y.value(bodies[0], nil, 0)
	if err != nil {
		return nil, err
	}
	return pack.NewDocument(file, src, root), nil
}

type yamlReader struct {
	doc   *pack.Document
	depth int
}

// yamlDepth is the deepest nesting that a YAML file may have; a config needs five.
const yamlDepth = 64

func (y *yamlReader) problem(n ast.Node, message, hint string) error {
	start, end := y.span(n.GetToken())
	return &Problem{Location: y.doc.Range(start, end), Message: message, Hint: hint}
}

// syntaxError turns the parser's error into one of ours: its words, our place.
func (y *yamlReader) syntaxError(err error) error {
	p := &Problem{Location: finding.Location{File: y.doc.File}, Message: "not YAML: " + err.Error()}
	if e, ok := err.(interface {
		GetToken() *token.Token
		GetMessage() string
	}); ok {
		start, end := y.span(e.GetToken())
		p.Location = y.doc.Range(start, end)
		p.Message = "not YAML: " + e.GetMessage()
	}
	return p
}

func (y *yamlReader) span(t *token.Token) (start, end int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	start = y.doc.Offset(t.Position.Line, t.Position.Column)
	text := strings.TrimSpace(t.Origin)
	return start, min(start+len(text), len(y.doc.Source))
}

func (y *yamlReader) node(kind pack.Kind, n ast.Node, parent *pack.Node, index int) *pack.Node {
	start, end := y.span(n.GetToken())
	return &pack.Node{Kind: kind, Start: start, End: end, Parent: parent, Index: index}
}

func (y *yamlReader) value(n ast.Node, parent *pack.Node, index int) (*pack.Node, error) {
	if y.depth++; y.depth > yamlDepth {
		return nil, y.problem(n, "this is nested too deeply", "")
	}
	defer func() { y.depth-- }()
	switch v := n.(type) {
	case *ast.MappingNode:
		return y.mapping(n, v.Values, parent, index)
	case *ast.MappingValueNode:
		return y.mapping(n, []*ast.MappingValueNode{v}, parent, index)
	case *ast.SequenceNode:
		return y.sequence(v, parent, index)
	case *ast.StringNode:
		return y.text(n, v.Value, parent, index), nil
	case *ast.LiteralNode:
		return y.text(n, v.Value.Value, parent, index), nil
	case *ast.BoolNode:
		out := y.node(pack.Bool, n, parent, index)
		out.Bool = v.Value
		return out, nil
	case *ast.NullNode:
		return y.node(pack.Null, n, parent, index), nil
	case *ast.IntegerNode, *ast.FloatNode:
		return y.number(n, parent, index)
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		return nil, y.problem(n, "anchors, aliases, merge keys and tags are not taken here", "write the value out")
	}
	return nil, y.problem(n, "this kind of YAML value is not taken here", "use texts, numbers, booleans, lists and mappings")
}

func (y *yamlReader) text(n ast.Node, s string, parent *pack.Node, index int) *pack.Node {
	out := y.node(pack.String, n, parent, index)
	out.Text = s
	return out
}

func (y *yamlReader) number(n ast.Node, parent *pack.Node, index int) (*pack.Node, error) {
	out := y.node(pack.Number, n, parent, index)
	out.Text = n.GetToken().Value
	switch v := n.(type) {
	case *ast.FloatNode:
		out.Number = v.Value
	case *ast.IntegerNode:
		switch i := v.Value.(type) {
		case int64:
			out.Number = float64(i)
		case uint64:
			out.Number = float64(i)
		}
	}
	if math.IsInf(out.Number, 0) || math.IsNaN(out.Number) {
		return nil, y.problem(n, "this number is not finite", "")
	}
	return out, nil
}

func (y *yamlReader) sequence(n *ast.SequenceNode, parent *pack.Node, index int) (*pack.Node, error) {
	out := y.node(pack.Array, n, parent, index)
	for i, item := range n.Values {
		value, err := y.value(item, out, i)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, value)
	}
	return out, nil
}

func (y *yamlReader) mapping(n ast.Node, values []*ast.MappingValueNode, parent *pack.Node, index int) (*pack.Node, error) {
	out := y.node(pack.Object, n, parent, index)
	if len(values) > 0 {
		// The token of a mapping is its first colon; people look at its first name.
		out.Start, out.End = y.span(values[0].Key.GetToken())
	}
	for i, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, y.problem(v.Key, "a name has to be a plain text here", "")
		}
		if out.Get(key.Value) != nil {
			return nil, y.problem(v.Key, "this name is here a second time", "keep one of the two")
		}
		value, err := y.value(v.Value, out, i)
		if err != nil {
			return nil, err
		}
		start, end := y.span(key.GetToken())
		out.Members = append(out.Members, pack.Member{Name: key.Value, Start: start, End: end, Value: value})
	}
	return out, nil
}
