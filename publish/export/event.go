// Package export writes what a registry proves about who did what with packs into a folder,
// and verifies such a folder without a registry.
//
// A folder holds the signed statements, the records of the packs' histories, the reports and
// configs that statements name by their digests, and the publisher's status with its timestamp.
// From these, and from nothing else, a list of events is derived. So verifying derives the list
// again: an event that no signed statement proves cannot be in it.
package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/statement"
)

// The kinds of events.
const (
	Published       = "published"        // a version passed the checks and was signed
	BundlePublished = "bundle-published" // so was what it is in an environment
	Approved        = "approved"         // somebody with a role approved one of these, or a move
	Waived          = "waived"           // a waiver excused a finding of a version that was published
	Excused         = "excused"          // an approval excused a finding of a version that was published
	Deprecated      = "deprecated"       // a version is to be moved away from
	Revoked         = "revoked"          // a version is not to be used
	Pinned          = "pinned"           // an environment was moved to a version
	Stopped         = "stopped"          // an environment runs no version any more
)

// Event is something that was done with a pack, and the signed statement that proves it.
type Event struct {
	Time        string `json:"time"` // when the statement was signed, UTC
	Event       string `json:"event"`
	Pack        string `json:"pack"` // pack_id
	Version     string `json:"pack_version"`
	Environment string `json:"environment,omitempty"`
	Who         string `json:"who"`               // who did it: a login, or for what a run did, its identity
	Role        string `json:"role,omitempty"`    // of who approved
	By          string `json:"by,omitempty"`      // what moved the environment: pin, promote or rollback
	Class       string `json:"class,omitempty"`   // of a version
	Rule        string `json:"rule,omitempty"`    // of the finding that was excused
	Thing       string `json:"thing,omitempty"`   // what the finding is about
	Reason      string `json:"reason,omitempty"`  // as it was given
	Expires     string `json:"expires,omitempty"` // of a waiver
	PullRequest string `json:"pull_request,omitempty"`
	Commit      string `json:"commit,omitempty"`
	Run         string `json:"run,omitempty"`      // address of the run that signed
	Manifest    string `json:"manifest"`           // digest of what the statement is about
	Previous    string `json:"previous,omitempty"` // digest of what the environment ran before
	Bundle      string `json:"bundle,omitempty"`   // digest of the environment's bundle that runs from then on
	Report      string `json:"report,omitempty"`   // digest of the report that a waiver is in
	Config      string `json:"config,omitempty"`   // digest of the config in force
	Signer      string `json:"signer"`
	Statement   string `json:"statement"` // digest of the bundle that holds the signed statement
}

// errNoEvent says that a statement is none from which an event follows.
var errNoEvent = errors.New("the statement is not about a version, bundle or environment")

// eventsOf returns the events that a signed statement proves. Reports holds by digest those
// that are known; of the statement's own the waivers are read.
func eventsOf(v *attest.Verified, reports func(digest string) []byte) ([]Event, error) {
	e := Event{Signer: cmp.Or(v.Signer.Workflow, v.Signer.Key), Run: v.Signer.RunURL, Statement: v.Digest, Manifest: v.Statement.Version().Manifest}
	e.Who = e.Signer
	switch v.Statement.Type {
	case statement.TypeSummary:
		s, err := v.Statement.Summary()
		if err != nil {
			return nil, err
		}
		e.Event = Published
		return e.published(v, s, reports)
	case statement.TypeBundle:
		b, err := v.Statement.Build()
		if err != nil {
			return nil, err
		}
		e.Event, e.Environment, e.Bundle = BundlePublished, b.Name().Environment, b.Pack
		return e.published(v, &b.Summary, reports)
	case statement.TypeState:
		s, err := v.Statement.State()
		if err != nil {
			return nil, err
		}
		e.Event, e.Who, e.Reason = s.State, s.Actor, s.Reason
		e.at(v, s.Pack, s.Time)
		return []Event{e}, nil
	case statement.TypePin:
		p, err := v.Statement.Pin()
		if err != nil {
			return nil, err
		}
		e.Event = Pinned
		if p.Bundle != nil {
			e.Bundle = p.Bundle.Manifest
		}
		return e.moved(v, p.Move, p.Accept), nil
	case statement.TypeStop:
		s, err := v.Statement.Stop()
		if err != nil {
			return nil, err
		}
		e.Event = Stopped
		return e.moved(v, s.Move, ""), nil
	}
	return nil, errNoEvent
}

