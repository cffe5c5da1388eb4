package schemas

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/contextosai/packgate/pack"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ValidateNode checks a value of a document as [Validate] checks what it decodes to. Most
// documents fit, which is seen without decoding them for the validator; of any other one the
// validator says what is wrong, so that no violation is found here.
func ValidateNode(name string, n *pack.Node) ([]Violation, error) {
	entry, err := shared().entry(name)
	if err != nil {
		return nil, err
	}
	fit, err := entry.fits()
	if err != nil {
		return nil, err
	}
	if fit.of(n, 0) == yes {
		return nil, nil
	}
	return Validate(name, n.Any())
}

// answer says whether a value fits a schema, as far as that is known here. Of several that have
// to hold, the least one holds.
type answer uint8

const (
	no answer = iota
	unsure
	yes
)

func answerOf(ok bool) answer {
	if ok {
		return yes
	}
	return no
}

// draft is the version of JSON Schema that is understood here.
const draft = 2020

// mostDeep is how deep values and references lead before nothing is known: deeper than documents may be.
const mostDeep = 256

// fit is a compiled schema, as far as it is known here what it asks.
type fit struct {
	unsure   bool // it asks for something else
	ref      *fit
	types    map[pack.Kind]bool // nil for all
	integers bool               // of numbers
	texts    map[string]bool    // enum or const of texts; nil for none
	format   func(any) error

	condition, then, otherwise *fit

	required   []string
	properties map[string]*fit
	closed     bool // to other members
	others     *fit

	leastItems, leastLength int
	items                   *fit
	pattern                 jsonschema.Regexp
	least, most             *float64
}

// understood are the members of a compiled schema that a fit has, or that ask for nothing.
var understood = []string{
	"up", "resource", "dynamicAnchors", "allPropsEvaluated", "allItemsEvaluated", "numItemsEvaluated", "DraftVersion", "Location", "ID", "Anchor",
	"Title", "Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated",
	"Bool", "Ref", "Types", "Enum", "Const", "Format", "If", "Then", "Else", "Required", "Properties", "AdditionalProperties",
	"MinItems", "Items2020", "MinLength", "Pattern", "Minimum", "Maximum",
}

// newFit returns what a schema asks. Known are those that lead to it.
func newFit(s *jsonschema.Schema, known map[*jsonschema.Schema]*fit) *fit {
	if s == nil || known[s] != nil {
		return known[s]
	}
	f := &fit{}
	known[s] = f
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsZero() && !slices.Contains(understood, v.Type().Field(i).Name) {
			f.unsure = true
		}
	}
	f.unsure = f.unsure || s.DraftVersion != draft || s.Bool != nil && !*s.Bool
	f.ref, f.condition, f.then, f.otherwise = newFit(s.Ref, known), newFit(s.If, known), newFit(s.Then, known), newFit(s.Else, known)
	f.addTypes(s)
	f.addWords(s)
	if s.Format != nil {
		f.format = s.Format.Validate
	}
	f.required, f.items, f.pattern = s.Required, newFit(s.Items2020, known), s.Pattern
	for name, of := range s.Properties {
		if f.properties == nil {
			f.properties = map[string]*fit{}
		}
		f.properties[name] = newFit(of, known)
	}
	switch others := s.AdditionalProperties.(type) {
	case bool:
		f.closed = !others
	case *jsonschema.Schema:
		f.others = newFit(others, known)
	}
	if s.MinItems != nil {
		f.leastItems = *s.MinItems
	}
	if s.MinLength != nil {
		f.leastLength = *s.MinLength
	}
	f.least, f.most = f.whole(s.Minimum), f.whole(s.Maximum)
	return f
}

// whole returns a bound that a float64 holds exactly, however it is written.
func (f *fit) whole(bound *big.Rat) *float64 {
	if bound == nil {
		return nil
	}
	n, exact := bound.Float64()
	f.unsure = f.unsure || !exact || !bound.IsInt()
	return &n
}

