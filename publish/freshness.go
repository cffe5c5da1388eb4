package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// FreshnessPolicy is what has to be known of a registry before anything of it is used: that
// what it shows is not older than what the publisher has said.
type FreshnessPolicy struct {
	Verifier *attest.Verifier // trusts who signs timestamps
	MaxAge   time.Duration    // how old a timestamp may be
	Expiry   time.Duration    // how long a timestamp may say that it is valid
	Memory   *Memory          // nil for none
}

// The defaults of a policy, and how often a timestamp is signed.
const (
	DefaultRefresh = 6 * time.Hour
	DefaultMaxAge  = 24 * time.Hour
	DefaultExpiry  = 7 * 24 * time.Hour
)

// clockSkew is how far two clocks may be apart that are both right.
const clockSkew = 5 * time.Minute

// Freshness is what a verdict says of how new its registry is.
type Freshness struct {
	Sequence int    // of the publisher's status, 0 where none could be relied on
	Status   string // digest of the status
	Issued   time.Time
	Expires  time.Time
	State    string // that the status gives the version, "" for none
	// Stale is from when on nobody has said that the status is the newest; zero where it is
	// fresh, and where that cannot be told.
	Stale time.Time
}

// notFresh is what is not checked where no policy is given.
const notFresh = "whether the registry shows the newest state, with every revocation: publish.freshness is not configured"

// freshen adds to a verdict what the publisher's status says of the version, and refuses
// where the status is not known to be the newest.
func (c *Checker) freshen(ctx context.Context, v *Verdict) error {
	if c.Freshness == nil {
		if v.Status == Usable || v.Status == Deprecated {
			v.NotChecked = append(v.NotChecked, notFresh)
		}
		return nil
	}
	v.Freshness = &Freshness{}
	s, err := c.fresh(ctx, v)
	if err != nil || s == nil {
		return err
	}
	return c.compare(ctx, v, s)
}

// fresh returns the status that is known to be the newest; nil where none is, which the
// verdict then says.
func (c *Checker) fresh(ctx context.Context, v *Verdict) (*statusAt, error) {
	repo, err := c.Registry.Status()
	if err != nil {
		return nil, err
	}
	t, err := c.timestampUnder(ctx, repo, c.Freshness.Verifier)
	switch {
	case notThere(err):
		v.add(ReasonStale.refuses("", "run the workflow that publish.freshness names", "%q has no timestamp of the publisher's status", repo.Name()))
		return nil, c.sinceMemory(v)
	case err != nil && !judged(err):
		return nil, err
	case err != nil:
		v.add(notTrusted("the timestamp", err))
		return nil, c.sinceMemory(v)
	}
	s, err := c.statusOf(t.document, t.bundle)
	if err != nil {
		v.add(notTrusted("the status beside the timestamp", err))
		return nil, c.sinceMemory(v)
	}
	c.states(v, s) // which it never takes back, however old it is
	if found := s.digest(); found != t.Digest || s.ledger.Sequence != t.Sequence {
		v.add(ReasonRolledBack.refuses(found, "check who can write to the registry",
			"the timestamp names %s as status %d, and the registry has %s, which is %d", t.Digest, t.Sequence, found, s.ledger.Sequence))
		return nil, nil
	}
	v.Freshness.Issued, v.Freshness.Expires = t.Issued, t.Expires
	if r := c.Freshness.judge(t, clock(c.Now), v.Freshness); r != nil {
		v.add(*r)
		before, err := c.recall()
		if err == nil && before != nil {
			c.inTime(v, before)
			c.after(v, before, t)
		}
		return nil, err
	}
	return c.remember(v, s, t)
}

// judged tells whether an error is about what the registry serves, which a verdict says, and
// not about that it could not be asked.
func judged(err error) bool {
	return fault.Is(err, ErrStatus, registry.ErrForeign, registry.ErrContent, attest.ErrMalformed, attest.ErrSignature, attest.ErrIssuer, attest.ErrWorkflow,
		attest.ErrRepository, attest.ErrTrigger, attest.ErrCertificate, attest.ErrTimestamp, attest.ErrLog, attest.ErrSCT, attest.ErrUntrusted, attest.ErrRole)
}

