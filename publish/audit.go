package publish

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Entry is one version of a pack in its log. A version of which two digests are
// there has two entries.
type Entry struct {
	*Verdict
	Class        string   // of its statement, "" where none is trusted
	Tagged       bool     // whether the version tag names this digest
	Environments []string // those whose pin is here now, sorted
	Conflicts    []string // other digests of the version that are signed as well
}

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
	Severity Severity
	Reason   // of which Digest is that of the manifest, or of what else it is about
}

// packsAtOnce bounds how many packs are audited at the same time.
const packsAtOnce = 4

// Audited is what an audit found.
type Audited struct {
	Packs    []string // that were asked for, or that the registry lists
	Versions int      // that were looked at
	Verdicts []*Verdict
	Findings []AuditFinding
	Stated   map[string]bool          // the packs that the publisher's newest status names, by pack_id
	Rollback map[string]RollbackTimes // of the packs that could be looked at, by pack_id
	Unseen   map[string]error         // the errors of packs that could not be looked at, by pack_id
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
	out := &Audited{Packs: slices.Compact(slices.Sorted(slices.Values(packIDs))), Rollback: map[string]RollbackTimes{}, Unseen: map[string]error{}}
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
	findings, stated, err := c.auditStatus(ctx, out.Packs)
	if err != nil {
		return nil, err
	}
	for i, a := range audits {
		out.Versions += a.versions
		out.Verdicts = append(out.Verdicts, a.verdicts...)
		out.Findings = append(out.Findings, a.findings...)
		if a.err != nil {
			out.Unseen[out.Packs[i]] = a.err
			continue
		}
		if slices.ContainsFunc(findings, func(f AuditFinding) bool {
			return f.Severity == SeverityError && (f.Pack == "" || f.Pack == out.Packs[i])
		}) {
			a.rollback = RollbackTimes{Unknown: unsure}
		}
		out.Rollback[out.Packs[i]] = a.rollback
	}
	out.Findings, out.Stated = append(out.Findings, findings...), stated
	return out, nil
}

// packAudit is what was found of one pack.
type packAudit struct {
	versions int
	verdicts []*Verdict
	findings []AuditFinding
	rollback RollbackTimes
	err      error
}

func (c *Checker) auditPack(ctx context.Context, packID string) (out packAudit) {
	s, err := c.survey(ctx, packID, request{})
	if err != nil {
		return packAudit{err: err}
	}
	out.versions = len(versionsOf(maps.Keys(s.tags), true))
	out.verdicts = s.verdicts()
	for _, v := range out.verdicts {
		if v.Status != Revoked {
			missing, err := c.baselines(ctx, s.holdings[v.Manifest])
			if err != nil {
				return packAudit{err: err}
			}
			v.add(missing...)
		}
		out.findings = append(out.findings, auditVersion(v)...)
	}
	environments := s.environments()
	for _, environment := range slices.Sorted(maps.Keys(environments)) {
		out.findings = append(out.findings, s.auditPin(environment, environments[environment])...)
	}
	found, err := c.auditBuilds(ctx, s)
	if err != nil {
		return packAudit{err: err}
	}
	out.findings = append(out.findings, found...)
	out.rollback = s.rollbackTimes(out.findings)
	return out
}

// auditVersion turns the reasons of a verdict into findings. That a version is
// deprecated or revoked is none, and what is wrong with the tags of a revoked
// version, or is missing beside it, harms nobody.
func auditVersion(v *Verdict) (out []AuditFinding) {
	for _, r := range v.Reasons {
		if r.Kind == ReasonState || v.Status == Revoked && !r.Refuses && !r.ofBundle() {
			continue
		}
		f := AuditFinding{Pack: v.Pack, Version: v.Version, Severity: SeverityWarning, Reason: r}
		f.Digest = v.Manifest
		if r.Fails || r.Refuses && v.Status != Revoked {
			f.Severity = SeverityError
		}
		out = append(out, f)
	}
	return out
}

// ofBundle tells whether a reason is about a bundle that counts for nothing.
func (r Reason) ofBundle() bool {
	switch r.Kind {
	case ReasonSignature, ReasonSubject, ReasonOtherSigner, ReasonOtherType:
		return true
	}
	return false
}

// auditPin looks at what an environment runs, and at whether a signed record put it
// there.
func (s *survey) auditPin(environment, digest string) (out []AuditFinding) {
	h, version := s.holdings[digest], ""
	find := func(severity Severity, r Reason) { out = append(out, AuditFinding{s.pack, version, severity, r}) }
	if h.artifact == nil {
		find(SeverityError, h.problem.Kind.refuses(digest, h.problem.Hint,
			"the environment %q does not name a version: %s", environment, h.problem.Message))
		return out
	}
	version = h.artifact.Version
	reasons := s.judgePin(environment, h)
	if slices.ContainsFunc(reasons, func(r Reason) bool { return r.Kind == ReasonStopped }) {
		return nil // it runs nothing, as a signed record says
	}
	const hint = "pin the environment to another version"
	switch v := s.judge(version, h); v.Status {
	case Revoked, Untrusted:
		find(SeverityError, ReasonPinState.refuses(digest, hint, "the environment %q runs %q, which is %s", environment, v.Name(), v.Status))
	case Deprecated:
		find(SeverityWarning, ReasonPinState.explains(digest, hint, "the environment %q runs %q, which is deprecated", environment, v.Name()))
	}
	for _, r := range reasons {
		find(SeverityError, r)
	}
	return out
}
