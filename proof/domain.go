package proof

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

const (
	intentPath     = "request.intent"
	messagePath    = "request.message"
	runIntentPath  = "intent"
	tenantPath     = "tenant_id"
	safetyModePath = "safety_mode"
)

// factsOf says what every request of an intent is that is not refused before its
// rules are looked at (decisions D3). Each fact has a counterpart in the compiler,
// which refuses what it excludes. Facts about variables that no condition reads are
// left out. The safety mode counts where ceilings do.
func factsOf(intent string, ceilings bool, models ...*Model) []jsonlogic.Formula {
	facts := []jsonlogic.Formula{jsonlogic.Is(intentPath, intent)}
	read := map[string]bool{}
	for _, m := range models {
		for path := range m.reads {
			read[path] = true
		}
	}
	tenant := models[0].Pack.PackMeta.Tenant.TenantID.Value
	same := !slices.ContainsFunc(models, func(m *Model) bool { return m.Pack.PackMeta.Tenant.TenantID.Value != tenant })
	for _, m := range policy.Domain() {
		switch {
		case m.Closed:
			for _, path := range slices.Sorted(maps.Keys(read)) {
				if strings.HasPrefix(path, m.Path+".") && !definedBelow(m, path) {
					facts = append(facts, jsonlogic.Is(path, nil))
				}
			}
		case m.Path == safetyModePath && (ceilings || read[m.Path]):
			facts = append(facts, safetyModeFrom(0, pack.Destructive.Rank()))
		case !read[m.Path] || m.Path == intentPath:
		case m.Path == tenantPath && same:
			facts = append(facts, jsonlogic.Is(m.Path, tenant))
		case m.Path == runIntentPath:
			facts = append(facts, jsonlogic.Any(jsonlogic.Is(m.Path, intent), jsonlogic.Is(m.Path, nil)))
		case m.Path == messagePath || m.Path == tenantPath:
			facts = append(facts, has(m), jsonlogic.Not(jsonlogic.Is(m.Path, nil)))
		default:
			facts = append(facts, has(m))
		}
	}
	return facts
}

// definedBelow reports whether a path names a member below a closed one, or lies below
// such a member that holds any others.
func definedBelow(closed policy.Member, path string) bool {
	return slices.ContainsFunc(policy.Domain(), func(m policy.Member) bool {
		return strings.HasPrefix(m.Path, closed.Path+".") &&
			(m.Path == path || !m.Closed && strings.HasPrefix(path, m.Path+"."))
	})
}

// has says that a member is missing or of a kind that it may have. What is no
// scalar is not followed by proofs, so that nothing is said of it.
func has(m policy.Member) jsonlogic.Formula {
	ways := []jsonlogic.Formula{jsonlogic.Is(m.Path, nil)}
	for _, text := range m.Choices {
		ways = append(ways, jsonlogic.Is(m.Path, text))
	}
	for _, kind := range m.Kinds {
		switch {
		case kind == pack.String && m.Choices == nil:
			// With a text "==" compares texts and null alone; all else leaves it unknown.
			ways = append(ways, jsonlogic.Not(jsonlogic.IsUnknown(constantBeside("==", `""`, m.Path))))
		case kind == pack.Number && (m.Whole || m.Positive):
			ways = append(ways, jsonlogic.IsTrue(constantBeside("<=", "0", m.Path)))
		case kind == pack.Number:
			ways = append(ways, jsonlogic.Not(jsonlogic.IsUnknown(constantBeside("<=", "0", m.Path))))
		case kind != pack.String:
			return jsonlogic.All()
		}
	}
	return jsonlogic.Any(ways...)
}

// comparisons are those that facts are made of, each compiled once.
var comparisons sync.Map

type comparedTo struct{ operator, constant, path string }

// constantBeside returns the condition that compares a constant, written as JSON, with a
// member of the domain.
func constantBeside(operator, constant, path string) *jsonlogic.Expr {
	key := comparedTo{operator, constant, path}
	if known, there := comparisons.Load(key); there {
		return known.(*jsonlogic.Expr)
	}
	d, _ := pack.Read("fact", []byte(`{"`+operator+`": [`+constant+`, {"var": "`+path+`"}]}`), pack.DefaultLimits())
	made, _ := jsonlogic.Compile(d.Root)
	comparisons.Store(key, made)
	return made
}

// safetyModeFrom says that the safety mode of a request is of one of these ranks.
func safetyModeFrom(low, high int) jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for rank := high; rank >= low; rank-- {
		ways = append(ways, jsonlogic.Is(safetyModePath, string(pack.ApprovalModes()[rank])))
	}
	return jsonlogic.Any(ways...)
}