func notTrusted(what string, err error) Reason {
	return Reason{Kind: ReasonStale, Message: fmt.Sprintf("%s is not trusted: %v", what, err), Hint: fault.Hint(err), Refuses: true, Cause: err}
}

// judge says why a timestamp that verified is not to be relied on now; nil where it is.
func (p *FreshnessPolicy) judge(t *timestampAt, now time.Time, f *Freshness) *Reason {
	const hint = "run the workflow that publish.freshness names, and find out why it did not run"
	refuse := func(hint, format string, args ...any) *Reason {
		r := ReasonStale.refuses(t.Bundle, hint, format, args...)
		return &r
	}
	issued, expires := stampOf(t.Issued), stampOf(t.Expires)
	apart := t.Time.Sub(t.Issued)
	switch until := earlier(t.Issued.Add(p.MaxAge), t.Expires); {
	case apart > clockSkew || apart < -clockSkew:
		return refuse("set the clock of the machine that signs", "the timestamp says that it was issued at %s, and it was signed at %s", issued, stampOf(t.Time))
	case t.Expires.Sub(t.Issued) > p.Expiry:
		return refuse("sign timestamps with the expiry of the config, or raise publish.freshness.expiry",
			"the timestamp of %s says that it is valid until %s, wanted at most %s", issued, expires, p.Expiry)
	case t.Issued.After(now.Add(clockSkew)):
		return refuse("set the clock of this machine", "the timestamp was issued at %s, and this machine's clock says %s", issued, stampOf(now))
	case !now.Before(t.Expires):
		f.Stale = until
		return refuse(hint, "the timestamp of %s expired at %s", issued, expires)
	case now.Sub(t.Issued) > p.MaxAge:
		f.Stale = until
		return refuse(hint, "the timestamp of %s is older than %s, the most that it may be", issued, p.MaxAge)
	}
	return nil
}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// remember holds a status against the newest one that was seen, and notes it.
func (c *Checker) remember(v *Verdict, s *statusAt, t *timestampAt) (*statusAt, error) {
	v.Freshness.Sequence, v.Freshness.Status = t.Sequence, t.Digest
	const unknown = "whether the registry shows an earlier state that is younger than the expiry: "
	if c.Freshness.Memory == nil {
		v.NotChecked = append(v.NotChecked, unknown+"there is no memory of the newest one")
		return s, nil
	}
	before, err := c.Freshness.Memory.keep(seenOf(c.Verifier.Name(), t))
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		v.NotChecked = append(v.NotChecked, unknown+"this is the first one that is remembered here")
		return s, nil
	}
	if inTime := c.inTime(v, before); !c.after(v, before, t) || !inTime {
		return nil, nil
	}
	return s, nil
}

// after reports whether what a timestamp names is no earlier status than the one that was seen
// here before, which the verdict says otherwise.
func (c *Checker) after(v *Verdict, before *seen, t *timestampAt) bool {
	switch {
	case before.Sequence > t.Sequence:
		v.add(ReasonRolledBack.refuses(t.Digest, "do not use what the registry shows, and check who can write to it",
			"the registry shows status %d of the publisher, and status %d was seen here before", t.Sequence, before.Sequence))
	case before.Sequence == t.Sequence && before.Status != t.Digest:
		v.add(ReasonRolledBack.refuses(t.Digest, "do not use what the registry shows, and ask the publisher",
			"the publisher has two statuses %d: %s was seen here before, and the registry shows %s", t.Sequence, before.Status, t.Digest))
	default:
		return true
	}
	return false
}

// inTime reports whether the clock of this machine is not behind a timestamp that was seen here
// before. By such a clock nothing can be told to be fresh, nor since when it is not.
func (c *Checker) inTime(v *Verdict, before *seen) bool {
	now := clock(c.Now)
	if !before.issued().After(now.Add(clockSkew)) {
		return true
	}
	v.Freshness.Stale = time.Time{}
	v.add(ReasonStale.refuses(before.Status, "set the clock of this machine", "this machine's clock says %s, and a timestamp of %s was seen here before", stampOf(now), before.Issued))
	return false
}

