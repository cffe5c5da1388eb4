package statement

import (
	"slices"
	"time"

	"github.com/contextosai/packgate/pack"
)

// What moved an environment.
const (
	ByHand     = "pin"      // a person named the version
	ByPinsFile = "promote"  // the pins file of the environment was changed
	ByRollback = "rollback" // the version before was named by the history
)

var movers = []string{ByHand, ByPinsFile, ByRollback}

// Move is what the statements that move an environment have in common.
type Move struct {
	Version
	Environment string
	Previous    string // digest of the manifest that was pinned before, "" for the first pin
	Actor       string // who moved it
	Reason      string // may be empty
	By          string // ByHand, ByPinsFile or ByRollback; "" where the statement does not say
	// Commit is the one whose pins file was in force, "" where there was none.
	Commit    string
	Approvals []Approval // that the environment demands, sorted by role and login
	Time      time.Time
}

// Pin says that an environment runs a version from now on.
type Pin struct {
	Move
	Replay bool // a deprecated version, pinned to replay what it decided
	// Accept says why a version was accepted whose cases do not hold any more, "" where they do.
	Accept string
	// Bundle is what the environment runs of the version, nil where that is the pack as it was
	// published. Its Pack is a BuildName of this version and environment.
	Bundle *Version
}

// Stop says that an environment runs no version of the pack from now on. It speaks of the
// version that it ran until then, which is Previous too.
type Stop struct{ Move }

func (m Move) check(c *checker) {
	c.version("", m.Version)
	c.environment(m.Environment)
	if m.Previous != "" {
		c.digest("the digest of the previous pin", m.Previous)
	}
	c.text("the actor", m.Actor)
	c.optional("the reason", m.Reason)
	c.that(m.By == "" || slices.Contains(movers, m.By), "what moved it is %q, wanted one of %q", m.By, movers)
	c.that(m.Commit == "" || commitForm().MatchString(m.Commit), "the commit is %q, wanted 40 or 64 hex digits in lower case", m.Commit)
	c.approvals(m.Approvals)
	c.time("the time", m.Time)
}

func (p Pin) check() error {
	c := &checker{}
	p.Move.check(c)
	c.optional("what was accepted", p.Accept)
	c.that(p.Accept == "" || p.By == ByRollback, "what was accepted is %q, wanted none except for a rollback", p.Accept)
	if p.Bundle != nil {
		c.build("bundle's ", *p.Bundle)
		name, _ := ReadBuildName(p.Bundle.Pack)
		c.that(name.Pack == p.Pack && name.Environment == p.Environment, "the bundle is %q, wanted one of %q in the environment %q", p.Bundle.Pack, p.Pack, p.Environment)
	}
	return c.err
}

func (s Stop) check() error {
	c := &checker{}
	s.Move.check(c)
	c.that(s.Previous == s.Manifest, "the digest of the previous pin is %q, wanted that of the stopped version, %q", s.Previous, s.Manifest)
	return c.err
}

// predicate returns what the predicates of both have in common.
func (m Move) predicate() object {
	o := object{"environment": m.Environment, "actor": m.Actor, "time": m.Time.Format(timeForm)}
	if len(m.Approvals) > 0 {
		o["approvals"] = sorted(m.Approvals)
	}
	return o.with("reason", m.Reason).with("by", m.By).with("commit", m.Commit).withDigest("previous", m.Previous)
}

// Statement returns the in-toto Statement of the pin in its canonical bytes. It
// fails where a member is missing or malformed.
func (p Pin) Statement() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	o := p.predicate()
	o["replay"] = p.Replay
	if p.Bundle != nil {
		o["bundle"] = named(*p.Bundle)
	}
	return encode(p.Version, TypePin, o.with("accept", p.Accept))
}

// Statement returns the in-toto Statement of the stop in its canonical bytes. It
// fails where a member is missing or malformed.
func (s Stop) Statement() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return encode(s.Version, TypeStop, s.predicate())
}

// move reads what both have in common.
func (s *Statement) move(p *pack.Node, r *reader) Move {
	return Move{
		Version:     s.Version(),
		Environment: r.text(p, "environment"),
		Previous:    r.optionalDigest(p, "previous"),
		Actor:       r.text(p, "actor"),
		Reason:      r.optional(p, "reason"),
		By:          r.optional(p, "by"),
		Commit:      r.optional(p, "commit"),
		Approvals:   r.approvals(p, false),
		Time:        r.time(p, "time"),
	}
}

// Pin reads the predicate of a statement of TypePin. It fails for one of another
// type, and where a member is missing or malformed.
func (s *Statement) Pin() (*Pin, error) {
	p, r := s.predicate(TypePin)
	out := &Pin{Move: s.move(p, r), Replay: r.flag(p, "replay"), Accept: r.optional(p, "accept")}
	if b := r.optionalObject(p, "bundle"); b != nil {
		out.Bundle = new(r.named(b))
	}
	return checked(out, r.err)
}

// Stop reads the predicate of a statement of TypeStop. It fails for one of another
// type, and where a member is missing or malformed.
func (s *Statement) Stop() (*Stop, error) {
	p, r := s.predicate(TypeStop)
	out := &Stop{s.move(p, r)}
	return checked(out, r.err)
}
