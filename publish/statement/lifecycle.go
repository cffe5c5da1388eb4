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

type statePredicate struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Actor  string `json:"actor"`
	Time   string `json:"time"`
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
	return encode(s.Version, TypeState, statePredicate{
		State: s.State, Reason: s.Reason, Actor: s.Actor, Time: s.Time.Format(timeForm),
	})
}

// State reads the predicate of a statement of TypeState. It fails for one of
// another type, and where a member is missing or malformed.
func (s *Statement) State() (*State, error) {
	p, err := s.predicate(TypeState)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	out := &State{
		Version: s.Version(),
		State:   r.text(p, "state"),
		Reason:  r.text(p, "reason"),
		Actor:   r.text(p, "actor"),
		Time:    r.time(p, "time"),
	}
	if r.err != nil {
		return nil, r.err
	}
	return checked(out)
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

type pinPredicate struct {
	Environment string     `json:"environment"`
	Previous    *digestSet `json:"previous,omitempty"`
	Actor       string     `json:"actor"`
	Reason      string     `json:"reason,omitempty"`
	Replay      bool       `json:"replay"`
	Time        string     `json:"time"`
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
	return encode(p.Version, TypePin, pinPredicate{
		Environment: p.Environment, Previous: digests(p.Previous), Actor: p.Actor,
		Reason: p.Reason, Replay: p.Replay, Time: p.Time.Format(timeForm),
	})
}

// Pin reads the predicate of a statement of TypePin. It fails for one of another
// type, and where a member is missing or malformed.
func (s *Statement) Pin() (*Pin, error) {
	p, err := s.predicate(TypePin)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	out := &Pin{
		Version:     s.Version(),
		Environment: r.text(p, "environment"),
		Previous:    r.optionalDigest(p, "previous"),
		Actor:       r.text(p, "actor"),
		Reason:      r.optional(p, "reason"),
		Replay:      r.flag(p, "replay"),
		Time:        r.time(p, "time"),
	}
	if r.err != nil {
		return nil, r.err
	}
	return checked(out)
}

// checked returns v where it keeps the rules that writing it keeps.
func checked[T interface{ check() error }](v T) (T, error) {
	if err := v.check(); err != nil {
		var none T
		return none, err
	}
	return v, nil
}
