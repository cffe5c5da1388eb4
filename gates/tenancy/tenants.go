package tenancy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// tenants tells the pack's own tenant from others in a text.
type tenants struct {
	own pack.Text
	// others are the ids that the environments' catalogs name, and listed says
	// that one of them names tenants at all.
	others []string
	listed bool
	// prefix is what ids begin with, such as "tenant_"; "" where the own id does
	// not have one.
	prefix string
	// plain are words that begin like an id and are none, such as tenant_id.
	plain []string
	// known are all of these words, and lengths their lengths, longest first: a
	// text is looked through once, however many tenants there are.
	known   map[string]bool
	lengths []int
}

// newTenants returns nil where the pack has no tenant that others could differ
// from.
func newTenants(p *gate.Pass) *tenants {
	own := p.Pack.PackMeta.Tenant.TenantID
	if !own.OK || strings.TrimSpace(own.Value) == "" || isWildcard(own.Value) {
		return nil
	}
	t := &tenants{own: own}
	if i := strings.IndexAny(own.Value, "_-"); i > 0 && i < len(own.Value)-1 {
		t.prefix = own.Value[:i+1]
		for _, end := range []string{"id", "ids", "name", "names"} {
			t.plain = append(t.plain, t.prefix+end)
		}
	}
	for _, e := range p.Environments {
		for _, endpoint := range e.Endpoints.Entries {
			t.listed = t.listed || endpoint.Value.Tenants.OK
			for _, id := range pack.Values(endpoint.Value.Tenants) {
				if id != own.Value && !isWildcard(id) && strings.ContainsFunc(id, isWordRune) {
					t.others = append(t.others, id)
				}
			}
		}
	}
	slices.Sort(t.others)
	t.others = slices.Compact(t.others)
	t.index()
	return t
}

// index prepares the search for the known words.
func (t *tenants) index() {
	t.known = map[string]bool{}
	for _, id := range slices.Concat([]string{t.own.Value}, t.plain, t.others) {
		t.known[id] = true
		t.lengths = append(t.lengths, len(id))
	}
	slices.SortFunc(t.lengths, func(a, b int) int { return cmp.Compare(b, a) })
	t.lengths = slices.Compact(t.lengths)
}

func isWordRune(r rune) bool { return r < 128 && isIDByte(byte(r)) && r != '_' && r != '-' }

// isIDByte reports whether a byte can stand inside of an id. Every byte of a
// character beyond ASCII can, so that an id never begins within a word.
func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// foreign returns the other tenants that a text names, in the order of the text
// and each once. Guests may be named like the own tenant. At each place the
// longest known id counts, so that the own id hides a shorter one in it.
func (t *tenants) foreign(text string, guests ...string) (found []string) {
	mine := slices.Concat([]string{t.own.Value}, guests, t.plain)
	for i := 0; i < len(text); {
		id := t.idAt(text, i, guests)
		if id == "" {
			i++
			continue
		}
		if !slices.Contains(mine, id) && !slices.Contains(found, id) {
			found = append(found, id)
		}
		i += len(id)
	}
	return found
}

// idAt returns the id that begins at a place of a text, "" where none does.
func (t *tenants) idAt(text string, at int, guests []string) string {
	if at > 0 && isIDByte(text[at-1]) {
		return ""
	}
	rest := text[at:]
	if id := t.knownAt(rest, guests); id != "" {
		return id
	}
	if t.prefix == "" || !strings.HasPrefix(rest, t.prefix) {
		return ""
	}
	end := 0
	for end < len(rest) && isIDByte(rest[end]) {
		end++
	}
	if id := strings.TrimRight(rest[:end], "_-"); len(id) > len(t.prefix) {
		return id
	}
	return ""
}

// knownAt returns the longest known word that a text begins with and that ends
// there, "" where there is none.
func (t *tenants) knownAt(text string, guests []string) (longest string) {
	ends := func(n int) bool { return n == len(text) || !isIDByte(text[n]) }
	for _, n := range t.lengths {
		if n <= len(text) && ends(n) && t.known[text[:n]] {
			longest = text[:n]
			break
		}
	}
	for _, id := range guests {
		if len(id) > len(longest) && strings.HasPrefix(text, id) && ends(len(id)) {
			longest = id
		}
	}
	return longest
}
