package gate

import "strings"

// adapterPrefix is what adapter ids begin with and evidence names leave out.
const adapterPrefix = "adp_"

// EvidenceNames returns the names under which a capability of an adapter gives
// evidence (rule catalogue, "Referential integrity"), the plainest last.
func EvidenceNames(adapter, capability string) []string {
	short := strings.TrimPrefix(adapter, adapterPrefix)
	return []string{
		capability, adapter + "." + capability, short + "_" + capability, singular(short) + "_" + capability,
	}
}

// FoldEvidence makes the names of evidence equal that differ in '.' and '_' alone.
func FoldEvidence(name string) string { return strings.ReplaceAll(name, ".", "_") }

// singular returns the singular of an English plural such as "orders",
// "policies" or "addresses", and any other word as it is.
func singular(word string) string {
	for _, ending := range []struct{ plural, singular string }{
		{"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"}, {"zes", "z"},
		{"ss", "ss"}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(word, ending.plural); ok && stem != "" {
			return stem + ending.singular
		}
	}
	return word
}
