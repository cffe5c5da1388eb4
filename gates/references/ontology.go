package references

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// REF013: entities can be identified.
var REF013 = &gate.Rule{
	ID: "REF013", Name: "entity-without-namespace", Severity: finding.Warning,
	Title: "Every entity type has a CEID namespace",
	Doc: "Evidence and decision records name their subjects by CEID, such as `order:ord_881`. An entity type without a namespace " +
		"cannot be a subject: what is known about it cannot be connected to a record.\n\n" +
		"Add the namespace to `identity_layer.ceid_namespaces`. It is the entity type's name in any spelling of its words: " +
		"`OrderLine` has `order_line`, `order-line` or `orderline`. A plural is another name.",
	Bad: `"entity_types": ["Customer", "OrderLine"],
"ceid_namespaces": ["customer"]`,
	Good: `"entity_types": ["Customer", "OrderLine"],
"ceid_namespaces": ["customer", "order_line"]`,
	Check: checkNamespaces,
}

// REF016: embeddings are versioned.
var REF016 = &gate.Rule{
	ID: "REF016", Name: "unversioned-embedding-key", Severity: finding.Error,
	Title: "Every embedding key carries a version",
	Doc: "An embedding key names an index of vectors. If the index is rebuilt under the same name, it finds other evidence, and " +
		"decisions change although the pack did not. A version in the key makes such a change visible, and lets two packs use " +
		"two states of one index.\n\n" +
		"End the key with a version: `_v1` (also after `-`, `.`, `/`, `:` or `@`, and with further numbers, as in `-v2.1`), or " +
		"`@` and a version that begins with a digit, such as `@1.2.0` or `@2026-05-01`. A number alone, as in `orders_3`, does " +
		"not count as a version.",
	Bad:   `"embedding_keys": ["support_orders"]`,
	Good:  `"embedding_keys": ["support_orders_v1"]`,
	Check: checkEmbeddings,
}

func checkNamespaces(p *gate.Pass) {
	namespaces := p.Pack.IntelligenceRefs.IdentityLayer.CEIDNamespaces
	if !namespaces.OK {
		return
	}
	declared := map[string]bool{}
	for _, namespace := range pack.Values(namespaces) {
		declared[letters(namespace)] = true
	}
	known := newKnown(texts(namespaces), func(name string) string {
		return fmt.Sprintf("add %q to identity_layer.ceid_namespaces", snake(name))
	})
	for _, entity := range p.Pack.IntelligenceRefs.Ontology.EntityTypes.Items {
		if !entity.OK || declared[letters(entity.Value)] {
			continue
		}
		known.report(p, entity.Value, gate.Faultf(entity.Node, known.otherwise(entity.Value), "entity type %q has no CEID namespace", entity.Value))
	}
}

// letters returns a name in lower case without what separates its words.
func letters(name string) string { return wordBreaks.Replace(strings.ToLower(name)) }

// wordBreaks removes what separates the words of a name.
var wordBreaks = strings.NewReplacer("_", "", "-", "", " ", "")

// snake returns a name such as OrderLine as order_line.
func snake(name string) string {
	var b strings.Builder
	previous := '_'
	for _, r := range name {
		if r == '-' || r == ' ' {
			r = '_'
		}
		if unicode.IsUpper(r) && (unicode.IsLower(previous) || unicode.IsDigit(previous)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		previous = r
	}
	return b.String()
}

// versioned matches a key that ends in a version; REF016 says which count.
var versioned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[^@:/._-].*(?:[@:/._-][vV][0-9]+(?:\.[0-9]+)*|@[0-9][0-9A-Za-z.+-]*)$`)
})

func checkEmbeddings(p *gate.Pass) {
	for _, key := range p.Pack.IntelligenceRefs.EmbeddingKeys.Items {
		if !key.OK || versioned().MatchString(key.Value) {
			continue
		}
		p.Report(gate.Faultf(key.Node, "end it in the version of the index, such as _v1 or @1.0.0",
			"embedding key %q carries no version", key.Value).Keyed(key.Value))
	}
}
