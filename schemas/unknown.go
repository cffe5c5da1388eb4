package schemas

import (
	"cmp"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

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
