package gating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// Succession judges packs as successors of the published versions: by what they permit and prove,
// whatever commits lie between.
type Succession struct{ p *pipeline }

// Succession returns a Succession for the packs of a workspace. The baseline of the inputs is only
// used to read commits, and nothing is compared with it; it is nil outside a git repository. Every
// entry of the baseline file is in force.
func (r *Run) Succession(in Inputs) (*Succession, error) {
	alone := in
	alone.Base = nil
	if err := r.accept(context.Background(), &alone); err != nil {
		return nil, err
	}
	if in.accepted = alone.accepted; in.Base == nil {
		in.Base = &Baseline{w: in.Workspace, ConfigName: in.ConfigName()}
	}
	p, err := newPipeline(r, in)
	if err != nil {
		return nil, err
	}
	return &Succession{p}, p.identify(nil)
}

// BaselineFile returns the digest of the baseline file, "" where there is none.
func (s *Succession) BaselineFile() string {
	if file := s.p.accepted.file; file != nil {
		return string(pack.DigestOf(file.Document.Source))
	}
	return ""
}

// Successor is a pack as the version that follows a published one.
type Successor struct {
	Pack model.Pack
	// Class is that of the step, including its environments.
	Class diffing.Class
	// Fault is an error of packgate itself: its statements about the pack contradict each other.
	Fault error
	*judged
}

// Judge puts a pack through the gates as the version that follows the last published one, which is nil
// for the first version. The approvals are those of the change; nil if none can be given. The error is
// for a last version that cannot be read or compared with, and for a context that ended.
func (s *Succession) Judge(ctx context.Context, u *repo.Unit, last *Release, approvals *Approvals) (*Successor, error) {
	p, j := *s.p, &judged{subject: s.p.Subject(u)}
	p.Approvals = approvals
	outside := gates.Outside{}
	if others := p.twins[u.Name]; len(others) > 0 && u.Pack != nil {
		outside.Findings = append(outside.Findings, p.twice(u, others))
	}
	if last != nil {
		missed, err := p.follows(ctx, j, last)
		if err != nil {
			return nil, err
		}
		outside.Class, outside.NotChecked = j.class(), missed
		outside.Findings = append(outside.Findings, j.compared.Diff.Findings()...)
	}
	outside.Where = p.where(j)
	j.result = gates.Run(j.subject, p.policyOf(u.Name), outside)
	p.accepted.apply(j, p.policyOf(u.Name), false)
	step := Step(ctx, j.compared.Diff, j.subject)
	step.Before, step.Environments = j.before, j.environments
	out := &Successor{Pack: build.NewPack(j.subject, j.result, step, nil), judged: j}
	if last != nil {
		out.Fault = j.compared.Diff.Contradicted()
		out.Class = max(j.compared.Diff.Class, environments.Class(j.environments))
	}
	return out, ctx.Err()
}

// follows compares a pack with the published version before it, and with the files that were beside
// that. Files that are not known are reported as not checked.
func (p *pipeline) follows(ctx context.Context, j *judged, last *Release) (missed []finding.NotChecked, err error) {
	name := j.subject.Pack.PackMeta.PackID.Value + "@" + last.Version
	base, fault := last.read(name, p.Config.Limits)
	if fault != "" {
		return nil, cmp.Or(OfSide("the published version "+name, repo.Unreadable(base.Faults)), errors.New(fault))
	}
	j.compared = Comparison{File: j.subject.Unit.Name, published: last}
	if err := j.compared.between(base.Pack, j.subject.Pack, p.overrides, p.Environments); err != nil {
		return nil, fmt.Errorf("compare with the published version %s: %w", name, err)
	}
	if j.compared.Diff == nil {
		return nil, fmt.Errorf("compare with the published version %s: %w", name, diffing.ErrIncomparable)
	}
	reason, err := j.succeed(ctx, p.Base, last)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		missed = append(missed, version.NotSince(fmt.Sprintf("which files were beside version %s when it was published is not known: %s", last.Version, reason)))
	}
	return missed, p.inEnvironments(ctx, j)
}

// succeed sets a published version as the one that the pack is judged against. The reason is why the
// files beside it are not known; then only its pack counts.
func (j *judged) succeed(ctx context.Context, b *Baseline, r *Release) (reason string, err error) {
	before, reason := b.release(ctx, r)
	j.against(before, true)
	if reason != "" {
		j.before = nil
	}
	return reason, ctx.Err()
}

// Lost returns the errors that approvals could excuse and do not: what the pack proves less than the
// published version.
func (s *Successor) Lost() []finding.Finding {
	return slices.DeleteFunc(slices.Clone(s.result.Findings), func(f finding.Finding) bool {
		return f.Severity != finding.Error || f.Excused() || f.Excuse == finding.ByWaiver
	})
}

// Granted returns the approvals that excuse what is lost, each once.
func (s *Successor) Granted() (list []finding.Approval) {
	for _, f := range s.result.Findings {
		list = append(list, f.Approved...)
	}
	return unique(list)
}

// LostBy returns which of the stages since the published version lost what is lost now, by their
// indexes: all of them if it is not known, or if only several together did.
func (s *Successor) LostBy(ctx context.Context, b *Baseline, stages []Stage) (by map[int]bool, err error) {
	lost := make([]map[string]bool, len(stages))
	by = map[int]bool{}
	for i, stage := range stages {
		if lost[i], err = b.lostBy(ctx, stage, s.subject.Unit.Name); err != nil {
			return nil, err
		}
		by[i] = lost[i] == nil
	}
	for _, f := range s.Lost() {
		alone := false
		for i := range stages {
			if lost[i][f.Fingerprint()] {
				by[i], alone = true, true
			}
		}
		for i := range stages {
			by[i] = by[i] || !alone
		}
	}
	return by, nil
}

// lostBy returns the fingerprints of what a pack proves less after a stage; nil if the files of either
// side cannot all be read.
func (b *Baseline) lostBy(ctx context.Context, s Stage, name string) (map[string]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	before, lacks, err := b.whole(b.At(s.From).Commit, name)
	if err != nil || lacks != nil {
		return nil, err
	}
	after, lacks, err := b.whole(b.At(s.To).Commit, name)
	if err != nil || lacks != nil || before.Pack == nil || after.Pack == nil {
		return nil, err
	}
	return fingerprints(gates.Lost(after.Against(before))), nil
}