// at sets of which version the event is, and when it was: by a service where one has vouched
// for the time, and else by the signer's word.
func (e *Event) at(v *attest.Verified, name string, said time.Time) {
	if n, ok := statement.ReadBuildName(name); ok {
		name = n.Pack
	}
	e.Pack, e.Version = split(name)
	if !v.Time.IsZero() {
		said = v.Time
	}
	e.Time = said.UTC().Truncate(time.Second).Format(time.RFC3339)
}

func (e Event) approvals(list []statement.Approval) (out []Event) {
	for _, a := range list {
		one := e
		one.Event, one.Who, one.Role = Approved, a.Login, a.Role
		out = append(out, one)
	}
	return out
}

func (e Event) moved(v *attest.Verified, m statement.Move, accepted string) []Event {
	e.at(v, m.Pack, m.Time)
	e.Environment, e.Previous, e.Commit, e.By = m.Environment, m.Previous, m.Commit, m.By
	approved := e.approvals(m.Approvals)
	e.Who, e.Reason = m.Actor, m.Reason
	if accepted != "" {
		e.Reason = strings.TrimPrefix(m.Reason+"; accepted: "+accepted, "; ")
	}
	return append([]Event{e}, approved...)
}

// published returns the events of a version or a bundle: that it was published, who approved
// it, and what was excused.
func (e Event) published(v *attest.Verified, s *statement.Summary, reports func(string) []byte) ([]Event, error) {
	e.at(v, s.Pack, s.Time)
	e.Class, e.PullRequest, e.Commit, e.Config = s.Class, s.PullRequest, s.Source.Commit, s.Config
	out := append([]Event{e}, e.approvals(s.Approvals)...)
	report := reports(s.Report)
	if report == nil {
		return out, nil
	}
	e.Report = s.Report
	excused, err := e.excused(report)
	if err != nil {
		return nil, fmt.Errorf("the report %s: %w", s.Report, err)
	}
	return append(out, excused...), nil
}

// excused returns what a report says was excused.
func (e Event) excused(report []byte) (out []Event, err error) {
	var r struct {
		Packs []struct {
			Findings []struct {
				Rule, Thing, Message string
				Waived               *struct{ Reason, Owner, Expires string }
				Approved             []statement.Approval
			}
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, err
	}
	for _, p := range r.Packs {
		for _, f := range p.Findings {
			one := e
			one.Rule, one.Thing = f.Rule, cmp.Or(f.Thing, f.Message)
			if w := f.Waived; w != nil {
				one.Event, one.Who, one.Reason, one.Expires = Waived, w.Owner, w.Reason, w.Expires
				out = append(out, one)
			}
			for _, a := range f.Approved {
				by := one
				by.Event, by.Who, by.Role, by.Reason, by.Expires = Excused, a.Login, a.Role, "", ""
				out = append(out, by)
			}
		}
	}
	return out, nil
}

// sorted orders events by time, pack and version; and all that are of one statement stay in
// the order in which it has them.
func sorted(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Statement, b.Statement))
	})
}

// split cuts pack_id@version in two.
func split(name string) (id, version string) {
	i := max(strings.LastIndexByte(name, '@'), 0)
	return name[:i], strings.TrimPrefix(name[i:], "@")
}

// digestOf returns the digest of bytes as events and names of files have it.
func digestOf(b []byte) string { return string(pack.DigestOf(b)) }
