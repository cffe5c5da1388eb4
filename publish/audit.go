package publish

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Severity says how much a finding of an audit matters.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// AuditFinding is something in the registry that should not be as it is.
type AuditFinding struct {
	Pack     string // pack_id
	Version  string // "" where it is about no one version
	Digest   string // of the manifest, or of what else it is about
	Kind     ReasonKind
	Severity Severity
	Message  string
	Hint     string
}

// packsAtOnce bounds how many packs are audited at the same time.
const packsAtOnce = 4

// Audited is what an audit found.
type Audited struct {
	Packs    []string // that were asked for, or that the registry lists
	Versions int      // that were looked at
	Findings []AuditFinding
	// Unseen are the errors of packs that could not be looked at, by pack_id.
	Unseen map[string]error
}

// Audit looks at every version and every pin of the packs, of all packs of the
// registry where none are given, and returns what it found in the order of packs
// and versions. A pack that cannot be looked at keeps it from none of the others; the
// error is that of the registry's list.
func (c *Checker) Audit(ctx context.Context, packIDs []string) (*Audited, error) {
	if len(packIDs) == 0 {
		var err error
		if packIDs, err = c.Registry.Packs(ctx); err != nil {
			return nil, err
		}
	}
	out := &Audited{Packs: slices.Compact(slices.Sorted(slices.Values(packIDs))), Unseen: map[string]error{}}
	audits := make([]packAudit, len(out.Packs))
	var group errgroup.Group
	group.SetLimit(packsAtOnce)
	for i, packID := range out.Packs {
		group.Go(func() error {
			audits[i] = c.auditPack(ctx, packID)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, a := range audits {
		out.Versions += a.versions
		out.Findings = append(out.Findings, a.findings...)
		if a.err != nil {
			out.Unseen[out.Packs[i]] = a.err
		}
	}
	return out, nil
}

// packAudit is what was found of one pack.
type packAudit struct {
	versions int
	findings []AuditFinding
	err      error
}

func (c *Checker) auditPack(ctx context.Context, packID string) (out packAudit) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return packAudit{err: err}
	}
	s, err := c.survey(ctx, repo, packID, request{})
	if err != nil {
		return packAudit{err: err}
	}
	for _, version := range s.versions() {
		out.versions++
		for _, digest := range s.digestsOf(version) {
			out.findings = append(out.findings, s.auditVersion(version, digest)...)
		}
	}
	for _, environment := range s.environments() {
		out.findings = append(out.findings, s.auditPin(environment)...)
	}
	return out
}

// auditVersion turns the reasons of a verdict into findings. That a version is
// deprecated or revoked is none, and what is wrong with the tags of a revoked
// version harms nobody.
func (s *survey) auditVersion(version, digest string) []AuditFinding {
	v := s.judge(version, s.holdings[digest])
	var out []AuditFinding
	for _, r := range v.Reasons {
		if r.Kind == ReasonState || v.Status == Revoked && !r.Refuses {
			continue
		}
		f := AuditFinding{
			Pack: s.pack, Version: version, Digest: digest, Kind: r.Kind, Severity: SeverityWarning, Message: r.Message, Hint: r.Hint,
		}
		if r.Refuses && v.Status != Revoked {
			f.Severity = SeverityError
		}
		out = append(out, f)
	}
	return out
}

// auditPin looks at what an environment runs, and at whether a signed record put it
// there.
func (s *survey) auditPin(environment string) []AuditFinding {
	digest := s.tags["env-"+environment]
	h := s.holdings[digest]
	var out []AuditFinding
	find := func(version string, kind ReasonKind, severity Severity, message, hint string) {
		out = append(out, AuditFinding{Pack: s.pack, Version: version, Digest: digest, Kind: kind, Severity: severity, Message: message, Hint: hint})
	}
	if h.artifact == nil {
		find("", h.problem.Kind, SeverityError, fmt.Sprintf("the environment %q names something else than a version: %s", environment, h.problem.Message), h.problem.Hint)
		return out
	}
	version := h.artifact.Version
	switch v := s.judge(version, h); v.Status {
	case Revoked, Untrusted:
		find(version, ReasonPinState, SeverityError, fmt.Sprintf("the environment %q runs %q, which is %s", environment, v.Name(), v.Status), "pin the environment to another version")
	case Deprecated:
		find(version, ReasonPinState, SeverityWarning, fmt.Sprintf("the environment %q runs %q, which is deprecated", environment, v.Name()), "pin the environment to another version")
	}
	for _, r := range s.judgePin(environment, h) {
		find(version, r.Kind, SeverityError, r.Message, r.Hint)
	}
	return out
}
