package statement

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/pack"
)

// Verifier is the identifier of packgate as a verifier, and the prefix of the
// address of the rules that it verified by.
const Verifier = "https://github.com/contextosai/packgate"

// The members of the predicate that are always the same (SLSA Verification
// Summary v1). SLSA's own build levels are not packgate's subject, so that the
// list of levels is empty.
const (
	rulesAddress = Verifier + "/rules/"
	passed       = "PASSED"
	slsaVersion  = "1.1"
)

// ClassInitial is the class of the first version of a pack.
const ClassInitial = "initial"

var classes = []string{ClassInitial, "major", "minor", "patch"}

// Summary says that a version passed the gates. Its predicate is a SLSA
// Verification Summary v1; what SLSA has no member for is under "contextos".
type Summary struct {
	Version
	Resource    string     // registry/pack_id (resourceUri)
	Tool        string     // packgate's version
	Rules       string     // version of the rule set
	Config      string     // digest of the config in force, "" without one
	Class       string     // patch, minor, major, or initial
	Baseline    *Baseline  // what the version was compared with; nil for the first of a pack
	Approvals   []Approval // sorted by role and login; empty where no review is demanded
	Checks      []Check    // what the gates came to, sorted by gate; nil where the statement does not say
	Notes       *Notes     // what it brings; nil where the statement does not say
	Accepted    *Accepted  // what the baseline file excuses; nil where the statement does not say
	PullRequest string     // address of the merged pull request, "" where there is none
	Report      string     // digest of the JSON gate report
	Source      Source
	Time        time.Time // UTC, whole seconds
}

// Baseline is the version that a version was compared with.
type Baseline struct {
	Pack     string // pack_id@version
	Manifest string // digest of its OCI manifest
	Content  string // digest of its bytes
}

// Approval is one approving review that counted.
type Approval struct {
	Role  string `json:"role"`
	Login string `json:"login"`
}

// Source says where the pack file was read; members that are not known are
// empty.
type Source struct {
	Repository string `json:"repository,omitempty"` // address
	Commit     string `json:"commit,omitempty"`
	Path       string `json:"path,omitempty"`
}

func (s Summary) check() error {
	c := &checker{}
	c.version("", s.Version)
	s.passed(c)
	if s.Baseline != nil {
		c.version("baseline's ", Version(*s.Baseline))
	}
	return c.err
}

// passed checks what is said alike of a version and of a bundle.
func (s Summary) passed(c *checker) {
	c.text("the resource", s.Resource)
	id, _, _ := strings.Cut(s.Pack, "@")
	c.that(strings.HasSuffix(s.Resource, "/"+id), "the resource is %q, wanted one that ends in %q", s.Resource, "/"+id)
	c.text("the tool's version", s.Tool)
	c.text("the rule set's version", s.Rules)
	if s.Config != "" {
		c.digest("the config's digest", s.Config)
	}
	c.that(slices.Contains(classes, s.Class), "the class is %q, wanted one of %q", s.Class, classes)
	c.that((s.Baseline == nil) == (s.Class == ClassInitial),
		"the class is %q, wanted %q where there is no baseline and only there", s.Class, ClassInitial)
	c.approvals(s.Approvals)
	c.checks(s.Checks)
	c.notes(s.Notes)
	c.accepted(s.Accepted)
	c.address("the pull request", s.PullRequest)
	c.digest("the report's digest", s.Report)
	c.address("the source repository", s.Source.Repository)
	c.that(s.Source.Commit == "" || commitForm().MatchString(s.Source.Commit),
		"the source commit is %q, wanted 40 or 64 hex digits in lower case", s.Source.Commit)
	c.optional("the source path", s.Source.Path)
	c.time("the time", s.Time)
}

func (c *checker) approvals(list []Approval) {
	for _, a := range list {
		c.text("the role of an approval", a.Role)
		c.text("the login of an approval", a.Login)
	}
}

// approvals reads the approvals of a predicate, in order.
func (r *reader) approvals(parent *pack.Node, required bool) (list []Approval) {
	if r.member(parent, "approvals", pack.Array, required) == nil {
		return nil
	}
	for _, a := range r.array(parent, "approvals") {
		list = append(list, Approval{Role: r.text(a, "role"), Login: r.text(a, "login")})
	}
	if len(list) > 0 {
		list = sorted(list)
	}
	return list
}

