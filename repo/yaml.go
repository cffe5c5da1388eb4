package repo

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxYAML is the size of a YAML file that is no config, in bytes, beyond which it
// is not read, for the reason of maxConfig.
const maxYAML = 128 << 10

// YAML reads a YAML file of the repository, such as a workflow, as strictly as the
// config is read, into a document with places. Name is relative to the root. The
// error is a *Problem where the file is not there, too large, or not YAML that
// every reader takes alike.
func (f *Files) YAML(name string) (*pack.Document, error) {
	src, err := f.within(name, maxYAML, "file", "divide it")
	if err != nil {
		return nil, err
	}
	return readYAML(f.Show(name), src)
}

// readYAML reads a YAML file into the same tree that JSON files have, so that
// schema, places and typed reading are one for both. It takes what JSON can say,
// in YAML's spelling: anchors, aliases, merge keys and tags are refused, because
// a config is to say what it says where one reads it, and aliases can grow
// without bound. A number counts only where every YAML reader takes it alike:
// 012 is ten for some and twelve for others. The error is a *Problem.
func readYAML(file string, src []byte) (doc *pack.Document, err error) {
	if pack.IsPointer(src) {
		return nil, fileProblem(file, pack.PointerMessage, pack.PointerHint)
	}
	y := yamlReader{doc: pack.NewDocument(file, src, nil)}
	if problem := y.encoding(); problem != nil {
		return nil, problem
	}
	// A config comes from whoever opened a pull request: it must not be able to
	// end the process, whatever the parser makes of it.
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, y.at(0, 0, "this cannot be read as YAML", "write it in a simpler way")
		}
	}()
	tokens, problem := y.tokens()
	if problem != nil {
		return nil, problem
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, y.syntaxError(err)
	}
	root := &pack.Node{Kind: pack.Object} // what an empty file says
	for _, d := range parsed.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if root, err = y.value(d.Body, nil, 0); err != nil {
			return nil, err
		}
	}
	return pack.NewDocument(file, src, root), nil
}

type yamlReader struct {
	doc   *pack.Document
	depth int
}

// yamlDepth is the deepest nesting that a YAML file may have; a config needs five.
const yamlDepth = 64

func (y *yamlReader) at(start, end int, message, hint string) *Problem {
	return &Problem{Location: y.doc.Range(start, end), Message: message, Hint: hint}
}

func (y *yamlReader) problem(t *token.Token, message, hint string) *Problem {
	start, end := y.span(t)
	return y.at(start, end, message, hint)
}

// encoding refuses bytes that the parser would misread in silence.
func (y *yamlReader) encoding() *Problem {
	src := y.doc.Source
	if bytes.HasPrefix(src, []byte("\uFEFF")) {
		return y.at(0, 3, "the file begins with a byte order mark", "save the file as UTF-8 without a byte order mark")
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return y.at(i, i+1, "these bytes are not UTF-8", "save the file as UTF-8")
		case r == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			return y.at(i, i+1, "there is a carriage return without a line feed here", "end lines with a line feed")
		case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7F:
			return y.at(i, i+1, fmt.Sprintf("there is the control character %U here", r), "remove it")
		}
		i += size
	}
	return nil
}

// notYAML is what to do where nothing more can be said.
const notYAML = "correct what is here, or put the text in quotes"

// syntaxError turns the parser's error into one of ours: its words, our place.
func (y *yamlReader) syntaxError(err error) *Problem {
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &syntax) {
		return fileProblem(y.doc.File, "not YAML: "+err.Error(), notYAML)
	}
	p := y.problem(syntax.GetToken(), "not YAML: "+syntax.GetMessage(), notYAML)
	start := p.Location.Start
	line := y.doc.Source[y.doc.Offset(start.Line, 1):min(start.Offset+1, len(y.doc.Source))]
	switch {
	case bytes.IndexByte(line, '\t') >= 0:
		p.Message, p.Hint = "not YAML: there is a tab here", "indent with blanks"
	case bytes.HasSuffix(line, []byte("@")), bytes.HasSuffix(line, []byte("`")):
		p.Hint = "put the text in quotes"
	case strings.HasPrefix(syntax.GetMessage(), "mapping value is not allowed"):
		p.Hint = "put a text with a colon in quotes, or fix the indent"
	}
	return p
}

