package security

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SEC003: a tool surface is a list.
var SEC003 = &gate.Rule{
	ID: "SEC003", Name: "unrestricted-tools", Severity: finding.Error,
	Title: "Capabilities and permissions are named one by one, without wildcards",
	Doc: "What an agent can do is the list of its permissions, and somebody has to have read that list. A wildcard includes " +
		"every tool that the adapter has now and will have next month, without any check.\n\n" +
		"Name each capability and give each its own permission. A wildcard is a name that contains `*` or `?`, or is `all` or " +
		"`any`; a permission that forbids may be one.",
	Bad:   `"permissions": [{"permission_id": "p_orders", "adapter_id": "adp_orders", "capability": "*", "allow": true}]`,
	Good:  `"permissions": [{"permission_id": "p_orders_lookup", "adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Check: checkWildcards,
}

// SEC004: an endpoint is a name that the runtime resolves.
var SEC004 = &gate.Rule{
	ID: "SEC004", Name: "unsafe-endpoint", Severity: finding.Error,
	Title: "An endpoint_ref carries no credential, no user, no token and no raw address",
	Doc: "The runtime resolves, authorises and routes an endpoint by its name. A user or password before the host, or a token in " +
		"the query, gives access to whoever reads the pack. A raw network address bypasses name resolution, certificates and " +
		"the egress rules of the environment. The endpoints that overlays set are checked as well.\n\n" +
		"Write the name of the endpoint, such as `internal://orders`, and let the runtime add the credential.",
	Bad:   `"endpoint_ref": "https://10.2.0.7/orders?api_key=k1"`,
	Good:  `"endpoint_ref": "internal://orders"`,
	Check: checkEndpoints,
}

func checkWildcards(p *gate.Pass) {
	const hint = "name each capability, and give each a permission of its own"
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		for _, c := range a.Capabilities.Items {
			if c.OK && wildcard(c.Value) {
				p.Report(gate.Faultf(c.Node, hint,
					"adapter %q declares capability %q, which stands for any", a.AdapterID.Value, c.Value).Keyed(c.Value))
			}
		}
	}
	for _, m := range p.Pack.ToolingLayer.Permissions.Items {
		if m.Allow.OK && !m.Allow.Value {
			continue
		}
		for _, f := range []struct {
			what string
			pack.Text
		}{{"capability", m.Capability}, {"adapter", m.AdapterID}} {
			if f.OK && wildcard(f.Value) {
				p.Report(gate.Faultf(f.Node, hint,
					"permission %q is for %s %q, which stands for any", m.PermissionID.Value, f.what, f.Value).Keyed(f.Value))
			}
		}
	}
}

func wildcard(name string) bool { return gate.Wildcard(name, "all", "any", "%", "...", "…") }

func checkEndpoints(p *gate.Pass) {
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		if a.EndpointRef.OK {
			checkEndpoint(p, file{}, a.EndpointRef.Node, fmt.Sprintf("the endpoint of adapter %q", a.AdapterID.Value))
		}
	}
	for _, f := range files(p) {
		if f.name == "" || !strings.HasPrefix(f.name, "overlays/") || f.document.Root == nil {
			continue
		}
		if set := f.document.Root.Get("set"); set != nil {
			for _, change := range set.Items {
				checkChange(p, f, change)
			}
		}
	}
}

// checkChange looks at the endpoints that one change of an overlay sets: the value
// itself, or those in an object that it puts in place.
func checkChange(p *gate.Pass, f file, change *pack.Node) {
	path, value := change.Get("path"), change.Get("value")
	if path == nil || value == nil {
		return
	}
	if strings.HasSuffix(path.Text, "/endpoint_ref") && value.Kind == pack.String {
		checkEndpoint(p, f, value, "the endpoint that the overlay sets")
		return
	}
	eachText(value, func(n *pack.Node) {
		if name, _ := n.Name(); name == "endpoint_ref" {
			checkEndpoint(p, f, n, "the endpoint that the overlay sets")
		}
	})
}

func checkEndpoint(p *gate.Pass, f file, at *pack.Node, which string) {
	for _, fault := range endpointFaults(at.Text) {
		p.Report(gate.Diagnostic{
			Location: masked(at, false, shownOfSecret, isSecret),
			Message:  which + " " + fault.message,
			Hint:     fault.hint,
			Key:      f.key(fault.kind),
		})
	}
}

type endpointFault struct{ kind, message, hint string }

// endpointFaults says what is wrong with an endpoint, without saying the secret.
func endpointFaults(ref string) (faults []endpointFault) {
	const byName = "write the name of the endpoint alone, such as internal://orders, and let the runtime add the credential"
	add := func(kind, message, hint string) { faults = append(faults, endpointFault{kind, message, hint}) }
	rest := ref
	if _, after, ok := strings.Cut(ref, "://"); ok {
		rest = after
	}
	rest = strings.TrimPrefix(rest, "//")
	authority, query := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, query = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if strings.Contains(authority[:i], ":") {
			add("user", "carries a user and a password before its host", byName)
		} else {
			add("user", "carries a user before its host", byName)
		}
		authority = authority[i+1:]
	}
	for _, name := range tokenParameters(query) {
		add("parameter "+name, fmt.Sprintf("carries a credential in its parameter %q", name), byName)
	}
	if len(faults) == 0 {
		for _, m := range detect.Secrets("", ref) {
			add(m.Kind, "carries "+m.Kind, byName)
		}
	}
	if kind := rawAddress(authority); kind != "" {
		add("address", "is "+kind+", wanted a name", "write the name of the endpoint, such as internal://orders")
	}
	return faults
}

