package refresh

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// setting is one setting of the config that a pack uses.
type setting struct {
	kind Kind
	what string
	in   func(*repo.Config) value
}

// config returns the triggers of the repository's config. A setting that is
// written out and says what holds without it is no change.
func (s *step) config(u uses) (triggers []Trigger) {
	for _, one := range u.settings() {
		before, after := one.in(s.base.Config), one.in(s.head.Config)
		if before.same(after) {
			continue
		}
		at, how := pack.Place(after.at, before.at), "changed in"
		switch {
		case before.at == nil:
			how = "added to"
		case after.at == nil:
			how = "removed from"
		}
		triggers = append(triggers, Trigger{
			Kind: one.kind, What: fmt.Sprintf("%s was %s the config", one.what, how),
			File: at.Document().File, Path: at.KeyedPath(),
		})
	}
	return triggers
}

// settings returns what a pack uses of any config.
func (u uses) settings() []setting {
	list := []setting{
		{Evaluator, "evaluation.required", func(c *repo.Config) value { return or(c.Evaluation.Required.Node, "false") }},
		{Evaluator, "evaluation.min_samples", func(c *repo.Config) value { return or(c.Evaluation.MinSamples.Node, "0") }},
		{Evaluator, "evaluation.price_per_1k_tokens_cents", func(c *repo.Config) value { return or(c.Evaluation.PricePer1KTokensCents.Node, "") }},
		{ModelConfig, "compile.tokenizer", func(c *repo.Config) value { return or(c.Compile.Tokenizer.Node, `"estimate"`) }},
		{ModelConfig, "compile.max_truncation_rate", func(c *repo.Config) value { return or(c.Compile.MaxTruncationRate.Node, "0.2") }},
	}
	if u.effects {
		list = append(list, setting{PolicyBundle, "limits.max_approval_mode", func(c *repo.Config) value { return or(c.LimitFields.MaxApprovalMode.Node, "") }})
	}
	for _, name := range u.schemes {
		list = append(list, setting{AdapterSchema, "endpoint scheme " + gate.Quote(name), func(c *repo.Config) value { return scheme(c, name) }})
	}
	for _, name := range u.evidence {
		list = append(list, setting{DecisionCatalog, "the source of evidence " + gate.Quote(name), func(c *repo.Config) value { return or(c.Evidence.Node.Get(name), "") }})
	}
	return list
}

// or returns what a setting says, and what holds without it where it is absent.
func or(n *pack.Node, without string) value {
	if n == nil {
		return value{says: without}
	}
	return value{says: pack.CompactJSON(n.Any()), at: n}
}

// scheme returns whether the config lists a scheme, with or without its colon
// and slashes.
func scheme(c *repo.Config, name string) (v value) {
	for _, item := range c.EndpointScheme.Items {
		if item.OK && strings.TrimRight(item.Value, ":/") == name {
			v = value{says: "listed", at: item.Node}
		}
	}
	return v
}
