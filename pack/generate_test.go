package pack

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes random documents in the shape of the contract, with every
// oddity that paths have to survive: identities that are missing, repeated,
// empty, that look like indexes or like member names, and values of the wrong
// type anywhere.
type generator struct {
	*rand.Rand
	b strings.Builder
}

// generate returns the document of a seed; the same one for the same seed.
func generate(seed uint64) []byte {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	g.value(contract, 0)
	return []byte(g.b.String())
}

var oddNames = []string{
	"", "a", "b", "c", "A", "[0]", "[1]", "[2]", "[]", "[x]", "[01]", "0", "1", "-", "a/b~c", "~1", "~", "/", "a@1", "a@1@1", "@1", "a@",
	"policy_dsl", "rules", "language", "rule_id", "bundle_id", "version", "*", "é", "𝄞", "\uFB33", "\u2028", "\"", "\\", "\x00", "__index",
}

func (g *generator) name() string { return oddNames[g.IntN(len(oddNames))] }

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

func (g *generator) space() {
	for g.one(4) {
		g.b.WriteString([]string{" ", "\n", "\t", "\r\n", "  "}[g.IntN(5)])
	}
}

func (g *generator) text(s string) {
	if !g.one(4) {
		quoted, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		g.b.Write(quoted)
		return
	}
	g.b.WriteByte('"')
	for _, c := range s {
		if c > 0xFFFF {
			c -= 0x10000
			fmt.Fprintf(&g.b, `\u%04X\u%04x`, 0xD800+c>>10, 0xDC00+c&0x3FF)
		} else {
			fmt.Fprintf(&g.b, `\u%04x`, c)
		}
	}
	g.b.WriteByte('"')
}

// value writes a value of the shape, or now and then of another.
func (g *generator) value(s *shape, depth int) {
	g.space()
	switch {
	case s == nil || depth > 0 && g.one(12):
		g.any(depth)
	case s.set:
		g.list(func() {
			if g.one(8) {
				g.any(depth + 1)
			} else {
				g.text(g.name())
			}
		})
	case s.id != "":
		g.list(func() {
			if g.one(8) {
				g.any(depth + 1)
			} else {
				g.object(g.itemMembers(s), s.item, depth+1)
			}
		})
	default:
		g.object(g.shapedMembers(s, depth), s, depth)
	}
	g.space()
}

func (g *generator) list(item func()) {
	g.b.WriteByte('[')
	for i := range g.IntN(5) {
		if i > 0 {
			g.b.WriteByte(',')
		}
		g.space()
		item()
		g.space()
	}
	g.b.WriteByte(']')
}

// itemMembers returns the members of an item with an identity.
func (g *generator) itemMembers(s *shape) []string {
	var list []string
	for _, name := range []string{s.id, s.version} {
		if name != "" && !g.one(8) {
			list = append(list, name)
		}
	}
	if s.item != nil {
		list = append(list, g.shapedMembers(s.item, 1)...)
	}
	return append(list, g.extra()...)
}

func (g *generator) shapedMembers(s *shape, depth int) []string {
	var list []string
	for name := range s.members {
		if name != "*" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	list = slices.DeleteFunc(list, func(string) bool { return depth > 0 && g.one(4) || depth == 0 && g.one(2) })
	if s.members["*"] != nil {
		list = append(list, "amount", "currency")
	}
	return append(list, g.extra()...)
}

func (g *generator) extra() (list []string) {
	for g.one(3) {
		list = append(list, g.name())
	}
	return list
}

func (g *generator) object(names []string, s *shape, depth int) {
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	g.b.WriteByte('{')
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		if len(seen) > 0 {
			g.b.WriteByte(',')
		}
		seen[name] = true
		g.space()
		g.text(name)
		g.space()
		g.b.WriteByte(':')
		if strings.HasSuffix(name, "_id") || name == "decision_key" || name == "version" || name == "metric" || name == "intent" {
			g.space()
			g.text([]string{"a", "a", "b", "1", g.name(), g.name()}[g.IntN(6)])
			g.space()
			continue
		}
		g.value(s.member(name), depth+1)
	}
	g.space()
	g.b.WriteByte('}')
}

func (g *generator) any(depth int) {
	kinds := 7
	if depth > 8 {
		kinds = 5
	}
	switch g.IntN(kinds) {
	case 0:
		g.b.WriteString([]string{"null", "true", "false"}[g.IntN(3)])
	case 1, 2:
		g.b.WriteString([]string{"0", "-0", "1", "-1", "0.1", "1e3", "1E-2", "9007199254740992", "1e300", "5e-324", "3000", "1.50"}[g.IntN(12)])
	case 3, 4:
		g.text(g.name())
	case 5:
		g.list(func() { g.any(depth + 1) })
	case 6:
		g.object(g.extra(), nil, depth+1)
	}
}

// shuffled writes the document again with other formatting and, at random,
// another order of members and of named items; items without a name stay where
// they are.
func shuffled(doc *Document, seed uint64, items bool) []byte {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2))}
	g.again(doc, doc.Root, contract, items)
	return []byte(g.b.String())
}

func (g *generator) again(doc *Document, n *Node, s *shape, items bool) {
	g.space()
	defer g.space()
	switch n.Kind {
	case Object:
		g.b.WriteByte('{')
		for i, at := range g.Perm(len(n.Members)) {
			if i > 0 {
				g.b.WriteByte(',')
			}
			g.space()
			g.text(n.Members[at].Name)
			g.b.WriteByte(':')
			g.again(doc, n.Members[at].Value, s.member(n.Members[at].Name), items)
		}
		g.b.WriteByte('}')
	case Array:
		var inner *shape
		order := slices.Clone(n.Items)
		if s.listed() {
			inner = s.item
			if items {
				g.reorder(order, s.names(n))
			}
		}
		g.b.WriteByte('[')
		for i, item := range order {
			if i > 0 {
				g.b.WriteByte(',')
			}
			g.again(doc, item, inner, items)
		}
		g.b.WriteByte(']')
	case String:
		g.text(n.Text)
	default:
		g.b.Write(doc.Source[n.Start:n.End])
	}
}

func (g *generator) reorder(items []*Node, names []string) {
	var named []int
	for i, name := range names {
		if !isIndex(name) {
			named = append(named, i)
		}
	}
	g.Shuffle(len(named), func(i, j int) {
		items[named[i]], items[named[j]] = items[named[j]], items[named[i]]
	})
}
