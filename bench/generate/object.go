package generate

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order, so that files read as
// a person would have written them.
type object []member

type member struct {
	name  string
	value any
}

type list = []any

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		name, err := encode(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes a value without the escapes that are intended for web pages: a
// condition reads as ">" and not as its code.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// file returns the text of a JSON file, indented and with a final newline.
func file(v any) ([]byte, error) {
	compact, err := encode(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func texts(words []string) list {
	items := make(list, len(words))
	for i, w := range words {
		items[i] = w
	}
	return items
}

func variable(path string) object { return object{{"var", path}} }

// operation is a JsonLogic operation, such as {"==": [a, b]}.
func operation(name string, arguments ...any) object { return object{{name, list(arguments)}} }
