// Package promotion holds the rules about what a pins file wants an environment to run: that
// it is published, that the environment before it runs it, and for long enough.
package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Gate groups the rules about promotion. They have no Check of their own, for they ask the
// signed records of a registry.
var Gate = &gate.Gate{
	ID: "promotion", Title: "Promotion",
	About: "What a pins file wants is published, runs in the environment before, and has done so for as long as the catalog requires.",
	Rules: []*gate.Rule{PIN001, PIN002, PIN003},
}

// Move is a line of a pins file that is another one than before.
type Move struct {
	At          finding.Location
	Environment string
	Pack        string // pack_id
	Version     string
	Digest      pack.Digest // of the pack's bytes
	Complete    bool        // the catalog refuses a version of which a check did not run
	Demands     []Demand    // of the catalogs before and after the change
}

// Demand is what a catalog says has to hold before the move.
type Demand struct {
	From string        // environment that has to run the same bytes; "" for none
	Soak time.Duration // for how long; 0 where nothing says so
}

// Strictest returns the demands of several catalogs: each environment once, with the longest
// time that any demands.
func Strictest(all ...Demand) (list []Demand) {
	for _, d := range all {
		i := slices.IndexFunc(list, func(known Demand) bool { return known.From == d.From })
		switch {
		case d.From == "":
		case i < 0:
			list = append(list, d)
		default:
			list[i].Soak = max(list[i].Soak, d.Soak)
		}
	}
	slices.SortFunc(list, func(a, b Demand) int { return cmp.Compare(a.From, b.From) })
	return list
}

// Published is what a registry says of a version. The zero value is of one that it has not.
type Published struct {
	Digest     pack.Digest // of the pack's bytes; "" where there is no such version
	Manifest   string      // its digest in the registry
	Deprecated bool
	Incomplete string // why it is not known that every check ran, "" where it is
	Trouble    string // why it cannot be used, "" where it can
	Hint       string // what to do about the trouble, where somebody knows
}

// Running is what an environment runs of a pack by its signed records. The zero value is of
// one that runs none.
type Running struct {
	Version string
	Digest  pack.Digest // of the pack's bytes
	Since   time.Time   // from when on it runs these bytes without interruption, as a service vouches
	Trouble string      // why it is not known what it runs, "" where it is
	Hint    string      // what to do about the trouble, where somebody knows
}

// Published returns what is wrong with the version that a line wants, by what the registry has
// of it (PIN001).
func (m Move) Published(p Published) []finding.Finding {
	name := fmt.Sprintf("%q", m.name())
	switch {
	case p.Trouble != "":
		return m.found(PIN001, "", cmp.Or(p.Hint, "pin a version that verifies"), "%s cannot be pinned: %s", name, p.Trouble)
	case p.Digest == "":
		return m.found(PIN001, "", "publish it first, or name a version that is published", "%s is not published", name)
	case p.Digest != m.Digest && p.Manifest == string(m.Digest):
		return m.found(PIN001, "", fmt.Sprintf("write %q, the digest of the pack itself", p.Digest), "%q is the digest of the manifest of %s, and not of the pack", m.Digest, name)
	case p.Digest != m.Digest:
		return m.found(PIN001, "", "use packgate promote, which writes version and digest", "%s is published as %s, and the line has %s", name, p.Digest, m.Digest)
	case p.Deprecated:
		return m.found(PIN001, "", "pin another version; packgate rollback can go back to this one", "%s is deprecated", name)
	case m.Complete && p.Incomplete != "":
		return m.found(PIN001, "", "publish it with all checks, or take complete out of the catalog",
			"%s cannot be pinned where the catalog has complete: true: %s", name, p.Incomplete)
	}
	return nil
}

// Ran returns what is wrong with the line by what an environment runs from which it is
// promoted: another version (PIN002), or not for long enough (PIN003).
func (m Move) Ran(d Demand, r Running, now time.Time) []finding.Finding {
	const hint = "promote it there first"
	name, from := fmt.Sprintf("%q", m.name()), fmt.Sprintf("%q", d.From)
	switch end := r.Since.Add(d.Soak); {
	case r.Trouble != "":
		return m.found(PIN002, d.From, cmp.Or(r.Hint, fmt.Sprintf("run `packgate verify %s@env-%s` for the whole reason", m.Pack, d.From)), "it is not known what the environment %s runs: %s", from, r.Trouble)
	case r.Digest == "":
		return m.found(PIN002, d.From, hint, "%s must first run in the environment %s, which runs no version of it", name, from)
	case r.Digest != m.Digest:
		return m.found(PIN002, d.From, hint, "%s must first run in the environment %s, which runs %q", name, from, m.Pack+"@"+r.Version)
	case d.Soak > 0 && r.Since.IsZero():
		return m.found(PIN003, d.From, fmt.Sprintf("look at the records with `packgate log %s`", m.Pack), "it is not known since when %s runs in the environment %s", name, from)
	case d.Soak > 0 && now.Before(end):
		return m.found(PIN003, d.From, "run the check again then", "%s must run in the environment %s for %s without interruption, until %s",
			name, from, words(d.Soak), end.Add(time.Minute-1).UTC().Truncate(time.Minute).Format("2006-01-02 15:04 MST"))
	}
	return nil
}

// Wanted returns what is wrong with the line where no record can be asked, by whether the
// environment before wants the same.
func (m Move) Wanted(d Demand, same bool) []finding.Finding {
	if same {
		return nil
	}
	return m.found(PIN002, d.From, "promote it there first", "%q must first run in the environment %q, which does not pin it", m.name(), d.From)
}

// Unrecorded returns that nobody can tell for how long a version has run, for a reason.
func (m Move) Unrecorded(d Demand, reason string) []finding.Finding {
	if d.Soak == 0 {
		return nil
	}
	return m.found(PIN003, d.From, "name the registry under publish.registry of the config", "it is not known for how long %q has run in the environment %q: %s", m.name(), d.From, reason)
}

// Unasked returns what is said of a rule that could not be checked, for a reason.
func Unasked(r *gate.Rule, reason string) finding.NotChecked {
	return finding.NotChecked{Gate: Gate.ID, Rule: r.ID, Reason: reason}
}

func (m Move) name() string { return m.Pack + "@" + m.Version }

// words says a length of time in the largest unit that it is a whole number of.
func words(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if d >= unit.of && d%unit.of == 0 {
			return pack.Counted(int(d/unit.of), unit.name)
		}
	}
	return d.String()
}

func (m Move) found(r *gate.Rule, key, hint, format string, args ...any) []finding.Finding {
	return []finding.Finding{{
		Rule: r.ID, Name: r.Name, Gate: Gate.ID, Severity: r.Severity, Location: m.At, Hint: hint,
		Key: m.Environment + " " + m.Pack + " " + key, Message: fmt.Sprintf(format, args...), Environment: m.Environment,
	}}
}