// sorted returns the approvals in order, each once, never nil.
func sorted(approvals []Approval) []Approval {
	out := append([]Approval{}, approvals...)
	slices.SortFunc(out, func(a, b Approval) int {
		return cmp.Or(strings.Compare(a.Role, b.Role), strings.Compare(a.Login, b.Login))
	})
	return slices.Compact(out)
}

// Statement returns the in-toto Statement of the summary in its canonical bytes
// (SLSA Verification Summary v1). It fails where a member is missing or
// malformed.
func (s Summary) Statement() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return encode(s.Version, TypeSummary, s.predicate())
}

func (s Summary) predicate() object {
	ours := object{"class": s.Class, "approvals": sorted(s.Approvals)}.with("pullRequest", s.PullRequest)
	if b := s.Baseline; b != nil {
		ours["baseline"] = named(Version(*b))
	}
	if s.Checks != nil {
		ours["checks"] = sortedChecks(s.Checks)
	}
	if s.Notes != nil {
		ours["notes"] = s.Notes.object()
	}
	if s.Accepted != nil {
		ours["accepted"] = s.Accepted.object()
	}
	if s.Source != (Source{}) {
		ours["source"] = s.Source
	}
	return object{
		"verifier":           object{"id": Verifier, "version": object{"packgate": s.Tool, "rules": s.Rules}},
		"timeVerified":       s.Time.Format(timeForm),
		"resourceUri":        s.Resource,
		"policy":             object{"uri": rulesAddress + s.Rules}.withDigest("digest", s.Config),
		"inputAttestations":  []object{object{}.withDigest("digest", s.Report)},
		"verificationResult": passed,
		"verifiedLevels":     []string{},
		"slsaVersion":        slsaVersion,
		"contextos":          ours,
	}
}

// Summary reads the predicate of a statement of TypeSummary. It fails for one of
// another type, for a result other than PASSED, for one of another verifier, and
// where a member is missing or malformed.
func (s *Statement) Summary() (*Summary, error) {
	p, r := s.predicate(TypeSummary)
	return checked(r.summary(s, p), r.err)
}

// summary reads what is said alike of a version and of a bundle.
func (r *reader) summary(s *Statement, p *pack.Node) *Summary {
	verifier, policy, ours := r.object(p, "verifier"), r.object(p, "policy"), r.object(p, "contextos")
	version, inputs := r.object(verifier, "version"), r.array(p, "inputAttestations")
	r.constant(verifier, "id", Verifier)
	r.constant(p, "verificationResult", passed)
	r.member(p, "verifiedLevels", pack.Array, true)
	r.text(p, "slsaVersion")
	out := &Summary{
		Version:     s.Version(),
		Resource:    r.text(p, "resourceUri"),
		Tool:        r.text(version, "packgate"),
		Rules:       r.text(version, "rules"),
		Config:      r.optionalDigest(policy, "digest"),
		Class:       r.text(ours, "class"),
		PullRequest: r.optional(ours, "pullRequest"),
		Time:        r.time(p, "timeVerified"),
	}
	r.constant(policy, "uri", rulesAddress+out.Rules)
	if r.err == nil && len(inputs) != 1 {
		r.fail(p, "inputAttestations", "has %s, wanted 1: the gate report", pack.Counted(len(inputs), "item"))
	}
	if r.err == nil {
		out.Report = r.digest(inputs[0], "digest")
	}
	r.additions(ours, out)
	return out
}

// additions reads the members that SLSA does not have.
func (r *reader) additions(ours *pack.Node, out *Summary) {
	if b := r.optionalObject(ours, "baseline"); b != nil {
		out.Baseline = new(Baseline(r.named(b)))
	}
	out.Approvals = r.approvals(ours, true)
	out.Checks = r.checks(ours)
	out.Notes = r.notes(ours)
	out.Accepted = r.accepted(ours)
	if src := r.optionalObject(ours, "source"); src != nil {
		out.Source = Source{Repository: r.optional(src, "repository"), Commit: r.optional(src, "commit"), Path: r.optional(src, "path")}
	}
}

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
