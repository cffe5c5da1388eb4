package risk

import "strings"

// adapterPrefix is what adapter ids begin with and evidence names leave out.
const adapterPrefix = "adp_"

// toolsByEvidence returns the capabilities that give each piece of evidence, by
// its folded name (rule catalogue, "Referential integrity": the names that an
// allowed permission gives).
func toolsByEvidence(open []*capability) map[string][]*capability {
	tools := map[string][]*capability{}
	for _, c := range open {
		adapter := c.adapter.AdapterID.Value
		short := strings.TrimPrefix(adapter, adapterPrefix)
		seen := map[string]bool{}
		for _, name := range []string{c.name, adapter + "." + c.name, short + "_" + c.name, singular(short) + "_" + c.name} {
			if name = foldName(name); !seen[name] {
				seen[name] = true
				tools[name] = append(tools[name], c)
			}
		}
	}
	return tools
}

// foldName makes the names equal that differ in '.' and '_' alone.
func foldName(name string) string { return strings.ReplaceAll(name, ".", "_") }

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
