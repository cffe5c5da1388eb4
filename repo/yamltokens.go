package repo

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// refusedYAML is what a file here has not, by its token.
var refusedYAML = map[token.Type]string{
	token.AnchorType: "an anchor (&)", token.AliasType: "an alias (*)", token.MergeKeyType: "a merge key (<<)",
	token.TagType: "a tag (!)", token.DirectiveType: "a directive (%)",
}

// tokens returns the tokens of the file, and refuses what the parser is not to
// see: it keeps aliases as they are, drops a document and the tabs in a text
// without a word, and its time and stack grow with the depth of brackets.
func (y *yamlReader) tokens() (token.Tokens, *Problem) {
	tokens := lexer.Tokenize(string(y.doc.Source))
	var depth, entries, line int
	var begun, ended, inBlock bool
	for _, t := range tokens {
		if what := refusedYAML[t.Type]; what != "" {
			return nil, y.problem(t, what+" is not allowed here", "write the value out; put it in quotes where it is a text")
		}
		switch t.Type {
		case token.MappingKeyType:
			return nil, y.problem(t, "a name has to be a text here", "write it before a colon, without the question mark")
		case token.InfinityType, token.NanType:
			return nil, y.problem(t, "this number is not finite", "write a number, or a text in quotes")
		case token.StringType, token.IntegerType, token.FloatType, token.BoolType, token.NullType:
			if start, end := y.span(t); bytes.IndexByte(y.doc.Source[start:end], '\t') >= 0 && !inBlock {
				return nil, y.at(start, end, "this text contains a tab", "put the text in quotes, or write a blank")
			}
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if t.Position.Line != line {
				line, entries = t.Position.Line, 0
			}
			entries++
		}
		if depth > yamlDepth || entries > yamlDepth {
			return nil, y.tooDeep(t)
		}
		if t.Type != token.CommentType {
			inBlock = t.Type == token.LiteralType || t.Type == token.FoldedType
		}
		switch t.Type {
		case token.CommentType:
		case token.DocumentEndType:
			ended = true
		default:
			if ended || begun && t.Type == token.DocumentHeaderType {
				return nil, y.problem(t, "a second YAML document begins here", "keep one document per file")
			}
			begun = true
		}
	}
	return tokens, nil
}

func (y *yamlReader) tooDeep(t *token.Token) *Problem {
	return y.problem(t, "this is nested too deeply", "flatten it")
}

// first returns the token at which people look for a value. That of a mapping
// is its first colon, and of one in block style has no bracket.
func first(n ast.Node) *token.Token {
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return v.Values[0].Key.GetToken()
		}
		return v.Start
	case *ast.MappingValueNode:
		return v.Key.GetToken()
	}
	return n.GetToken()
}

// span returns the bytes of a token. The parser gives line and column of its
// beginning, before blanks at times; where it ends is found in the source.
func (y *yamlReader) span(t *token.Token) (start, end int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	src := y.doc.Source
	start = y.doc.Offset(t.Position.Line, t.Position.Column)
	if t.Type == token.ImplicitNullType {
		return start, start
	}
	for start < len(src) && (src[start] == ' ' || src[start] == '\t') {
		start++
	}
	switch t.Type {
	case token.SingleQuoteType, token.DoubleQuoteType:
		return start, quotedEnd(src, start)
	}
	text := strings.TrimSpace(t.Origin)
	start = y.plainStart(start, text)
	return start, plainEnd(src, start, text)
}

// plainStart corrects the beginning of text: the parser's column is too large
// where blanks follow the text at the end of its line, and too small behind a
// tab.
func (y *yamlReader) plainStart(start int, text string) int {
	first, _, _ := strings.Cut(text, "\n")
	first = strings.TrimRight(first, " \t\r")
	src := y.doc.Source
	line := y.doc.Offset(y.doc.Position(start).Line, 1)
	if i := bytes.LastIndex(src[line:min(start+len(first), len(src))], []byte(first)); i >= 0 {
		return line + i
	}
	rest, _, _ := bytes.Cut(src[start:], []byte("\n"))
	return start + max(bytes.Index(rest, []byte(first)), 0)
}

// quotedEnd returns the end of the text in quotes that begins at start.
func quotedEnd(src []byte, start int) int {
	for i := start + 1; i < len(src); i++ {
		switch {
		case src[start] == '"' && src[i] == '\\':
			i++
		case src[i] != src[start]:
		case src[i] == '\'' && i+1 < len(src) && src[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return len(src)
}

// plainEnd returns where text ends that begins at start; the source may have
// carriage returns that the parser left out.
func plainEnd(src []byte, start int, text string) int {
	end := start
	for i := range len(text) {
		if end < len(src) && src[end] == '\r' && text[i] != '\r' {
			end++
		}
		if end == len(src) || src[end] != text[i] {
			break
		}
		end++
	}
	return end
}

// blockEnd returns the end of a literal or folded text whose indicator stands
// at start: that of the last line which is not blank.
func (y *yamlReader) blockEnd(start int, content *token.Token) int {
	lines := 0
	if text := strings.TrimRight(content.Origin, " \t\r\n"); text != "" {
		lines = 1 + strings.Count(text, "\n")
	}
	end := y.doc.Offset(y.doc.Position(start).Line+lines, 1)
	if i := bytes.IndexByte(y.doc.Source[end:], '\n'); i >= 0 {
		return end + len(bytes.TrimRight(y.doc.Source[end:end+i], "\r"))
	}
	return len(y.doc.Source)
}
