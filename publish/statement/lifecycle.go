package statement

import "time"

// The states that a published version can be given.
const (
	StateDeprecated = "deprecated" // still usable, to be moved away from
	StateRevoked    = "revoked"    // not to be used
)

// State says that a version is deprecated or revoked.
type State struct {
	Version
	State  string // StateDeprecated or StateRevoked
	Reason string
	Actor  string // who said so
	Time   time.Time
}

func (s State) check() error {
	c := &checker{}
	c.version("", s.Version)
	c.that(s.State == StateDeprecated || s.State == StateRevoked,
		"the state is %q, wanted %q or %q", s.State, StateDeprecated, StateRevoked)
	c.text("the reason", s.Reason)
	c.text("the actor", s.Actor)
	c.time("the time", s.Time)
	return c.err
}

// Statement returns the in-toto Statement of the state in its canonical bytes.
// It fails where a member is missing or malformed.
func (s State) Statement() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return encode(s.Version, TypeState, object{"state": s.State, "reason": s.Reason, "actor": s.Actor, "time": s.Time.Format(timeForm)})
}

// State reads the predicate of a statement of TypeState. It fails for one of
// another type, and where a member is missing or malformed.
func (s *Statement) State() (*State, error) {
	p, r := s.predicate(TypeState)
	out := &State{
		Version: s.Version(),
		State:   r.text(p, "state"),
		Reason:  r.text(p, "reason"),
		Actor:   r.text(p, "actor"),
		Time:    r.time(p, "time"),
	}
	return checked(out, r.err)
}

// Pin says that an environment runs a version from now on.
type Pin struct {
	Version
	Environment string
	Previous    string // digest of the manifest that was pinned before, "" for the first pin
	Actor       string // who moved it
	Reason      string // may be empty
	Replay      bool   // a deprecated version, pinned to replay what it decided
	Time        time.Time
}

func (p Pin) check() error {
	c := &checker{}
	c.version("", p.Version)
	c.that(environmentForm().MatchString(p.Environment),
		"the environment is %q, wanted up to 124 letters, digits and . _ -", p.Environment)
	if p.Previous != "" {
		c.digest("the digest of the previous pin", p.Previous)
	}
	c.text("the actor", p.Actor)
	c.optional("the reason", p.Reason)
	c.time("the time", p.Time)
	return c.err
}

// Statement returns the in-toto Statement of the pin in its canonical bytes. It
// fails where a member is missing or malformed.
func (p Pin) Statement() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	predicate := object{"environment": p.Environment, "actor": p.Actor, "replay": p.Replay, "time": p.Time.Format(timeForm)}
	return encode(p.Version, TypePin, predicate.with("reason", p.Reason).withDigest("previous", p.Previous))
}

// Pin reads the predicate of a statement of TypePin. It fails for one of another
// type, and where a member is missing or malformed.
func (s *Statement) Pin() (*Pin, error) {
	p, r := s.predicate(TypePin)
	out := &Pin{
		Version:     s.Version(),
		Environment: r.text(p, "environment"),
		Previous:    r.optionalDigest(p, "previous"),
		Actor:       r.text(p, "actor"),
		Reason:      r.optional(p, "reason"),
		Replay:      r.flag(p, "replay"),
		Time:        r.time(p, "time"),
	}
	return checked(out, r.err)
}

// checked returns what was read, where that did not fail and it keeps the rules that
// writing it keeps.
func checked[T any, P interface {
	*T
	check() error
}](v P, err error) (P, error) {
	if err == nil {
		err = v.check()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}
