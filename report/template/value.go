package template

import (
	"errors"
	"fmt"
	"reflect"
	"text/template/parse"
)

// pipe returns the value of a pipeline of one command, and gives it to the variables
// that the pipeline declares.
func (f *filling) pipe(p *parse.PipeNode, dot reflect.Value) (reflect.Value, error) {
	if len(p.Cmds) != 1 || p.IsAssign {
		return reflect.Value{}, f.fault(p, "is not one command")
	}
	v, err := f.command(p.Cmds[0], dot)
	if err != nil {
		return v, err
	}
	for _, d := range p.Decl {
		f.variables = append(f.variables, variable{d.Ident[0], v})
	}
	return v, nil
}

func (f *filling) command(c *parse.CommandNode, dot reflect.Value) (reflect.Value, error) {
	name, called := c.Args[0].(*parse.IdentifierNode)
	if !called {
		if len(c.Args) > 1 {
			return reflect.Value{}, f.fault(c, "has arguments and is no function")
		}
		return f.operand(c.Args[0], dot)
	}
	var args []any
	for _, a := range c.Args[1:] {
		v, err := f.operand(a, dot)
		if err != nil {
			return v, err
		}
		if v = inside(v); !v.IsValid() {
			return v, f.fault(c, "is called with nothing")
		}
		args = append(args, v.Interface())
	}
	result, err := f.set.funcs[name.Ident](args)
	if err != nil {
		return reflect.Value{}, f.fault(c, "cannot be computed: "+err.Error())
	}
	return reflect.ValueOf(result), nil
}

func (f *filling) operand(n parse.Node, dot reflect.Value) (reflect.Value, error) {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		return f.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		for i := len(f.variables) - 1; i >= 0; i-- {
			if f.variables[i].name == n.Ident[0] {
				return f.fields(n, f.variables[i].value, n.Ident[1:])
			}
		}
	case *parse.StringNode:
		return reflect.ValueOf(n.Text), nil
	}
	return reflect.Value{}, f.fault(n, "is not supported")
}

// fields returns a field of a field of a value.
func (f *filling) fields(n parse.Node, v reflect.Value, names []string) (reflect.Value, error) {
	for _, name := range names {
		if v = inside(v); v.Kind() != reflect.Struct {
			return v, f.fault(n, "is a field of "+v.Kind().String()+", wanted a struct")
		}
		if v = v.FieldByName(name); !v.IsValid() || !v.CanInterface() {
			return v, f.fault(n, "is no field")
		}
	}
	return v, nil
}

// inside returns what pointers and interfaces lead to, the zero value where that is
// nothing.
func inside(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// truth reports whether a value counts as true: it is there, and not false, 0 or empty.
func truth(v reflect.Value) bool {
	switch v = inside(v); v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

var errArguments = errors.New("it has the wrong arguments")

// equal reports whether two texts are the same.
func equal(args []any) (any, error) {
	if len(args) != 2 {
		return nil, errArguments
	}
	a, isText := args[0].(string)
	b, areTexts := args[1].(string)
	if !isText || !areTexts {
		return nil, errArguments
	}
	return a == b, nil
}

// not returns whether its argument counts as false.
func not(args []any) (any, error) {
	if len(args) != 1 {
		return nil, errArguments
	}
	return !truth(reflect.ValueOf(args[0])), nil
}

// or returns the first argument that counts as true, the last where none does.
func or(args []any) (any, error) {
	for _, a := range args {
		if truth(reflect.ValueOf(a)) {
			return a, nil
		}
	}
	if len(args) == 0 {
		return nil, errArguments
	}
	return args[len(args)-1], nil
}

// index returns an element of a list of texts.
func index(args []any) (any, error) {
	if len(args) != 2 {
		return nil, errArguments
	}
	list, isList := args[0].([]string)
	at, isNumber := args[1].(int)
	if !isList || !isNumber {
		return nil, errArguments
	}
	if at < 0 || at >= len(list) {
		return nil, fmt.Errorf("there is no element %d of %d", at, len(list))
	}
	return list[at], nil
}
