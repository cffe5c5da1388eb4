package schemas

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Grammar of the messages in this file: lower case, no final period; first what
// was wanted ("must be …"), then what is there ("not …"); values of the
// document are quoted and clipped; choices are sorted; a suggestion comes last.

// maxShown is how many characters of a document's own text a message repeats.
// Enough to recognise a word, too few to carry a dump into a report.
const maxShown = 32

// flattener turns the validator's tree of errors into violations.
type flattener struct {
	library    *library
	document   any
	violations []Violation
	closed     []unknownMembers    // of objects that may have no others
	known      map[string][]string // by the location of a schema, the members it declares
}

// walk visits the leaves below e. The inner nodes only say that something below
// them failed. The error is for values that are not JSON.
func (f *flattener) walk(e *jsonschema.ValidationError) error {
	if invalid, ok := e.ErrorKind.(*kind.InvalidJsonValue); ok {
		return fmt.Errorf("value at %q is a %T, which is not decoded JSON", pack.JoinPointer(e.InstanceLocation), invalid.Value)
	}
	for _, cause := range e.Causes {
		if err := f.walk(cause); err != nil {
			return err
		}
	}
	if len(e.Causes) > 0 {
		return nil
	}
	f.leaf(e)
	return nil
}

func (f *flattener) leaf(e *jsonschema.ValidationError) {
	at := Violation{Pointer: pack.JoinPointer(e.InstanceLocation), Keyword: strings.Join(e.ErrorKind.KeywordPath(), "/")}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			at.Property, at.Message = name, fmt.Sprintf("member %q is missing", name)
			f.violations = append(f.violations, at)
		}
		return
	case *kind.AdditionalProperties:
		f.closed = append(f.closed, unknownMembers{at, e, k.Properties})
		return
	case *kind.Enum:
		at.Message, at.Nearest = enumWords(k)
	default:
		at.Message = f.words(e)
	}
	f.violations = append(f.violations, at)
}

