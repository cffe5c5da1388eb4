package repository_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// said is one text of the program, as its source has it: the verbs of a format stand
// where the values will, and %v for what is put together from pieces.
type said struct {
	at   string // file and line
	kind string // what the text is: message, hint, error, reason
	of   string // the type of the value that it is a field of, or the function that it is given to
	text string
	bare bool // a message or an error of wrong use that has no hint
}

// fieldKinds are the fields of the values that carry words to a person.
var fieldKinds = map[string]string{
	"Message": "message", "message": "message", "Hint": "hint", "hint": "hint", "Reason": "reason", "Description": "hint",
}

// carriers are the types whose fields are read, each with whether a hint belongs to it.
var carriers = map[string]bool{
	"usageError": true, "Problem": true, "Fault": true,
	"Error": false, "Diagnostic": false, "Finding": false, "Related": false, "NotChecked": false, "Fix": false,
}

// wordsOf are the parameters that words to a person come in: what a function calls
// them says what they are. A format counts where its values follow.
var wordsOf = map[string]string{
	"message": "message", "format": "message", "hint": "hint", "reason": "reason", "why": "reason",
}

// printers are functions that write lines of a page, and no messages.
var printers = []string{"line", "paragraph", "fact", "add", "notes.say"}

// given is one argument of a function that takes words.
type given struct {
	argument int
	kind     string
}

// outsideWords are the functions of the standard library that take words.
var outsideWords = map[string][]given{"errors.New": {{0, "error"}}, "fmt.Errorf": {{0, "error"}}}

// everythingSaid reads the words of the program out of its source.
func everythingSaid(t *testing.T) []said {
	t.Helper()
	set := token.NewFileSet()
	product := func(file string) bool { return !isGear(file) && !strings.HasSuffix(file, "_test.go") }
	parsed := sources(t, set, 0, product)
	givers := map[string][]given{} // by the function's package and name
	for _, f := range parsed {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && !slices.Contains(printers, d.Name.Name) && !slices.Contains(printers, methodName(d)) {
				key := f.Name.Name + "." + d.Name.Name
				givers[key] = append(givers[key], takes(d)...)
			}
		}
	}
	maps.Copy(givers, outsideWords)
	constants := map[string]string{} // by package and name
	for _, f := range parsed {
		maps.Copy(constants, constantsOf(f.File))
	}
	var all []said
	for _, f := range parsed {
		ast.Inspect(f.File, func(n ast.Node) bool {
			var found []said
			switch n := n.(type) {
			case *ast.CompositeLit:
				found = fieldsOf(n, words{f.Name.Name, constants})
			case *ast.CallExpr:
				found = givenTo(n, givers, words{f.Name.Name, constants})
			}
			for _, s := range found {
				p := set.Position(n.Pos())
				s.at = p.Filename + ":" + strconv.Itoa(p.Line)
				all = append(all, s)
			}
			return true
		})
	}
	return all
}

// methodName returns the name of a method with its receiver's: starting.say.
func methodName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	return lastName(of) + "." + d.Name.Name
}

// takes returns which arguments of a function are words, by the names of its parameters.
func takes(d *ast.FuncDecl) (list []given) {
	var names []string
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	_, variadic := d.Type.Params.List[len(d.Type.Params.List)-1].Type.(*ast.Ellipsis)
	for i, name := range names {
		if kind := wordsOf[name]; kind != "" && (name != "format" || variadic) {
			list = append(list, given{i, kind})
		}
	}
	return list
}

// fieldsOf returns the words in the fields of a literal of a carrier.
func fieldsOf(lit *ast.CompositeLit, w words) []said {
	of := lastName(lit.Type)
	wantsHint, carrier := carriers[of]
	if !carrier {
		return nil
	}
	var found []said
	hinted := false
	for _, e := range lit.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		kind := fieldKinds[lastName(field.Key)]
		hinted = hinted || kind == "hint"
		if text, ok := w.textOf(field.Value); ok && kind != "" {
			found = append(found, said{kind: kind, of: of, text: text})
		}
	}
	for i := range found {
		found[i].bare = wantsHint && !hinted && found[i].kind == "message"
	}
	return found
}

// givenTo returns the words that a call gives to a function that takes some. A method
// is looked for in the package that calls it, for only there are such methods private.
func givenTo(call *ast.CallExpr, givers map[string][]given, w words) (found []said) {
	name := lastName(call.Fun)
	list := givers[w.in+"."+name]
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		of := lastName(s.X)
		if l, ok := givers[of+"."+name]; ok {
			list = l
		}
		if of == "p" && list == nil { // the pass of a rule, wherever the rule is
			list = givers["gate."+name]
		}
	}
	for _, g := range list {
		if g.argument >= len(call.Args) {
			continue
		}
		if text, ok := w.textOf(call.Args[g.argument]); ok {
			found = append(found, said{kind: g.kind, of: name, text: text})
		}
	}
	return found
}

// lastName returns the last name of a type, a field or a function: Problem of repo.Problem.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// words reads texts in one package, where names stand for constants.
type words struct {
	in        string
	constants map[string]string // by package and name
}

// constantsOf returns the constants of a file that are texts, by package and name.
func constantsOf(f *ast.File) map[string]string {
	found := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			return true
		}
		for _, spec := range d.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, value := range spec.Values {
				if text, ok := (words{}).textOf(value); ok {
					found[f.Name.Name+"."+spec.Names[i].Name] = text
				}
			}
		}
		return true
	})
	return found
}

// textOf returns the words of an expression, and whether it has any: a literal, a
// format, or pieces put together.
func (w words) textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, l := w.textOf(e.X)
		right, r := w.textOf(e.Y)
		if !l {
			left = "%v"
		}
		if !r {
			right = "%v"
		}
		return left + right, l || r
	case *ast.Ident:
		s, ok := w.constants[w.in+"."+e.Name]
		return s, ok
	case *ast.ParenExpr:
		return w.textOf(e.X)
	case *ast.CallExpr:
		if lastName(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return w.textOf(e.Args[0])
		}
	}
	return "", false
}
