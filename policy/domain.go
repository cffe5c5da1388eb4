package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Member is a member that the invoke and run-context schemas define of what
// conditions read, by its path: a member of the run context, or "request" and what
// is below it, the input of the invocation.
type Member struct {
	Path     string
	Kinds    []pack.Kind // one of which it has
	Whole    bool        // numbers are whole and not negative
	Positive bool        // numbers are not negative
	Choices  []string    // the texts it may be; nil for any
	Closed   bool        // an object that has no member beside those of the domain
}

var (
	text   = []pack.Kind{pack.String}
	object = []pack.Kind{pack.Object}
	list   = []pack.Kind{pack.Array}
	number = []pack.Kind{pack.Number}
)

// Domain returns every member that the schemas define, parents before what is below
// them. A request that has another value there is none: the compiler refuses it, and
// no claim is about it (decisions D3).
func Domain() []Member { return domain() }

var domain = sync.OnceValue(func() []Member {
	var modes []string
	for _, m := range pack.ApprovalModes() {
		modes = append(modes, string(m))
	}
	return slices.Concat(
		each(Member{Kinds: text}, "run_id", "trace_id", "session_id", "tenant_id"),
		[]Member{
			{Path: "user", Kinds: object}, {Path: "user.user_id", Kinds: text}, {Path: "user.delegation", Kinds: object, Closed: true},
			{Path: "user.delegation.auth_type", Kinds: text, Choices: []string{"oauth2", "saml", "oidc", "service"}},
			{Path: "user.delegation.scopes", Kinds: list}, {Path: "user.delegation.subject", Kinds: text}, {Path: "user.delegation.token_ref", Kinds: text},
			{Path: "user.role", Kinds: text}, {Path: "user.tenure_days", Kinds: number, Whole: true},
		},
		[]Member{
			{Path: "agent", Kinds: object}, {Path: "agent.agent_id", Kinds: text}, {Path: "agent.agent_urn", Kinds: text},
			{Path: "agent.workload_identity", Kinds: text}, {Path: "agent.role", Kinds: text}, {Path: "agent.token_ref", Kinds: text},
			{Path: "agent.lifecycle", Kinds: text}, {Path: "agent.principal_chain", Kinds: list}, {Path: "agent.identity_claim", Kinds: object},
			{Path: "agent.identity_claim.version", Kinds: text, Choices: []string{"ctxid/1"}},
		},
		each(Member{Path: "agent.identity_claim.", Kinds: text}, "iss", "sub", "run_id", "tenant_id"),
		[]Member{
			{Path: "agent.identity_claim.principal_chain", Kinds: list}, {Path: "agent.identity_claim.scopes", Kinds: list},
			{Path: "agent.identity_claim.nbf", Kinds: []pack.Kind{pack.Number, pack.String}},
			{Path: "agent.identity_claim.exp", Kinds: []pack.Kind{pack.Number, pack.String}},
		},
		each(Member{Path: "agent.identity_claim.", Kinds: text}, "kid", "claim_hash"),
		[]Member{
			{Path: "agent.identity_claim.aud", Kinds: []pack.Kind{pack.String, pack.Array}}, {Path: "agent.identity_claim.session_id", Kinds: text},
			{Path: "intent", Kinds: text}, {Path: "locale", Kinds: text}, {Path: "safety_mode", Kinds: text, Choices: modes},
			{Path: "run_budget", Kinds: object}, {Path: "run_budget.total_tokens", Kinds: number, Whole: true},
			{Path: "run_budget.bucket_tokens", Kinds: object, Closed: true},
		},
		each(Member{Path: "run_budget.bucket_tokens.", Kinds: number, Whole: true}, "business", "policy", "tool", "evidence", "memory", "session"),
		each(Member{Path: "run_budget.", Kinds: number, Whole: true}, "max_tool_calls", "max_replan_attempts", "wall_clock_ms"),
		[]Member{{Path: "run_budget.max_cost_cents", Kinds: number, Positive: true}, {Path: "metadata", Kinds: object}, {Path: "request", Kinds: object}},
		each(Member{Path: "request.", Kinds: text}, "intent", "message", "channel", "locale"),
		[]Member{{Path: "request.context", Kinds: object}},
	)
})

// each returns members that differ in their names alone; the path of one is what the
// names are below.
func each(one Member, names ...string) (members []Member) {
	below := one.Path
	for _, name := range names {
		one.Path = below + name
		members = append(members, one)
	}
	return members
}

// Outside says why decoded JSON, which conditions would read, is no request: which
// member has a value that the schemas do not allow. It is "" for a request; members
// that are missing are none of its business.
func Outside(data map[string]any) string { return outside(data, domainTree()) }

// tree is a member with the members below it.
type tree struct {
	Member
	below map[string]*tree
}

var domainTree = sync.OnceValue(func() *tree {
	root := &tree{below: map[string]*tree{}}
	for _, m := range Domain() {
		at := root
		for _, name := range strings.Split(m.Path, ".") {
			if at.below[name] == nil {
				at.below[name] = &tree{Member: m, below: map[string]*tree{}}
			}
			at = at.below[name]
		}
	}
	return root
})

func outside(data map[string]any, under *tree) string {
	found := ""
	for name, value := range data {
		t := under.below[name]
		why := ""
		switch {
		case t == nil && under.Closed:
			why = fmt.Sprintf("%s.%s is not a member that it may have", under.Path, name)
		case t == nil || t.staged():
			continue
		default:
			why = t.refuses(value)
		}
		if inner, ok := value.(map[string]any); ok && why == "" {
			why = outside(inner, t)
		}
		if why != "" && (found == "" || why < found) {
			found = why // the first by name, whatever order the map has
		}
	}
	return found
}

// staged reports whether a stage of the compiler refuses other values, saying what it wanted.
func (m Member) staged() bool {
	return m.Path == "intent" || m.Path == "run_budget.total_tokens" || m.Path == "run_budget.bucket_tokens"
}

// refuses says why a value is none that the member may have, "" where it is one.
func (m Member) refuses(value any) string {
	kind := kindOf(value)
	if !slices.Contains(m.Kinds, kind) {
		return fmt.Sprintf("%s is %s, wanted %s", m.Path, kind, wanted(m.Kinds))
	}
	switch v := value.(type) {
	case string:
		if m.Choices != nil && !slices.Contains(m.Choices, v) {
			return fmt.Sprintf("%s is %q, wanted one of %s", m.Path, v, strings.Join(m.Choices, ", "))
		}
	case float64:
		if v < 0 && (m.Whole || m.Positive) || m.Whole && v != math.Trunc(v) {
			return fmt.Sprintf("%s is %v, wanted a number that is not negative%s", m.Path, v, map[bool]string{true: " and is whole"}[m.Whole])
		}
	}
	return ""
}

func wanted(kinds []pack.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return strings.Join(names, " or ")
}

// kindOf returns the kind of decoded JSON.
func kindOf(value any) pack.Kind {
	switch value.(type) {
	case map[string]any:
		return pack.Object
	case []any:
		return pack.Array
	case string:
		return pack.String
	case float64:
		return pack.Number
	case bool:
		return pack.Bool
	}
	return pack.Null
}
