package tenancy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// TEN006: nobody else's data came along.
var TEN006 = &gate.Rule{
	ID: "TEN006", Name: "foreign-tenant-data", Severity: finding.Error,
	Title: "No evidence or memory reference, and no free text, names another tenant",
	Doc: "A golden case or a replayed decision that refers to another tenant's evidence or memory was copied from there, and " +
		"whoever compiles it reads across the boundary. Another tenant's id in free text, of a case or of the pack itself, is a " +
		"warning: it may be a customer's data, or only a word.\n\n" +
		"Replace the reference by one of the pack's own tenant, and the id in a text by a neutral word. Another tenant is one " +
		"that an environment's catalog lists for an endpoint, or any id that begins like the pack's own (`tenant_…` for " +
		"`tenant_acme_prod`) and is different. The cases of a pack under `shared_packs` may also name their own tenant.",
	Bad:   `"memory": [{"memory_ref": "mem:tenant_globex_prod:cus_12", "content": "…"}]`,
	Good:  `"memory": [{"memory_ref": "mem:cus_77:preferred_channel", "content": "…"}]`,
	Check: checkForeign,
}

func checkForeign(p *gate.Pass) {
	ids := newTenants(p)
	if ids == nil {
		p.NotChecked("the pack has no tenant_id to compare with")
		return
	}
	switch {
	case ids.listed:
	case ids.prefix == "":
		p.NotApplicable(finding.CatalogOf(""), fmt.Sprintf("no environment catalog names tenants, and %s does not begin with a word that tells them apart", gate.Quote(ids.own.Value)))
		return
	default:
		p.NotApplicable(finding.CatalogOf(""), fmt.Sprintf("no environment catalog names tenants: only ids that begin with %q were looked for", ids.prefix))
	}
	if !hasEvidence(p) {
		p.NotChecked("there is no golden or replay case whose evidence and memory could be looked at")
	}
	s := &search{Pass: p, tenants: ids}
	s.pack()
	for _, c := range p.Unit.Cases {
		s.goldenCase(c)
	}
	for _, f := range replayFiles(p) {
		s.replay(f)
	}
}

// search looks for other tenants in one file after the other.
type search struct {
	*gate.Pass
	*tenants
	file string // the side file, "" for the pack
	// guests are the tenants that the file may name beside the pack's own.
	guests []string
}

// enter begins with a side file.
func (s *search) enter(f *repo.SideFile, parts ...*pack.Node) {
	s.file, s.guests = f.Name, nil
	if s.Pack.Shared {
		for _, id := range tenantsIn(parts...) {
			s.guests = append(s.guests, id.Text)
		}
	}
}

// references are the members of replay packets and decision records that lead
// to evidence, memory or the knowledge that they come from.
var references = []string{
	"evidence_refs", "memory_refs", "inputs_refs", "subject_ids", "source_ref", "run_context_ref", "knowledge_snapshot_ref",
}

// texts are the members of decision records that people read.
var texts = []string{"rationale", "outputs"}

func (s *search) goldenCase(c *repo.Case) {
	s.enter(c.SideFile, c.Invoke, c.RunContext)
	s.text(c.Description.Node)
	s.text(c.Invoke.Get("input"))
	for _, e := range c.Evidence.Items {
		s.reference(e.EvidenceRef.Node)
		s.text(e.Content.Node)
	}
	for _, m := range c.Memory.Items {
		s.reference(m.MemoryRef.Node)
		s.text(m.Content.Node)
	}
}

func (s *search) replay(f *repo.SideFile) {
	root := f.Document.Root
	s.enter(f, root)
	for _, name := range references {
		s.reference(root.Get(name))
	}
	for _, name := range texts {
		s.text(root.Get(name))
	}
}

// pack looks at what the pack says in words.
func (s *search) pack() {
	s.text(s.Pack.BusinessContext.Node)
	for _, r := range s.Rules {
		s.text(r.Rationale.Node)
		for _, o := range r.Outcomes() {
			s.text(o.Reason.Node)
		}
	}
	s.text(s.Pack.ToneAndComms.Node)
}

func (s *search) reference(n *pack.Node) {
	s.each(n, finding.Error, "replace it by a reference of the pack's own tenant, or remove it")
}

func (s *search) text(n *pack.Node) {
	s.each(n, finding.Warning, "say it without the other tenant's id")
}

// each reports the other tenants that the texts in a value name.
func (s *search) each(n *pack.Node, severity finding.Severity, hint string) {
	if n == nil {
		return
	}
	for _, m := range n.Members {
		s.each(m.Value, severity, hint)
	}
	for _, item := range n.Items {
		s.each(item, severity, hint)
	}
	if n.Kind != pack.String {
		return
	}
	for _, id := range s.foreign(n.Text, s.guests...) {
		s.Report(gate.Faultf(n, hint,
			"%s names tenant %s, but the pack belongs to %s", subject(n), gate.Quote(id), gate.Quote(s.own.Value)).
			Keyed(s.file+" "+id).As(severity).See(s.own.Node, "the tenant of the pack"))
	}
}

// subject names a text in a message: by its member name, or as an item of the
// member that lists it.
func subject(n *pack.Node) string {
	for item := ""; ; item = "an item of " {
		if name, ok := n.Name(); ok {
			return item + gate.Quote(name)
		}
		if n.Parent == nil {
			return "the document"
		}
		n = n.Parent
	}
}

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
	for _, e := range p.Catalogs {
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
