package compiler

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// invocation is what the stages read of an invokeAgent envelope.
type invocation struct {
	requestID string
	intent    string
	message   string
	channel   string
	locale    string
}

// requirement is one entry of contract_meta.compatibility.requires.
type requirement struct {
	name  string
	text  string
	at    *pack.Node
	of    *pack.Pack
	allow *semver.Constraints // nil where the text is no range
}

// requirements reads those of the pack, or of one of those that it is the union of.
func (p *Program) requirements(of *pack.Pack) {
	for _, e := range of.ContractMeta.Compatibility.Requires.Entries {
		r := requirement{name: e.Name, text: e.Value.Value, at: e.Value.Node, of: of}
		allow, err := semver.NewConstraint(r.text)
		if err != nil {
			p.refuse(r.at, "requires.%s: %q is not a version range", r.name, r.text)
			continue
		}
		r.allow = allow
		p.requires = append(p.requires, r)
	}
}

// resolve is what comes before the stages: the pack has to be one that can be
// compiled, the invocation has to name it, its requirements have to be met, and
// invocation and run context have to be of its tenant.
func (r *run) resolve() *Stop {
	if r.fault != nil {
		stop := *r.fault // the program is shared; its fault is copied
		return &stop
	}
	for _, step := range []func(*run) *Stop{
		(*run).readInvocation, (*run).checkReferences, (*run).checkRequirements, (*run).checkTenant, (*run).readSafetyMode,
	} {
		if stop := step(r); stop != nil {
			return stop
		}
	}
	r.data = r.request.Data()
	if why := policy.Outside(r.data); why != "" {
		return refusal("the request is not valid by its schema: %s", why)
	}
	return nil
}

func (r *run) readInvocation() *Stop {
	invoke := r.request.Invoke
	input, ok := invoke["input"].(map[string]any)
	if !ok {
		return refusal("input of the invocation is missing or not an object")
	}
	v := &r.invocation
	for _, f := range []struct {
		of       map[string]any
		name     string
		into     *string
		required bool
	}{
		{invoke, "request_id", &v.requestID, true},
		{input, "intent", &v.intent, true},
		{input, "message", &v.message, true},
		{input, "channel", &v.channel, false},
		{input, "locale", &v.locale, false},
	} {
		value, there := f.of[f.name]
		if *f.into, ok = value.(string); ok || !there && !f.required {
			continue
		}
		return refusal("%s of the invocation is missing or not a text", f.name)
	}
	return nil
}

// checkReferences refuses references that are not pinned, and an invocation of
// other packs only. That the pinned version is the pack's is left to the caller,
// who resolved it: a case is also compiled against an older version, to compare.
func (r *run) checkReferences() *Stop {
	list, ok := r.request.Invoke["context_pack_refs"].([]any)
	if !ok || len(list) == 0 {
		return refusal("context_pack_refs of the invocation is missing, empty or not a list")
	}
	named := map[string]bool{}
	for _, item := range list {
		ref, _ := item.(string)
		name, _, pinned := pack.ParseRef(ref)
		if !pinned {
			return refusal("pack reference %s is not of the form pack_id@MAJOR.MINOR.PATCH", pack.CompactJSON(item))
		}
		named[name] = true
	}
	for _, part := range r.Pack.Parts() {
		if id := part.PackMeta.PackID.Value; !named[id] {
			return refusal("the invocation does not name the pack %q", id)
		}
	}
	return nil
}

// checkRequirements holds runtime against the environment catalog and ontology
// against the pack's own ontology. Nothing knows the versions of other keys.
func (r *run) checkRequirements() *Stop {
	for _, q := range r.requires {
		have, whose := "", ""
		switch {
		case q.name == "ontology":
			have, whose = q.of.IntelligenceRefs.Ontology.Version.Value, "the pack's ontology"
		case q.name == "runtime" && r.request.Catalog != nil && r.request.Catalog.Runtime != "":
			have, whose = r.request.Catalog.Runtime, "the runtime of "+r.request.Catalog.Name
		case q.name == "runtime":
			r.notChecked("requires.runtime: no environment catalog gives the version of the runtime")
			continue
		default:
			r.notChecked("requires." + q.name + ": nothing gives its version")
			continue
		}
		version, err := semver.StrictNewVersion(have)
		if have == "" {
			return refusalAt(q.at, "requires.%s is %q and %s has no version", q.name, q.text, whose)
		}
		if err != nil {
			return refusalAt(q.at, "requires.%s: the version of %s, %q, is not a semantic version", q.name, whose, have)
		}
		if !q.allow.Check(version) {
			return refusalAt(q.at, "requires.%s is %q and %s has version %s", q.name, q.text, whose, have)
		}
	}
	return nil
}

func (r *run) notChecked(what string) {
	if !slices.Contains(r.result.Trace.NotChecked, what) { // which several packs may say
		r.result.Trace.NotChecked = append(r.result.Trace.NotChecked, what)
	}
}

func (r *run) checkTenant() *Stop {
	own, before := r.Pack.PackMeta.Tenant.TenantID.Value, ""
	for _, from := range []struct {
		name string
		of   map[string]any
	}{{"invocation", r.request.Invoke}, {"run context", r.request.RunContext}} {
		tenant, ok := from.of["tenant_id"].(string)
		switch {
		case !ok:
			return refusal("tenant_id of the %s is missing or not a text", from.name)
		case !r.Pack.Admits(tenant):
			return refusal("the %s is of tenant %q and the pack of tenant %q", from.name, tenant, own)
		case before != "" && tenant != before:
			return refusal("the invocation is of tenant %q and the run context of tenant %q", before, tenant)
		}
		before = tenant
	}
	return nil
}

func (r *run) readSafetyMode() *Stop {
	text, ok := r.request.RunContext["safety_mode"].(string)
	r.safetyMode = pack.ApprovalMode(text)
	switch {
	case !ok:
		return refusal("safety_mode of the run context is missing or not a text, wanted one of %s", joined(pack.ApprovalModes()))
	case !r.safetyMode.Known():
		return refusal("safety_mode of the run context is %q, wanted one of %s", text, joined(pack.ApprovalModes()))
	}
	return nil
}

// intentStage is stage 1. The intent has to be the one that the run context was
// made for, one that the pack knows, and one that exists in the environment.
func (r *run) intentStage() (any, *Stop) {
	intent := r.invocation.intent
	if set, there := r.request.RunContext["intent"]; there && set != intent {
		if text, ok := set.(string); ok {
			return nil, refusal("the invocation's intent is %q and the run context's %q", intent, text)
		}
		return nil, refusal("intent of the run context is not a text")
	}
	switch known := r.Intents; {
	case len(known) == 0:
		return nil, refusal("the pack names no intent, in a rule or an evaluation target")
	case !slices.Contains(known, intent):
		return nil, refusal("the pack knows no intent %q, wanted one of %s", intent, strings.Join(known, ", "))
	}
	switch c := r.request.Catalog; {
	case c == nil || c.Intents == nil:
		r.notChecked("intent: no environment catalog lists the intents")
	case !slices.Contains(c.Intents, intent):
		return nil, refusal("the environment catalog of %s has no intent %q", c.Name, intent)
	}
	r.intent = intent
	return struct {
		Intent     string `json:"intent"`
		SafetyMode string `json:"safety_mode"`
	}{intent, string(r.safetyMode)}, nil
}
