// Package template fills templates: those of the HTML report, and those of the files of
// a new repository.
//
// The templates are written in the language of text/template, and its own parser reads
// them. What differs is what fills them. text/template calls methods by names that are
// known only when it runs, so that a program which links it keeps every exported method
// of every type it has: about a fifth of packgate. This package reads fields of structs
// and calls the functions that it is given, and has no more of the language than our
// templates need. Whatever else one says is an error, and so is a value that is neither
// text nor a whole number.
//
// Each text that a template shows goes through one function, such as the escaping of
// HTML; only a value of the type [Markup] does not.
package template

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"text/template/parse"
)

// Markup is text of the program itself, which is shown as it is.
type Markup string

// Func is a function that templates call.
type Func func(args []any) (any, error)

// Options are how templates are read and filled.
type Options struct {
	Left, Right string              // the delimiters; "" for {{ and }}
	Escape      func(string) string // what each text goes through; nil for none
	Funcs       map[string]Func     // beside eq, index, not and or
}

// Set is a set of templates that may use one another. It is safe for concurrent use.
type Set struct {
	trees  map[string]*parse.Tree
	escape func(string) string
	funcs  map[string]Func
}

// Parse reads templates by their names, each of which may define others. The error says
// where one is no template.
func Parse(texts map[string]string, o Options) (*Set, error) {
	s := &Set{trees: map[string]*parse.Tree{}, escape: o.Escape, funcs: map[string]Func{"eq": equal, "index": index, "not": not, "or": or}}
	if s.escape == nil {
		s.escape = func(text string) string { return text }
	}
	known := map[string]any{}
	for name, f := range o.Funcs {
		s.funcs[name] = f
	}
	for name := range s.funcs {
		known[name] = true
	}
	for name, text := range texts {
		trees, err := parse.Parse(name, text, o.Left, o.Right, known)
		if err != nil {
			return nil, err
		}
		for defined, tree := range trees {
			if s.trees[defined] != nil {
				return nil, fmt.Errorf("template %q is defined twice", defined)
			}
			s.trees[defined] = tree
		}
	}
	return s, nil
}

// Execute appends the template of that name, filled with data, to b. What it wrote before
// an error stays there.
func (s *Set) Execute(b *bytes.Buffer, name string, data any) error {
	return (&filling{set: s, out: b}).template(name, reflect.ValueOf(data))
}

// mostNested bounds how deep templates may use one another.
const mostNested = 1000

// filling is one execution.
type filling struct {
	set       *Set
	out       *bytes.Buffer
	tree      *parse.Tree
	variables []variable
	nested    int
}

type variable struct {
	name  string
	value reflect.Value
}

func (f *filling) template(name string, dot reflect.Value) error {
	tree := f.set.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	if f.nested == mostNested {
		return fmt.Errorf("template %q: templates use one another more than %d deep", name, mostNested)
	}
	inner := &filling{set: f.set, out: f.out, tree: tree, variables: []variable{{"$", dot}}, nested: f.nested + 1}
	return inner.list(tree.Root, dot)
}

// list fills nodes, after which the variables that they declared are gone.
func (f *filling) list(l *parse.ListNode, dot reflect.Value) error {
	if l == nil {
		return nil
	}
	before := len(f.variables)
	defer func() { f.variables = f.variables[:before] }()
	for _, n := range l.Nodes {
		if err := f.node(n, dot); err != nil {
			return err
		}
	}
	return nil
}

func (f *filling) node(n parse.Node, dot reflect.Value) error {
	switch n := n.(type) {
	case *parse.TextNode:
		f.out.Write(n.Text)
		return nil
	case *parse.ActionNode:
		v, err := f.pipe(n.Pipe, dot)
		if err != nil || len(n.Pipe.Decl) > 0 {
			return err
		}
		return f.print(n, v)
	case *parse.IfNode:
		return f.branch(&n.BranchNode, dot, func(reflect.Value) error { return f.list(n.List, dot) })
	case *parse.WithNode:
		return f.branch(&n.BranchNode, dot, func(v reflect.Value) error { return f.list(n.List, v) })
	case *parse.RangeNode:
		return f.branch(&n.BranchNode, dot, func(v reflect.Value) error { return f.each(n, v) })
	case *parse.TemplateNode:
		v := reflect.Value{}
		if n.Pipe != nil {
			var err error
			if v, err = f.pipe(n.Pipe, dot); err != nil {
				return err
			}
		}
		return f.template(n.Name, v)
	}
	return f.fault(n, "is not supported")
}

// branch fills one of two lists by the truth of a pipeline. Variables that it declares
// are those of both.
func (f *filling) branch(n *parse.BranchNode, dot reflect.Value, then func(reflect.Value) error) error {
	before := len(f.variables)
	defer func() { f.variables = f.variables[:before] }()
	v, err := f.pipe(n.Pipe, dot)
	if err != nil {
		return err
	}
	if truth(v) {
		return then(v)
	}
	return f.list(n.ElseList, dot)
}

// each fills a list once for each element.
func (f *filling) each(n *parse.RangeNode, all reflect.Value) error {
	all = inside(all)
	if all.Kind() != reflect.Slice {
		return f.fault(n, "ranges over "+all.Kind().String()+", wanted a slice")
	}
	last, declared := len(f.variables)-1, len(n.Pipe.Decl)
	for i := range all.Len() {
		if declared > 0 {
			f.variables[last].value = all.Index(i)
		}
		if declared > 1 {
			f.variables[last-1].value = reflect.ValueOf(i)
		}
		if err := f.list(n.List, all.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// print shows a value.
func (f *filling) print(n parse.Node, v reflect.Value) error {
	switch v = inside(v); {
	case v.Kind() == reflect.String && v.Type() == reflect.TypeFor[Markup]():
		f.out.WriteString(v.String())
	case v.Kind() == reflect.String:
		f.out.WriteString(f.set.escape(v.String()))
	case v.CanInt():
		f.out.WriteString(strconv.FormatInt(v.Int(), 10))
	default:
		return f.fault(n, "is of the kind "+v.Kind().String()+", wanted text or a whole number")
	}
	return nil
}

func (f *filling) fault(n parse.Node, what string) error {
	at, _ := f.tree.ErrorContext(n)
	return fmt.Errorf("template %s: %s %s", at, n, what)
}
