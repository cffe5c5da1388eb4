package repo

import (
	"strings"
	"time"

	"github.com/contextosai/packgate/pack"
)

// Freshness is which workflow signs at intervals that the publisher's status is still the newest, and
// how long that counts.
type Freshness struct {
	pack.Part
	Workflow pack.Text `json:"workflow"`
	Refresh  pack.Text `json:"refresh"`
	MaxAge   pack.Text `json:"max_age"`
	Expiry   pack.Text `json:"expiry"`
	OnStale  pack.Text `json:"on_stale"`
}

// What a config means that does not say another.
const (
	defaultRefresh = 6 * time.Hour
	defaultMaxAge  = 24 * time.Hour
	defaultExpiry  = 7 * 24 * time.Hour
)

// The bounds of what a config can say: GitHub starts no workflow more often, and what is
// valid for longer says nothing.
const (
	leastRefresh = 10 * time.Minute
	mostExpiry   = 90 * 24 * time.Hour
	mostKeep     = 90 * 24 * time.Hour
)

// OnStaleFail and OnStaleKeep, which is followed by a duration, are the values of on_stale: what happens
// to what runs if the registry is not known to be fresh.
const (
	OnStaleFail = "fail"
	OnStaleKeep = "keep "
)

// WorkflowURI returns the address that the certificate of a timestamp must name; "" where
// the config names none.
func (f Freshness) WorkflowURI() string { return onServer(f.Workflow.Value) }

// FreshnessTimes are the lengths of time of a freshness.
type FreshnessTimes struct {
	Refresh, MaxAge, Expiry time.Duration
	Keep                    time.Duration // how long what runs already goes on, 0 for not at all
}

// Times returns the lengths of time that are in force, the defaults if the config has none. The error
// is a *Problem, with its place in the config, if they cannot be used.
func (f Freshness) Times() (t FreshnessTimes, err error) {
	for _, one := range []struct {
		pack.Text
		name string
		into *time.Duration
		or   time.Duration
	}{
		{f.Refresh, "refresh", &t.Refresh, defaultRefresh}, {f.MaxAge, "max_age", &t.MaxAge, defaultMaxAge}, {f.Expiry, "expiry", &t.Expiry, defaultExpiry},
	} {
		if *one.into = one.or; one.Value == "" {
			continue
		}
		if *one.into, err = pack.ParseDuration(one.Value); err != nil {
			return t, Problemf("write a duration such as 6h or 7d", "%s: %v", one.name, err).at(one.Node, f.Node)
		}
	}
	if t.Keep, err = keepOf(f.OnStale.Value); err != nil {
		return t, err.(*Problem).at(f.OnStale.Node, f.Node)
	}
	const hint = "refresh has to be shorter than max_age, and max_age shorter than expiry; 6h, 24h and 7d are the defaults"
	switch {
	case t.Refresh < leastRefresh:
		return t, Problemf("write 10m or more: GitHub starts no workflow more often", "refresh is %s", t.Refresh).at(f.Refresh.Node, f.Node)
	case t.MaxAge <= t.Refresh:
		return t, Problemf(hint, "max_age is %s, and refresh is %s", t.MaxAge, t.Refresh).at(f.MaxAge.Node, f.Node)
	case t.Expiry <= t.MaxAge:
		return t, Problemf(hint, "expiry is %s, and max_age is %s", t.Expiry, t.MaxAge).at(f.Expiry.Node, f.Node)
	case t.Expiry > mostExpiry:
		return t, Problemf("write 90d or less", "expiry is %s", t.Expiry).at(f.Expiry.Node, f.Node)
	}
	return t, nil
}

// keepOf reads what is to become of what runs.
func keepOf(text string) (time.Duration, error) {
	const hint = `write fail, or keep and a duration, as in "keep 72h"`
	if text == "" || text == OnStaleFail {
		return 0, nil
	}
	length, ok := strings.CutPrefix(text, OnStaleKeep)
	if !ok {
		return 0, Problemf(hint, "on_stale is %q", text)
	}
	keep, err := pack.ParseDuration(length)
	switch {
	case err != nil:
		return 0, Problemf(hint, "on_stale: %v", err)
	case keep <= 0 || keep > mostKeep:
		return 0, Problemf("keep what runs for 90d at most", "on_stale keeps what runs for %s", keep)
	}
	return keep, nil
}

// checkFreshness checks what the schema cannot say of publish.freshness.
func (c *Config) checkFreshness() (problems Problems) {
	f := c.Publish.Freshness
	if f.Node == nil {
		return nil
	}
	if _, err := f.Times(); err != nil {
		problems = append(problems, err.(*Problem))
	}
	own, _, _ := strings.Cut(f.WorkflowURI(), "@")
	publishing, _, _ := strings.Cut(c.Publish.Identity.WorkflowURI(), "@")
	switch {
	case publishing == "":
		problems = append(problems, Problemf("add identity: {workflow: …} to publish", "publish.freshness is about what an identity publishes, and publish names none").at(f.Workflow.Node, f.Node))
	case own == publishing:
		problems = append(problems, Problemf("name a workflow file that does nothing else",
			"the workflow %q publishes: what a clock starts must not be able to", f.Workflow.Value).at(f.Workflow.Node, f.Node))
	}
	return problems
}

// at places a problem at the first node that is there.
func (p *Problem) at(nodes ...*pack.Node) *Problem {
	if n := pack.Place(nodes...); n != nil {
		return p.placed(n)
	}
	return p
}