func (y *yamlReader) node(kind pack.Kind, t *token.Token, parent *pack.Node, index int) *pack.Node {
	start, end := y.span(t)
	return &pack.Node{Kind: kind, Start: start, End: end, Parent: parent, Index: index}
}

func (y *yamlReader) value(n ast.Node, parent *pack.Node, index int) (*pack.Node, error) {
	if y.depth++; y.depth > yamlDepth {
		return nil, y.tooDeep(first(n))
	}
	defer func() { y.depth-- }()
	switch v := n.(type) {
	case *ast.MappingNode:
		out, err := y.mapping(v.Values, y.node(pack.Object, first(n), parent, index))
		return y.closed(out, v.IsFlowStyle, v.End), err
	case *ast.MappingValueNode:
		return y.mapping([]*ast.MappingValueNode{v}, y.node(pack.Object, first(n), parent, index))
	case *ast.SequenceNode:
		out, err := y.sequence(v, y.node(pack.Array, first(n), parent, index))
		return y.closed(out, v.IsFlowStyle, v.End), err
	case *ast.LiteralNode:
		out := y.node(pack.String, v.Start, parent, index)
		out.Text, out.End = v.Value.Value, y.blockEnd(out.Start, v.Value.GetToken())
		return out, nil
	case *ast.BoolNode:
		out := y.node(pack.Bool, v.Token, parent, index)
		out.Bool = v.Value
		return out, nil
	case *ast.NullNode:
		return y.node(pack.Null, v.Token, parent, index), nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
		return y.scalar(n, parent, index)
	}
	return nil, y.problem(first(n), "this kind of YAML value is not allowed here", "use texts, numbers, booleans, lists and mappings")
}

// jsonNumber is how JSON writes numbers (RFC 8259, section 6).
var jsonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
})

// scalar reads a text or a number. What is a number is decided here and not by
// the parser, which takes 1e3 for a text and 0x1F for a number.
func (y *yamlReader) scalar(n ast.Node, parent *pack.Node, index int) (*pack.Node, error) {
	t := n.GetToken()
	out := y.node(pack.String, t, parent, index)
	text, isText := n.(*ast.StringNode)
	plain := !isText || t.Type == token.StringType
	switch {
	case plain && jsonNumber().MatchString(t.Value):
		f, err := strconv.ParseFloat(t.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, y.problem(t, "this number is not finite", "write a smaller one, or a text in quotes")
		}
		out.Kind, out.Number, out.Text = pack.Number, f, t.Value
	case isText:
		out.Text = text.Value
	default:
		return nil, y.problem(t, fmt.Sprintf("YAML readers do not agree on what %s is", t.Value), "write a decimal number, or a text in quotes")
	}
	return out, nil
}

func (y *yamlReader) sequence(n *ast.SequenceNode, out *pack.Node) (*pack.Node, error) {
	for i, item := range n.Values {
		value, err := y.value(item, out, i)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, value)
		out.End = max(out.End, value.End)
	}
	return out, nil
}

func (y *yamlReader) mapping(values []*ast.MappingValueNode, out *pack.Node) (*pack.Node, error) {
	lines := make(map[string]int, len(values))
	for i, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, y.problem(v.Key.GetToken(), "a name has to be a text here", "put it in quotes")
		}
		start, end := y.span(key.GetToken())
		if line, taken := lines[key.Value]; taken {
			return nil, y.at(start, end, fmt.Sprintf("the name %q is already used in line %d", key.Value, line), "keep one of the two")
		}
		lines[key.Value] = y.doc.Position(start).Line
		value, err := y.value(v.Value, out, i)
		if err != nil {
			return nil, err
		}
		if value.Kind == pack.Null && value.Start < end { // {a} has no place for its value
			value.Start, value.End = end, end
		}
		out.Members = append(out.Members, pack.Member{Name: key.Value, Start: start, End: end, Value: value})
		out.End = max(out.End, end, value.End)
	}
	return out, nil
}

// closed lets a list or mapping in flow style end with its bracket.
func (y *yamlReader) closed(out *pack.Node, flow bool, end *token.Token) *pack.Node {
	if out != nil && flow && end != nil {
		_, bracket := y.span(end)
		out.End = max(out.End, bracket)
	}
	return out
}
