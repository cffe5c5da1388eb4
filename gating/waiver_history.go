package gating

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// The bounds of the history in which earlier versions of the config are looked for.
const (
	mostConfigs     = 10_000  // commits
	mostConfigBytes = 1 << 20 // of one version
)

// Age is what the history of the config tells about a waiver.
type Age struct {
	Since    string // the day of the first commit that has it, YYYY-MM-DD; "" if none has
	Renewals int    // how often its last day was moved to a later one
	Older    bool   // the history that was read ends with it, so that it may be older

	oldest  time.Time // of the commit of Since
	until   string    // its last day in that commit
	away    bool      // it is not in the commits looked at before that
	settled bool      // what is before is another one
}

// Ages returns how old the waivers of a config are, in their order, by the commit and its first
// parents. Name is that of the config file in the commit's folder, and now must not be before the
// commit's time. A waiver is the same one in another version if it excuses some of the same things;
// one that was removed and put back within the maximum lifetime keeps its age. The error is for a
// history that cannot be read.
func (c *Commit) Ages(ctx context.Context, name string, config *repo.Config, now time.Time) ([]Age, error) {
	ages := make([]Age, len(config.Waivers.Items))
	for i := range ages {
		ages[i].oldest = now
	}
	lifetime := time.Duration(config.WaiverDays()) * 24 * time.Hour
	var src []byte
	var then *repo.Config
	tree := c.Tree
	for range mostConfigs {
		at := *c
		at.Tree = tree
		read, there, err := at.Read(name, mostConfigBytes)
		if err != nil {
			return nil, err
		}
		if !there {
			then, src = repo.DefaultConfig(), nil
		} else if then == nil || string(read) != string(src) {
			src = read
			then, _ = repo.ParseConfig(name, src) // nil if it is not valid: nothing is known of it
		}
		day, err := tree.Time()
		if err != nil {
			return nil, err
		}
		open := false
		for i := range ages {
			ages[i].look(&config.Waivers.Items[i], then, day, lifetime)
			open = open || !ages[i].settled
		}
		if !open {
			return ages, nil
		}
		tree, err = parent(ctx, tree, "of "+name)
		switch {
		case errors.Is(err, github.ErrIncomplete):
			return cutOff(ages), nil
		case err != nil || tree == nil:
			return ages, err
		}
	}
	return cutOff(ages), nil
}

// cutOff notes that no more of the history is known.
func cutOff(ages []Age) []Age {
	for i := range ages {
		ages[i].Older = !ages[i].settled
	}
	return ages
}

// look looks for a waiver in an earlier version of the config; nil is a version that is not known.
func (a *Age) look(w *repo.Waiver, config *repo.Config, at time.Time, lifetime time.Duration) {
	if a.settled || config == nil {
		return
	}
	last := ""
	for i := range config.Waivers.Items {
		if old := &config.Waivers.Items[i]; sameException(w, old) {
			last = max(last, old.Expires.Value)
		}
	}
	switch missed := a.oldest.Sub(at); {
	case last == "" && missed > lifetime, last != "" && a.away && missed > lifetime:
		a.settled = true
	case last == "":
		a.away = true
	default:
		if until := cmp.Or(a.until, w.Expires.Value); last < until {
			a.Renewals++
		}
		a.Since, a.oldest, a.until, a.away = at.UTC().Format(time.DateOnly), at, last, false
	}
}

// sameException reports whether two waivers excuse some of the same things, for packs that one of the
// two patterns has in common with the other.
func sameException(a, b *repo.Waiver) bool {
	one, _ := gates.Find(a.Rule.Value)
	other, _ := gates.Find(b.Rule.Value)
	return one != nil && one == other && a.Of.Value == b.Of.Value &&
		(a.For(b.Pack.Value) || b.For(a.Pack.Value)) && (atOrAbove(a, b) || atOrAbove(b, a))
}

// atOrAbove reports whether the path of a waiver is that of another one, or above it.
func atOrAbove(a, b *repo.Waiver) bool {
	path := strings.TrimSuffix(a.Path.Value, "/")
	return path == "" || strings.HasPrefix(b.Path.Value+"/", path+"/")
}