func (f *fit) addTypes(s *jsonschema.Schema) {
	if s.Types == nil || s.Types.IsEmpty() {
		return
	}
	f.types = map[pack.Kind]bool{}
	for _, name := range s.Types.ToStrings() {
		kind, known := map[string]pack.Kind{
			"null": pack.Null, "boolean": pack.Bool, "number": pack.Number, "integer": pack.Number, "string": pack.String, "array": pack.Array, "object": pack.Object,
		}[name]
		f.unsure = f.unsure || !known
		f.types[kind] = true
	}
	f.integers = !slices.Contains(s.Types.ToStrings(), "number")
}

// addWords adds the words that a text may be. Of other values nothing is known.
func (f *fit) addWords(s *jsonschema.Schema) {
	var words []any
	switch {
	case s.Enum != nil && s.Const != nil:
		f.unsure = true
		return
	case s.Enum != nil:
		words = s.Enum.Values
	case s.Const != nil:
		words = []any{*s.Const}
	default:
		return
	}
	f.texts = map[string]bool{}
	for _, word := range words {
		text, ok := word.(string)
		f.unsure = f.unsure || !ok
		f.texts[text] = true
	}
}

// of says whether a value fits.
func (f *fit) of(n *pack.Node, depth int) answer {
	if f.unsure || depth > mostDeep {
		return unsure
	}
	all := yes
	if f.ref != nil {
		all = f.ref.of(n, depth+1)
	}
	if f.types != nil && (!f.types[n.Kind] || n.Kind == pack.Number && f.integers && n.Number != math.Trunc(n.Number)) ||
		f.texts != nil && (n.Kind != pack.String || !f.texts[n.Text]) {
		return no
	}
	if f.format != nil {
		all = min(all, f.formatted(n))
	}
	if f.condition != nil {
		switch f.condition.of(n, depth+1) {
		case unsure:
			all = min(all, unsure)
		case yes:
			all = min(all, f.then.maybe(n, depth+1))
		default:
			all = min(all, f.otherwise.maybe(n, depth+1))
		}
	}
	switch n.Kind {
	case pack.Object:
		return min(all, f.object(n, depth+1))
	case pack.Array:
		return min(all, f.array(n, depth+1))
	case pack.String:
		return min(all, answerOf((f.leastLength == 0 || utf8.RuneCountInString(n.Text) >= f.leastLength) && (f.pattern == nil || f.pattern.MatchString(n.Text))))
	case pack.Number:
		return min(all, answerOf((f.least == nil || n.Number >= *f.least) && (f.most == nil || n.Number <= *f.most)))
	}
	return all
}

// maybe is of for a schema that need not be there.
func (f *fit) maybe(n *pack.Node, depth int) answer {
	if f == nil {
		return yes
	}
	return f.of(n, depth)
}

func (f *fit) formatted(n *pack.Node) answer {
	if n.Kind != pack.String {
		return unsure
	}
	return answerOf(f.format(n.Text) == nil)
}

func (f *fit) object(n *pack.Node, depth int) answer {
	for _, name := range f.required {
		if n.Get(name) == nil {
			return no
		}
	}
	if f.properties == nil && f.others == nil && !f.closed {
		return yes
	}
	all := yes
	for i := range n.Members {
		m := &n.Members[i]
		one := f.others
		if of, known := f.properties[m.Name]; known {
			one = of
		} else if f.closed {
			return no
		}
		fits := one.maybe(m.Value, depth)
		if fits == no && n.Get(m.Name) != m.Value {
			fits = unsure // another one of the name counts
		}
		if all = min(all, fits); all == no {
			return no
		}
	}
	return all
}

func (f *fit) array(n *pack.Node, depth int) answer {
	if len(n.Items) < f.leastItems {
		return no
	}
	all := yes
	if f.items != nil {
		for _, item := range n.Items {
			if all = min(all, f.items.of(item, depth)); all == no {
				return no
			}
		}
	}
	return all
}

// fitsOf returns what a schema asks, which is worked out once.
func fitsOf(compiled func() (*jsonschema.Schema, error)) func() (*fit, error) {
	return sync.OnceValues(func() (*fit, error) {
		s, err := compiled()
		if err != nil {
			return nil, err
		}
		return newFit(s, map[*jsonschema.Schema]*fit{}), nil
	})
}
