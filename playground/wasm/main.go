//go:build js && wasm

// Command wasm is the playground of the HTML report as WebAssembly: the compiler and
// the solver, for a page to call. It sets packgatePlayground on the global object:
// open(json) reads a pack and returns what it is about, with a handle; compile(handle,
// json) and reach(handle, goal) return what the package engine says. All of them take
// and return JSON; an object with the member error says what went wrong.
package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/contextosai/packgate/playground/engine"
)

// opened are the playgrounds of the page, by handle.
var opened []*engine.Playground

func main() {
	api := js.Global().Get("Object").New()
	api.Set("open", function(1, open))
	api.Set("compile", function(2, compile))
	api.Set("reach", function(2, reach))
	js.Global().Set("packgatePlayground", api)
	select {} // the page calls from here on
}

// function makes a function of the page, with that many arguments.
func function(arguments int, call func([]js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (out any) {
		// What goes wrong is said in the page, and the next call works again.
		defer func() {
			if r := recover(); r != nil {
				out = encode(nil, fmt.Errorf("%v", r))
			}
		}()
		if len(args) != arguments {
			return encode(nil, fmt.Errorf("called with %d arguments, wanted %d", len(args), arguments))
		}
		return encode(call(args))
	})
}

func encode(v any, err error) string {
	if err == nil {
		var b []byte
		if b, err = json.Marshal(v); err == nil {
			return string(b)
		}
	}
	b, _ := json.Marshal(map[string]string{"error": err.Error()}) // of a text, which cannot fail
	return string(b)
}

func open(args []js.Value) (any, error) {
	p, err := engine.Open([]byte(args[0].String()))
	if err != nil {
		return nil, err
	}
	opened = append(opened, p)
	return struct {
		Handle int `json:"handle"`
		engine.About
	}{len(opened) - 1, p.About()}, nil
}

// of returns the playground of a handle.
func of(handle js.Value) (*engine.Playground, error) {
	if i := handle.Int(); i >= 0 && i < len(opened) {
		return opened[i], nil
	}
	return nil, fmt.Errorf("there is no playground %v", handle)
}

func compile(args []js.Value) (any, error) {
	p, err := of(args[0])
	if err != nil {
		return nil, err
	}
	var q engine.Question
	if err := json.Unmarshal([]byte(args[1].String()), &q); err != nil {
		return nil, err
	}
	return p.Compile(q), nil
}

func reach(args []js.Value) (any, error) {
	p, err := of(args[0])
	if err != nil {
		return nil, err
	}
	return p.Reach(args[1].Int()), nil
}