// words gives the message of every kind of failure that concerns one value.
func (f *flattener) words(e *jsonschema.ValidationError) string {
	got := valueAt(f.document, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return typeWords(k, got)
	case *kind.Const:
		return fmt.Sprintf("must be %s, not %s", display(k.Want), display(k.Got))
	case *kind.Format:
		return fmt.Sprintf("must be %s, not %s", formatNoun(k.Want), display(k.Got))
	case *kind.Pattern:
		noun, ok := f.schemaAt(e.SchemaURL)["title"].(string)
		if !ok {
			noun = fmt.Sprintf("text that matches %s", k.Want)
		}
		return fmt.Sprintf("must be %s, not %s", noun, quote(k.Got))
	case *kind.Minimum:
		return fmt.Sprintf("must be at least %s, not %s", rational(k.Want), rational(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("must be at most %s, not %s", rational(k.Want), rational(k.Got))
	case *kind.MinItems:
		return atLeast(k.Want, k.Got, "item")
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items, not %d", k.Want, k.Got)
	case *kind.MinLength:
		return atLeast(k.Want, k.Got, "character")
	}
	return fmt.Sprintf("does not satisfy %q of the schema", strings.Join(e.ErrorKind.KeywordPath(), "/"))
}

// schemaAt returns the schema object at an absolute location of the validator,
// an identifier with a JSON pointer as its fragment; nil if there is none.
func (f *flattener) schemaAt(location string) map[string]any {
	url, pointer, _ := strings.Cut(location, "#")
	doc, err := f.library.byURL(url)
	if err != nil {
		return nil
	}
	segments, ok := splitFragment(pointer)
	if !ok {
		return nil
	}
	object, _ := valueAt(doc, segments).(map[string]any)
	return object
}

func typeWords(k *kind.Type, got any) string {
	want := make([]string, len(k.Want))
	for i, name := range k.Want {
		want[i] = typeNoun(name)
	}
	slices.Sort(want)
	is := typeNoun(k.Got)
	// "a whole number, not a number" would leave the reader guessing.
	if k.Got == "number" && slices.Contains(k.Want, "integer") {
		is = display(got)
	}
	return fmt.Sprintf("must be %s, not %s", strings.Join(want, " or "), is)
}

func typeNoun(name string) string {
	switch name {
	case "null":
		return "null"
	case "integer":
		return "a whole number"
	case "array", "object":
		return "an " + name
	}
	return "a " + name
}

func enumWords(k *kind.Enum) (message, nearest string) {
	choices := make([]string, 0, len(k.Want))
	var names []string
	for _, want := range k.Want {
		choices = append(choices, display(want))
		if name, ok := want.(string); ok {
			names = append(names, name)
		}
	}
	slices.Sort(choices)
	if got, ok := k.Got.(string); ok {
		nearest = Nearest(got, names)
	}
	message = fmt.Sprintf("must be one of %s, not %s", strings.Join(choices, ", "), display(k.Got))
	return message + didYouMean(nearest), nearest
}

func formatNoun(format string) string {
	switch format {
	case "date":
		return "a date such as 2027-03-31"
	case "date-time":
		return "an RFC 3339 date and time such as 2027-03-31T12:00:00Z"
	}
	return "a valid " + format
}

func atLeast(want, got int, noun string) string {
	if want == 1 {
		return "must not be empty"
	}
	return fmt.Sprintf("must have at least %d %ss, not %d", want, noun, got)
}

func didYouMean(nearest string) string {
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", nearest)
}

// display shows a JSON value in a message: scalars as they are written, larger
// values by their kind.
func display(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case float64:
		return number(v)
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(value)
}

// quote quotes text of a document, clipped to maxShown characters.
func quote(text string) string { return strconv.Quote(pack.Clip(text, maxShown)) }

// number writes a number without an exponent, unless it is huge or tiny.
func number(value float64) string {
	if size := math.Abs(value); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(value, 'g', -1, 64)
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

func rational(value *big.Rat) string {
	near, _ := value.Float64()
	return number(near)
}

// mostSuggested is for how many unknown members of a document a known one is looked
// for. A document has a few that are misspelled; one that has thousands was made to
// take long.
const mostSuggested = 1000

// unknownMembers are those of one closed object.
type unknownMembers struct {
	at    Violation
	found *jsonschema.ValidationError
	names []string
}

// unknown words the members that closed objects do not have, in the order of the
// objects' places: the validator has none, and only the first are compared.
func (f *flattener) unknown(all []unknownMembers) {
	slices.SortFunc(all, func(a, b unknownMembers) int {
		return cmp.Or(comparePointers(a.at.Pointer, b.at.Pointer), cmp.Compare(a.found.SchemaURL, b.found.SchemaURL))
	})
	suggested := 0
	for _, u := range all {
		known := f.declared(u.found.SchemaURL)
		absent := f.absent(u.found, known)
		for _, name := range slices.Sorted(slices.Values(u.names)) {
			u.at.Property, u.at.Nearest = name, ""
			if suggested++; suggested <= mostSuggested {
				u.at.Nearest = cmp.Or(Nearest(name, absent), Nearest(name, known))
			}
			u.at.Message = "unknown member " + quote(name) + didYouMean(u.at.Nearest)
			f.violations = append(f.violations, u.at)
		}
	}
}

// absent returns those of the known members that an object does not have. One that
// it has already is suggested only if no other is close: that a member is a second
// attempt is less probable than that it is a misspelling.
func (f *flattener) absent(e *jsonschema.ValidationError, known []string) []string {
	present, _ := valueAt(f.document, e.InstanceLocation).(map[string]any)
	return slices.DeleteFunc(slices.Clone(known), func(candidate string) bool {
		_, taken := present[candidate]
		return taken
	})
}

// declared returns the members that the schema object at an absolute location
// declares, sorted.
func (f *flattener) declared(location string) []string {
	names, asked := f.known[location]
	if !asked {
		properties, _ := f.schemaAt(location)["properties"].(map[string]any)
		names = slices.Sorted(maps.Keys(properties))
		f.known[location] = names
	}
	return names
}
