package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// mostShown is how many characters of a pack's own text a message repeats:
// enough to recognise it, too few to fill a report with it.
const mostShown = 48

// quote quotes text of a document for a message.
func quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, mostShown)) }

// literal shows a number as it is written.
func literal(n *pack.Node) string { return pack.Clip(n.Raw(), mostShown) }

// subject names a value in a message: by its member name, as an item of the
// value that holds it, or as the document.
func subject(n *pack.Node) string {
	if n.Parent == nil {
		return "the document"
	}
	if name, ok := n.Name(); ok {
		return quote(name)
	}
	return "this item of " + subject(n.Parent)
}

// violation words one violation of a schema: the schema's own words with the
// name of the value that they are about, and what to do.
func violation(schema string, root *pack.Node, v schemas.Violation) gate.Diagnostic {
	at := pack.Place(root.Find(v.Pointer), root)
	switch v.Keyword {
	case "required":
		return gate.Faultf(at, addOrRename(schema, at, v.Property), "%s has no member %q", subject(at), v.Property).Keyed(v.Property)
	case "additionalProperties":
		return gate.Diagnostic{
			At:      pack.Place(at.Get(v.Property), at),
			Name:    true,
			Message: v.Message,
			Hint:    renameOrRemove(v.Nearest),
		}
	}
	d := gate.Diagnostic{At: at, Key: v.Keyword, Message: subject(at) + " " + v.Message}
	switch v.Keyword {
	case "enum":
		fixWord(&d, v)
	case "type":
		fixType(&d, v)
	}
	if d.Hint == "" {
		d.Hint = "see packgate schema " + schema
	}
	return d
}

// fixWord says which of the known words to use. A word that differs in letter
// case alone can be replaced without asking.
func fixWord(d *gate.Diagnostic, v schemas.Violation) {
	switch {
	case v.Nearest == "":
		d.Hint = "use one of these words"
	case strings.EqualFold(d.At.Text, v.Nearest):
		replaceBy(d, quoteJSON(v.Nearest), "")
	default:
		d.Hint = fmt.Sprintf("write %q", v.Nearest)
	}
}

func renameOrRemove(nearest string) string {
	if nearest != "" {
		return fmt.Sprintf("rename it to %q", nearest)
	}
	return "remove it"
}

// fixType says how to write a value that is only dressed as another type: a
// number or boolean in quotes, or a single text where a list is wanted.
func fixType(d *gate.Diagnostic, v schemas.Violation) {
	text := d.At.Text
	short := pack.Clip(text, mostShown) == text
	wants := func(noun string) bool { return strings.HasPrefix(v.Message, "must be "+noun+",") }
	switch {
	case wants("a string") && (d.At.Kind == pack.Number || d.At.Kind == pack.Bool):
		d.Hint = "write it in quotes"
	case d.At.Kind != pack.String:
	case wants("a boolean") && (text == "true" || text == "false"),
		wants("a number") && short && isJSON[float64](text),
		wants("a whole number") && short && isJSON[int64](text):
		replaceBy(d, text, " without quotes")
	case wants("an array"):
		d.Hint = "write it in brackets, as a list of one"
	}
}

// isJSON reports whether text is the JSON form of a T.
func isJSON[T any](text string) bool {
	return json.Unmarshal([]byte(text), new(T)) == nil && text != "null" && strings.TrimSpace(text) == text
}

// replaceBy gives a diagnostic the hint and the fix to write value instead.
func replaceBy(d *gate.Diagnostic, value, how string) {
	d.Hint = "write " + value + how
	d.Fix = gate.Edit(d.Hint, "replace", d.At.Pointer(), value)
}

// quoteJSON writes a word of the schema, which needs no escapes, as JSON.
func quoteJSON(word string) string { return `"` + word + `"` }