// recall returns what was seen here before of the publisher, nil for nothing.
func (c *Checker) recall() (*seen, error) {
	return c.Freshness.Memory.recall(c.Registry.String(), c.Verifier.Name())
}

// sinceMemory notes from when on nothing is known, by what was seen here before.
func (c *Checker) sinceMemory(v *Verdict) error {
	before, err := c.recall()
	if err == nil && before != nil && c.inTime(v, before) {
		v.Freshness.Stale = earlier(before.issued().Add(c.Freshness.MaxAge), before.expires())
	}
	return err
}

// compare holds what the registry shows of a version against the newest status.
func (c *Checker) compare(ctx context.Context, v *Verdict, s *statusAt) error {
	p, known := s.ledger.Packs[v.Pack]
	if !known {
		v.NotChecked = append(v.NotChecked, fmt.Sprintf("whether the registry shows an earlier state of %q: the publisher's status of %s does not name it yet", v.Pack, stampOf(s.Time)))
		return nil
	}
	head, err := c.beyond(ctx, v.Pack, p.Head)
	if err != nil && !errors.Is(err, ErrCut) {
		return err
	}
	if err != nil {
		v.add(Reason{Kind: ReasonRolledBack, Message: err.Error(), Hint: "do not use what the registry shows, and check who can write to it", Digest: p.Head.Digest, Refuses: true, Cause: err})
	}
	tag, _ := registry.ReadTag(v.Ref.Tag)
	if tag.Environment != "" && head == p.Head {
		c.comparePin(v, p, tag.Environment)
	}
	return nil
}

// states takes the state that a status gives the version into the verdict.
func (c *Checker) states(v *Verdict, s *statusAt) {
	state := s.ledger.Packs[v.Pack].States[v.Manifest]
	if state == "" {
		return
	}
	v.Freshness.State = state
	if shown := stateOf(v.States); shown == nil || shown.State != state && shown.State != statement.StateRevoked {
		v.add(ReasonHidden.explains(v.Manifest, "check who can write to the registry, which lacks the statement",
			"it is %s according to the publisher's status of %s, and the registry does not show the statement", state, stampOf(s.Time)))
	}
}

// comparePin holds what an environment runs by the registry against what it runs by a status
// that is as new.
func (c *Checker) comparePin(v *Verdict, p statement.PackLedger, environment string) {
	pin, known := p.Pins[environment]
	shown, wanted := v.Manifest, "nothing"
	switch {
	case pin == nil:
	case pin.Bundle != "" && v.Build != nil:
		shown, wanted = v.Build.Statement.Manifest, pin.Bundle
	case pin.Bundle != "":
		wanted = pin.Bundle
	default:
		wanted = pin.Manifest
	}
	if known && wanted != shown || !known && shown != "" {
		v.add(ReasonRolledBack.refuses(v.Manifest, "do not use what the registry shows, and check who can write to it",
			"the environment %q runs %s according to the registry, and %s according to the publisher's status", environment, shown, wanted))
	}
}

// Keep reports whether what runs already may go on though the registry is not known to be
// fresh: it is the very content of the verdict, or of its bundle, nothing else speaks against
// it, and for no longer than the given time nobody has said what is the newest. A registry
// that shows an earlier state than was seen is no reason to go on.
func (v *Verdict) Keep(content string, limit time.Duration, now time.Time) bool {
	own := content != "" && (content == v.Content || v.Build != nil && content == v.Build.Statement.Content)
	if v.Status != Stale || v.Freshness == nil || v.Freshness.Stale.IsZero() || !own || limit <= 0 {
		return false
	}
	for _, r := range v.Reasons {
		if r.Refuses && r.Kind != ReasonStale {
			return false
		}
	}
	return now.Before(v.Freshness.Stale.Add(limit))
}
