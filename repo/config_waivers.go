package repo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/pack"
)

// Waiver is one exception: findings of a rule in packs, at a keyed path and below it, count
// no longer. Of names the thing that the findings are of, for rules that compare with the
// version before.
type Waiver struct {
	pack.Part
	Rule    pack.Text `json:"rule"`
	Pack    pack.Text `json:"pack"` // a pack_id, in which * stands for any characters
	Path    pack.Text `json:"path"`
	Of      pack.Text `json:"of"`
	Reason  pack.Text `json:"reason" text:"prose"`
	Owner   pack.Text `json:"owner"`
	Expires pack.Text `json:"expires"`
}

// Glob reports whether the waiver is for every pack that a pattern matches.
func (w *Waiver) Glob() bool { return strings.Contains(w.Pack.Value, "*") }

// For reports whether the waiver is for a pack.
func (w *Waiver) For(packID string) bool {
	parts := strings.Split(w.Pack.Value, "*")
	rest, ok := strings.CutPrefix(packID, parts[0])
	last := len(parts) - 1
	if !ok || last == 0 {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// forAny reports whether the pattern of a waiver is for packs of whatever name: it says nothing but how
// every pack_id begins, or is for a pack_id of which it has no letter.
func (w *Waiver) forAny() bool {
	if strings.Trim(strings.TrimPrefix(w.Pack.Value, "ctxpack."), "*._:-") == "" {
		return true
	}
	foreign := strings.IndexFunc(letters, func(r rune) bool { return !strings.ContainsRune(strings.ToLower(w.Pack.Value), r) })
	return foreign >= 0 && w.For("ctxpack."+strings.ReplaceAll("x.x:x_x-x.x:x_x-x", "x", letters[foreign:foreign+1]))
}

// letters are those of which no pack_id needs all.
const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// Same reports whether two waivers excuse the same until the same day.
func (w *Waiver) Same(other *Waiver) bool {
	return coversNoMore(w.Node, other.Node) && coversNoMore(other.Node, w.Node)
}

// DefaultWaiverDays is how many days from today a waiver ends at the latest, where the config
// says nothing else.
const DefaultWaiverDays = 180

// WaiverDays returns how many days from today a waiver ends at the latest.
func (c *Config) WaiverDays() int {
	if days := c.LimitFields.MaxWaiverDays; days.OK {
		return int(days.Value)
	}
	return DefaultWaiverDays
}

// LastWaiverDay returns the last day that a waiver may have, seen from a time, as YYYY-MM-DD.
func (c *Config) LastWaiverDay(now time.Time) string {
	return now.UTC().AddDate(0, 0, c.WaiverDays()).Format(time.DateOnly)
}

// NewWaivers returns the waivers of a later version of the config that excuse more than those
// of an earlier one, or for longer.
func NewWaivers(before, after *Config) (list []*Waiver) {
	for i := range after.Waivers.Items {
		w := &after.Waivers.Items[i]
		if !slices.ContainsFunc(before.Waivers.Items, func(old Waiver) bool { return coversNoMore(w.Node, old.Node) }) {
			list = append(list, w)
		}
	}
	return list
}

// checkWaivers refuses patterns that match the pack_id of nearly any pack.
func (c *Config) checkWaivers() (problems Problems) {
	for i := range c.Waivers.Items {
		w := &c.Waivers.Items[i]
		if w.Glob() && w.forAny() {
			problems = append(problems, Problemf("name the packs, or the beginning that their ids share, such as \"ctxpack.billing.*\"",
				"the pattern %q matches every pack", w.Pack.Value).placed(w.Pack.Node))
		}
	}
	return problems
}

// Words says which waiver it is, in a few words.
func (w *Waiver) Words() string {
	words := fmt.Sprintf("%s for %s", w.Rule.Value, w.Pack.Value)
	for _, at := range []pack.Text{w.Path, w.Of} {
		if at.Value != "" {
			words += " " + at.Value
		}
	}
	return words
}
