package diffing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// ErrOverride is wrapped by errors about overrides that cannot be.
var ErrOverride = errors.New("class override")

// Overrides returns the config's overrides of the class table. The error is a
// repo.Problems with one entry for each that cannot be: of a row that the table
// does not have, or that is not open, of a class below reject where the row
// says reject, or of a row that has an override already.
func Overrides(c *repo.Config) ([]Override, error) {
	var list []Override
	var problems repo.Problems
	seen := map[string]bool{}
	for i := range c.Classes.Items {
		row := &c.Classes.Items[i]
		class, err := ParseClass(row.Class.Value)
		o := Override{Change: row.Change.Value, Class: class, Reason: row.Reason.Value}
		if err == nil {
			err = o.check()
		}
		if err == nil && seen[o.Change] {
			err = fmt.Errorf("%w: %q has one already", ErrOverride, o.Change)
		}
		if err != nil {
			problems = append(problems, &repo.Problem{
				Location: pack.Place(row.Change.Node, row.Node).Location(),
				Message:  err.Error(),
				Hint:     "name a row of the class table that is marked as open",
			})
			continue
		}
		seen[o.Change] = true
		list = append(list, o)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return list, nil
}

// check says whether the override can be. The error wraps ErrOverride.
func (o Override) check() error {
	switch r := shared().byID[o.Change]; {
	case r == nil:
		return fmt.Errorf("%w: the class table has no row %q", ErrOverride, o.Change)
	case r.Class == Reject && o.Class < Reject:
		return fmt.Errorf("%w: the class of %q is reject, which cannot be lowered", ErrOverride, o.Change)
	case !r.Human:
		return fmt.Errorf("%w: the class of %q is %s, and not open", ErrOverride, o.Change, r.Class)
	}
	return nil
}

// settlement holds the overrides by row.
type settlement map[string]Override

func settle(overrides []Override) (settlement, error) {
	s := settlement{}
	for _, o := range overrides {
		if err := o.check(); err != nil {
			return nil, err
		}
		s[o.Change] = o
	}
	return s, nil
}

// choose gives a unit its row: the first that matches, or the one for all that
// the table does not mention.
func (u *unit) choose() {
	u.row = shared().byID[rowOther]
	for _, candidate := range u.rows {
		if candidate.matches(u) {
			u.row = candidate
			return
		}
	}
}

// judge gives a unit its class: that of its row, unless a proof says otherwise.
func (s settlement) judge(u *unit, proof *Proof) Change {
	r := u.row
	c := Change{
		Layer: layerOf(u.path), Path: u.path, Kind: u.kind, Old: u.old, New: u.new,
		Row: r.ID, Class: r.Class, NeedsHumanClass: r.Human, Reason: r.Reason, Proof: proof,
	}
	override, settled := s[r.ID]
	if settled {
		c.Class, c.NeedsHumanClass, c.OverrideReason = override.Class, false, override.Reason
	}
	if proof == nil {
		c.Proof = u.proof // that the row asked for, and is in its class
		return c
	}
	proved, decided := proof.class()
	switch {
	case r.Class == Reject:
	case decided && r.Proved && !(settled && override.Class >= proved), decided && proved > c.Class && (proved < Major || proof.grown):
		c.Class, c.NeedsHumanClass, c.Reason, c.OverrideReason = proved, false, proof.words(), ""
	case !decided && r.Proved && r.Reason == notProved:
		c.Reason = proof.words()
	case !decided && r.Proved:
		c.Reason += "; " + proof.words()
	}
	return c
}

// become gives a change another row, whatever it was judged to be.
func (c *Change) become(r *Row) {
	c.Row, c.Class, c.NeedsHumanClass, c.Reason, c.OverrideReason = r.ID, r.Class, r.Human, r.Reason, ""
}

func layerOf(path string) string {
	segments, _ := pack.SplitPointer(path)
	if len(segments) > 0 && slices.Contains(pack.Layers(), segments[0]) {
		return segments[0]
	}
	return Other
}
