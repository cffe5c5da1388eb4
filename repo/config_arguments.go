package repo

import "github.com/contextosai/packgate/pack"

// Argument is the meaning of an argument of a tool: a multiple of what a variable of the request
// declares, or nothing that is declared.
type Argument struct {
	Name  string // adapter.capability.argument
	Node  *pack.Node
	Is    pack.Text // the variable; not OK for "none"
	Scale float64
}

// Meanings returns the meanings of arguments of tools in the config, in its order. The scale is 1 if the
// config has none.
func (c *Config) Meanings() []Argument {
	var list []Argument
	for _, e := range c.Arguments.Entries {
		a := Argument{Name: e.Name, Node: e.Value, Scale: 1}
		var says struct {
			Is    pack.Text `json:"is"`
			Scale pack.Num  `json:"scale"`
		}
		if e.Value.Kind == pack.Object {
			pack.Decode(e.Value, &says)
		}
		if a.Is = says.Is; says.Scale.OK {
			a.Scale = says.Scale.Value
		}
		list = append(list, a)
	}
	return list
}

// otherMeaning: an argument that is held to what the request declares is only surely held
// to no less where it was held to nothing, or to a larger multiple of the same.
func otherMeaning(was, is *pack.Node) bool {
	none := func(n *pack.Node) bool { return n != nil && n.Kind == pack.String }
	switch {
	case none(was):
		return false
	case was == nil || is == nil || none(is):
		return true
	}
	return !same(was.Get("is"), is.Get("is")) || number(is.Get("scale"), 1) > number(was.Get("scale"), 1)
}