// tokenWords are the words of parameters that hold a credential.
var tokenWords = []string{
	"token", "key", "apikey", "secret", "password", "passwd", "pwd", "pass", "auth", "authorization", "sig", "signature", "credential", "credentials",
	"jwt", "sas", "bearer", "accesskey",
}

// tokenParameters returns the names of the parameters, in the query or the
// fragment, that hold a credential.
func tokenParameters(query string) (names []string) {
	for parameter := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune("/?#&;", r) }) {
		name, value, ok := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if !ok || value == "" || detect.Reference(value) || strings.ContainsAny(value, "{$<") {
			continue
		}
		words := detect.Words(name)
		if len(words) > 0 && words[len(words)-1] != "id" && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(tokenWords, w) }) {
			names = append(names, name)
		}
	}
	return names
}

// rawAddress says what kind of raw address a host with or without a port is; "" for
// a name.
func rawAddress(authority string) string {
	host := authority
	if address, err := netip.ParseAddrPort(authority); err == nil {
		host = address.Addr().String()
	} else if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[:i], ":") {
		host = authority[:i]
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		if address.IsLoopback() {
			return "a loopback address"
		}
		return "a raw network address"
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return "a loopback address"
	}
	if numericHost(host) {
		return "a raw network address in disguise"
	}
	return ""
}

// numericHost reports whether a host is an IPv4 address in one of the forms that
// resolvers accept beside the usual one: 2130706433, 0x7f.1, 017700000001.
func numericHost(host string) bool {
	parts := strings.Split(host, ".")
	if host == "" || len(parts) > 4 {
		return false
	}
	return !slices.ContainsFunc(parts, func(part string) bool {
		_, err := strconv.ParseUint(part, 0, 32)
		return err != nil || strings.Contains(part, "_")
	})
}

// SEC008: personal data do not flow back by default.
var SEC008 = &gate.Rule{
	ID: "SEC008", Name: "personal-write-back", Severity: finding.Error,
	Title: "Personal data may not be written back to memory",
	Doc: "What an agent writes to memory outlives the conversation, up to years in the durable tier, and returns in other " +
		"conversations. A person who did not consent cannot undo that. So `consent_gating.pii_write_back_allowed` is false; if " +
		"it is absent, each runtime decides for itself.\n\n" +
		"Set it to false. If the users of a pack have consented, and its owner takes responsibility, waive this rule in " +
		"`.packgate.yaml` with a reason and a last day, so that the exception is visible and ends.",
	Bad:   `"consent_gating": {"pii_write_back_allowed": true}`,
	Good:  `"consent_gating": {"pii_write_back_allowed": false}`,
	Check: checkWriteBack,
}

// SEC009: what is confidential is redacted.
var SEC009 = &gate.Rule{
	ID: "SEC009", Name: "no-redaction", Severity: finding.Warning, Strict: true,
	Title: "A pack for confidential data names the data to redact",
	Doc: "A pack whose data_classification is CONFIDENTIAL or RESTRICTED handles data that must not reach a prompt, a log or a " +
		"customer unchanged. Without a redaction rule, all of it does.\n\n" +
		"Name the kinds of data to redact in `policy_layer.guardrails.redaction_rules`, such as `credit_card`.",
	Bad:   `"pack_meta": {"data_classification": "CONFIDENTIAL"}, "policy_layer": {"guardrails": {"redaction_rules": []}}`,
	Good:  `"pack_meta": {"data_classification": "CONFIDENTIAL"}, "policy_layer": {"guardrails": {"redaction_rules": ["credit_card"]}}`,
	Check: checkRedaction,
}

const (
	writeBack = "/memory_layer/memory_policy/consent_gating/pii_write_back_allowed"
	setFalse  = "set pii_write_back_allowed to false"
)

func checkWriteBack(p *gate.Pass) {
	policy := &p.Pack.MemoryLayer.MemoryPolicy
	consent := &policy.ConsentGating
	allowed := consent.PIIWriteBackAllowed
	switch {
	case allowed.OK && allowed.Value:
		p.Report(gate.Faultf(allowed.Node, setFalse+", or waive the rule with a reason, an owner and a last day",
			"personal data may be written back to memory, wanted false").Fixed(gate.Edit(setFalse, "replace", writeBack, "false")))
	case allowed.Node == nil && gate.IsObject(consent.Node):
		unsaid(p, consent.Node, writeBack, "false")
	case consent.Node == nil && gate.IsObject(policy.Node):
		unsaid(p, policy.Node, "/memory_layer/memory_policy/consent_gating", `{"pii_write_back_allowed": false}`)
	}
}

func unsaid(p *gate.Pass, at *pack.Node, path, value string) {
	p.Report(gate.Faultf(at, setFalse,
		"it is not stated whether personal data may be written back to memory, wanted pii_write_back_allowed false").
		Fixed(gate.Edit(setFalse, "add", path, value)))
}

func checkRedaction(p *gate.Pass) {
	class, rules := p.Pack.PackMeta.DataClassification, p.Pack.PolicyLayer.Guardrails.RedactionRules
	if class.Value != "CONFIDENTIAL" && class.Value != "RESTRICTED" || !rules.OK {
		return // SCH004 reports a list that is missing
	}
	if slices.ContainsFunc(pack.Values(rules), func(name string) bool { return name != "" }) {
		return
	}
	p.Report(gate.Faultf(rules.Node, "name the kinds of data to redact, such as \"credit_card\"",
		"the pack is %s and redacts nothing", class.Value).See(class.Node, "the classification of the pack's data"))
}
