package repo

import (
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// ConfigChange is a member of the config that two versions of it set differently.
type ConfigChange struct {
	Path string     // such as "limits.max_depth"
	Node *pack.Node // in the later version, or else in the earlier one
	Now  bool       // it is in the later version
	// Looser says that more may pass than before, as far as can be told from the two.
	Looser bool
	Why    string // how it is looser, where its name does not tell; "" otherwise
}

// Words names the member, and how it is looser where its name does not tell.
func (c ConfigChange) Words() string {
	if c.Why == "" {
		return c.Path
	}
	return c.Path + " (" + c.Why + ")"
}

// CompareConfigs returns the members that two versions of a config set differently, in the
// order of the later version and then of the earlier one.
func CompareConfigs(before, after *Config) []ConfigChange {
	c := configComparison{before: before, after: after}
	c.members("", root(before), root(after))
	return c.changes
}

func root(c *Config) *pack.Node {
	if c.Document == nil {
		return nil
	}
	return c.Document.Root
}

// direction says of a member that differs whether it became looser. Either value is nil
// where the config leaves it out.
type direction func(was, is *pack.Node) bool

// directions says of each member of the config which way is looser. A member that is not
// here counts as looser however it changes; a test holds the table against the schema.
func (c *configComparison) directions() map[string]direction {
	return map[string]direction{
		"$schema": neutral, "version": neutral, "labels": neutral,
		"packs":                                func(_, _ *pack.Node) bool { return !holdsAll(PackPatterns(c.after), PackPatterns(c.before)) },
		"environments":                         fewer,
		"strict":                               raised,
		"fail_on":                              lessFails,
		"severity":                             each(lowerSeverity),
		"waivers":                              moreWaivers,
		"evidence":                             each(otherThanRemoved),
		"arguments":                            each(otherMeaning),
		"classes":                              anyChange,
		"compile.tokenizer":                    anyChange,
		"compile.max_truncation_rate":          above(0.2),
		"evaluator":                            replaced,
		"evaluation.required":                  fewerMetrics,
		"evaluation.min_samples":               below(0),
		"evaluation.price_per_1k_tokens_cents": anyChange,
		"reviews.patch":                        fewer,
		"reviews.minor":                        fewer,
		"reviews.major":                        func(was, is *pack.Node) bool { return fewer(was, is) || c.moreExcuse() },
		"reviews.evidence":                     func(_, _ *pack.Node) bool { return c.moreExcuse() },
		"reviews.config": func(_, _ *pack.Node) bool {
			return !holdsAll(c.after.Reviews.ConfigRoles(), c.before.Reviews.ConfigRoles())
		},
		"reviews.waivers": func(_, _ *pack.Node) bool {
			return !holdsAll(c.after.Reviews.WaiverRoles(), c.before.Reviews.WaiverRoles())
		},
		"reviews.baseline": func(_, _ *pack.Node) bool {
			return !holdsAll(c.after.Reviews.BaselineRoles(), c.before.Reviews.BaselineRoles())
		},
		"reviews.enforce":          raised,
		"reviews.roles":            each(moreMembers),
		"publish.registry":         anyChange,
		"publish.identity":         anyChange,
		"publish.earlier":          anyChange,
		"publish.signing_config":   anyChange,
		"publish.trusted_root":     anyChange,
		"publish.freshness":        anyChange,
		"notices.webhook":          anyChange,
		"limits.max_bytes":         func(_, _ *pack.Node) bool { return c.after.Limits.MaxBytes > c.before.Limits.MaxBytes },
		"limits.max_depth":         func(_, _ *pack.Node) bool { return c.after.Limits.MaxDepth > c.before.Limits.MaxDepth },
		"limits.max_values":        func(_, _ *pack.Node) bool { return c.after.Limits.MaxValues > c.before.Limits.MaxValues },
		"limits.max_approval_mode": higherMode,
		"limits.max_waiver_days":   above(DefaultWaiverDays),
		"shared_packs":             more,
		"require":                  fewerRequired,
		"endpoint_schemes":         more,
	}
}

// configComparison is a comparison of two configs on its way.
type configComparison struct {
	before, after *Config
	changes       []ConfigChange
}

// members compares the members of two objects, each nil where it is left out.
func (c *configComparison) members(path string, was, is *pack.Node) {
	table := c.directions()
	for _, name := range memberNames(is, was) {
		at, old, now := strings.TrimPrefix(path+"."+name, "."), was.Get(name), is.Get(name)
		if same(old, now) {
			continue
		}
		looser, known := table[at]
		switch section := slices.ContainsFunc(slices.Collect(maps.Keys(table)), func(key string) bool { return strings.HasPrefix(key, at+".") }); {
		case !known && section:
			c.members(at, old, now)
		default:
			c.changes = append(c.changes, c.change(at, old, now, !known || looser(old, now)))
		}
	}
}

// change returns a member that differs. That roles are named is looser only in what they may excuse.
func (c *configComparison) change(path string, was, is *pack.Node, looser bool) ConfigChange {
	change := ConfigChange{Path: path, Node: pack.Place(is, was), Now: is != nil, Looser: looser}
	if looser && (path == "reviews.evidence" || path == "reviews.major" && !fewer(was, is)) {
		change.Why = "its roles can excuse evidence that becomes weaker"
	}
	return change
}

// memberNames returns the names of the members of objects, each once.
func memberNames(objects ...*pack.Node) (names []string) {
	for _, n := range objects {
		if n == nil {
			continue
		}
		for _, m := range n.Members {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

func same(a, b *pack.Node) bool {
	return a == nil && b == nil || a != nil && b != nil && pack.CompactJSON(a.Any()) == pack.CompactJSON(b.Any())
}

func neutral(_, _ *pack.Node) bool   { return false }
func anyChange(_, _ *pack.Node) bool { return true }

// replaced is for what is stricter than nothing, and of which no two can be compared.
func replaced(was, _ *pack.Node) bool { return was != nil }

// raised is for what is stricter where it is true.
func raised(_, is *pack.Node) bool { return is == nil || !is.Bool }

// lessFails: each level fails for more than another one in one respect or in two, warnings and old findings.
func lessFails(was, is *pack.Node) bool {
	says := func(n *pack.Node) string {
		if n == nil {
			return "error"
		}
		return n.Text
	}
	warns := func(n *pack.Node) bool { return strings.HasSuffix(says(n), "warning") }
	onlyNew := func(n *pack.Node) bool { return strings.HasPrefix(says(n), "new") }
	return warns(was) && !warns(is) || onlyNew(is) && !onlyNew(was)
}

// fewerMetrics: true asks for any metric, and a list for each that it names.
func fewerMetrics(was, is *pack.Node) bool {
	switch {
	case was == nil || was.Kind == pack.Bool && !was.Bool:
		return false
	case is == nil || is.Kind == pack.Bool:
		return is == nil || !is.Bool || was.Kind != pack.Bool
	}
	return fewer(was, is)
}

// fewer is for lists that each item of makes stricter, and more for those in which an
// item lets more pass.
func fewer(was, is *pack.Node) bool { return !holdsAll(items(is), items(was)) }
func more(was, is *pack.Node) bool  { return !holdsAll(items(was), items(is)) }

func items(n *pack.Node) (values []string) {
	if n == nil {
		return nil
	}
	for _, item := range n.Items {
		values = append(values, pack.CompactJSON(item.Any()))
	}
	return values
}

// holdsAll reports whether a list has every one of the values.
func holdsAll(list, values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(list, v) })
}

// each is for an object whose members have one direction each.
func each(d direction) direction {
	return func(was, is *pack.Node) bool {
		return slices.ContainsFunc(memberNames(was, is), func(name string) bool {
			old, now := was.Get(name), is.Get(name)
			return !same(old, now) && d(old, now)
		})
	}
}

// lowerSeverity: what a rule has by default may be either, so that only "error" is surely
// as strict as before, and only what took a warning back.
func lowerSeverity(was, is *pack.Node) bool {
	return is != nil && is.Text != "error" || is == nil && was.Text != "warning"
}

func otherThanRemoved(_, is *pack.Node) bool { return is != nil }

// moreMembers: a role that was not there before is demanded by nothing that was.
func moreMembers(was, is *pack.Node) bool { return was != nil && is != nil && more(was, is) }

// moreExcuse reports whether evidence may become weaker by the approval of fewer roles than
// before, or of any where a waiver alone excused it.
func (c *configComparison) moreExcuse() bool {
	before, after := c.before.Reviews.EvidenceRoles(), c.after.Reviews.EvidenceRoles()
	return len(after) > 0 && (len(before) == 0 || !holdsAll(after, before))
}

// above is for a number that is stricter where it is lower, and below for one that is where
// it is higher; absent says what it is where it is left out.
func above(absent float64) direction {
	return func(was, is *pack.Node) bool { return number(is, absent) > number(was, absent) }
}

func below(absent float64) direction {
	return func(was, is *pack.Node) bool { return number(is, absent) < number(was, absent) }
}

func number(n *pack.Node, absent float64) float64 {
	if n == nil {
		return absent
	}
	return n.Number
}

// higherMode: without a highest mode every one is permitted.
func higherMode(was, is *pack.Node) bool {
	return is == nil || was != nil && pack.ApprovalMode(is.Text).Rank() > pack.ApprovalMode(was.Text).Rank()
}

// moreWaivers: a waiver is no new one where it waives what one of the earlier version did,
// and no longer.
func moreWaivers(was, is *pack.Node) bool {
	if is == nil {
		return false
	}
	covered := func(w *pack.Node) bool {
		return was != nil && slices.ContainsFunc(was.Items, func(old *pack.Node) bool { return coversNoMore(w, old) })
	}
	return slices.ContainsFunc(is.Items, func(w *pack.Node) bool { return !covered(w) })
}

// coversNoMore reports whether a waiver excuses no more than another one.
func coversNoMore(w, old *pack.Node) bool {
	for _, name := range memberNames(w, old) {
		a, b := w.Get(name), old.Get(name)
		switch {
		case name == "reason", name == "owner", same(a, b):
		case name != "expires" || a == nil || b == nil || a.Text > b.Text:
			return false
		}
	}
	return true
}
