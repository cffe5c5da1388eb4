package gating

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating/causes"
	"github.com/contextosai/packgate/gating/operations"
	"github.com/contextosai/packgate/playground"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// pipeline is how the packs of one workspace are gated: they are read, compared with the baseline, and
// put through the gates.
type pipeline struct {
	Inputs
	version   string // of the program
	compiles  bool   // an HTML report is made, in which packs can be compiled
	now       time.Time
	clock     func() time.Time // that compiles are timed with; nil if nobody asks
	lookup    *Lookup
	policy    gates.Policy
	overrides []diffing.Override  // of the class table
	ids       identities          // of the pack files of the repository
	twins     map[string][]string // other files with the same version and different content, by pack file
	named     sets                // of packs that golden cases name together; none where nothing is compared
}

func newPipeline(r *Run, in Inputs) (*pipeline, error) {
	_, _, compiles := playground.Program()
	p := &pipeline{Inputs: in, version: r.Version, compiles: compiles && !r.NoPage, now: r.Now(), lookup: r.Lookup} // now once, for the day may end
	if r.Latencies != nil {
		p.clock = r.Now
	}
	var err error
	if p.policy, err = in.policy(p.now); err != nil {
		return nil, err
	}
	p.overrides, err = diffing.Overrides(in.Config)
	return p, err
}

// identify notes the identities of the repository's pack files, and which packs belong together where packs are
// compared with a baseline. Identities that are known are not read.
func (p *pipeline) identify(known identities) (err error) {
	if p.ids, err = p.identities(known); err != nil {
		return err
	}
	p.twins = p.Workspace.twins(p.ids)
	p.accepted.sharing = p.ids.sharing()
	switch {
	case p.joint != nil:
		p.named = *p.joint
	case p.Base != nil:
		p.named = *p.sets(p.ids)
	}
	return nil
}

// ErrStopped marks the error of work that ended because its context did.
var ErrStopped = errors.New("stopped")

// each calls do for packs, several at a time, and use for the results in the order of the packs. It
// returns an error that wraps ErrStopped if the context ended before the last one.
func (p *pipeline) each(ctx context.Context, names []string, do func(name string) outcome, use func(i int, o outcome)) error {
	used := 0
	inOrder(ctx, len(names), func(i int) outcome {
		if err := ctx.Err(); err != nil {
			return outcome{err: err}
		}
		return do(names[i])
	}, func(i int, o outcome) bool {
		if o.err != nil && ctx.Err() != nil && errors.Is(o.err, ctx.Err()) {
			return false
		}
		use(i, o)
		used++
		return true
	})
	if used == len(names) {
		return nil
	}
	return fmt.Errorf("%w before %s, with %d of %d packs not checked: %w",
		ErrStopped, p.Files.Show(names[used]), len(names)-used, len(names), context.Cause(ctx))
}

// outcome is the result of one pack.
type outcome struct {
	pack  model.Pack
	moved string // the file of the base that it was compared with, if that has another name
	// judged is what was found, if no more than that is wanted.
	judged *judged
	// searched is set if the result depends on how much of the history the clone has.
	searched bool
	// latencies are how long compiles took, none if nobody asked or nothing was compiled.
	latencies []time.Duration
	fault     error // of packgate itself: what is said of the pack contradicts itself
	err       error
}

// gate returns everything that the report has of one pack.
func (p *pipeline) gate(ctx context.Context, name string) outcome {
	j, err := p.judge(ctx, name)
	if err != nil {
		return outcome{err: err}
	}
	step := Step(ctx, j.compared.Diff, j.subject)
	step.Fixed, step.Before, step.Environments = j.fixed, j.before, j.environments
	j.follow(ctx, p.policyOf(name), step.Compiles)
	step.Playground = p.compiles
	first := p.Base != nil && (j.compared.File == "" || j.compared.absent) && j.subject.Pack != nil
	step.First = first
	if first && step.Surface != nil {
		step.Surface.Describe(j.subject.Proof())
	}
	o := outcome{pack: build.NewPack(j.subject, j.result, step, p.since.Triggers[name]), fault: step.Diff.Contradicted()}
	switch {
	case first:
		o.pack.Class = model.ClassInitial
	case j.compared.File != name && j.compared.File != "":
		if o.moved = j.compared.File; !slices.Contains(p.Packs, o.moved) { // which is otherwise there twice
			o.pack.MovedFrom = p.Files.Show(o.moved)
		}
	}
	o.searched = j.compared.searched
	if p.clock != nil {
		o.latencies = operations.Latencies(ctx, j.subject, p.clock)
	}
	return o
}

// judged is a pack with what the gates and the comparison with its baseline found.
type judged struct {
	subject  *gate.Subject
	result   gates.Result
	outside  gates.Outside
	compared Comparison
	fixed    []finding.Finding // of the baseline, which the pack no longer has
	before   *gate.Subject     // in which they were found; nil where nothing is known of it
	was      []finding.Finding // what the gates find in before, where it differs from the pack
	used     map[string]int    // how many findings each entry of the baseline file excuses, by its seal
	copied   bool              // the file that it is compared with lives on as another file
	stoodIn  bool              // before is an earlier version, because the baseline's files cannot all be read
	// environments are those that overlays or catalogs change.
	environments []environments.Change
}

// notChecked notes why the version gate could not check everything.
func (j *judged) notChecked(reason string) {
	j.result.NotChecked = append(j.result.NotChecked, finding.NotChecked{Gate: version.Gate.ID, Reason: reason})
}

// class returns the class of the change, including its environments; "" for a pack that is compared
// with nothing or that the baseline does not have.
func (j *judged) class() string {
	if j.compared.Diff == nil || j.compared.absent {
		return ""
	}
	return max(j.compared.Diff.Class, environments.Class(j.environments)).String()
}

// follow gives findings their causes: other findings, or changes.
func (j *judged) follow(ctx context.Context, policy gates.Policy, compiled []compiles.Case) {
	step := causes.Step{Subject: j.subject, Policy: policy, Diff: j.compared.Diff, Compiles: compiled, Environments: j.environments, Was: j.was, Outside: j.outside}
	j.result.Findings = causes.Find(ctx, step, j.result.Findings)
}

// inEnvironments compares the pack as it is in its environments.
func (p *pipeline) inEnvironments(ctx context.Context, j *judged) (err error) {
	if before := j.subject.Before; before != nil {
		j.environments, err = environments.Compare(ctx, before, j.subject, j.compared.Diff, p.overrides)
	}
	return err
}

// judge reads one pack, compares it and puts it through the gates. It looks at the
// context between these.
func (p *pipeline) judge(ctx context.Context, name string) (*judged, error) {
	unit, err := p.Unit(name)
	if err != nil {
		return nil, err
	}
	j := &judged{}
	if j.compared, err = p.compare(ctx, unit); err != nil {
		return nil, err
	}
	j.copied = p.copied(name, j.compared.from)
	if err := p.together(ctx, unit, j); err != nil {
		return nil, err
	}
	outside := p.beside(ctx, unit, j)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.subject = p.Subject(unit)
	unread, err := p.Base.before(ctx, j)
	if err == nil {
		err = p.inEnvironments(ctx, j)
	}
	if err != nil {
		return nil, err
	}
	lost, missed, err := p.released(ctx, j)
	if err != nil {
		return nil, err
	}
	outside.Class, outside.Where = j.class(), p.where(j)
	outside.Findings, outside.NotChecked = slices.Concat(outside.Findings, unread, lost), append(outside.NotChecked, missed...)
	policy := p.policyOf(name)
	j.outside = outside
	j.result = gates.Run(j.subject, policy, outside)
	if j.compared.Reason != "" {
		j.notChecked(j.compared.Reason)
	}
	if j.before == nil && j.compared.File != "" {
		j.notChecked("which findings are new is not known, for the base could not be read")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.Base != nil {
		j.since(p.Base, policy, outside.Where)
	}
	p.accepted.apply(j, policy, p.Base != nil)
	return j, nil
}

// where returns in which environments a pack is pinned, in the workspace or in the baseline, under its
// pack_id or the one that it had there. If the pins of the baseline cannot be read it is not known.
func (p *pipeline) where(j *judged) gates.Where {
	if p.since.pinsUnread {
		return gates.Where{}
	}
	var ids []string
	for _, s := range []*gate.Subject{j.subject, j.subject.Before} {
		if s != nil && s.Pack != nil {
			ids = append(ids, s.Pack.PackMeta.PackID.Value)
		}
	}
	return gates.WhereOf(p.Environments, p.since.Environments, ids...)
}

// policyOf returns the policy for the findings of a pack, with the approvals that count for it.
func (p *pipeline) policyOf(name string) gates.Policy {
	return p.policy.Approved(gates.Approvals{Given: p.Approvals.counted([]string{name}), Unknown: p.Approvals.unknown()})
}

// beside returns what is found about a pack outside the gates: by the comparison, in other pack files,
// and in the registry.
func (p *pipeline) beside(ctx context.Context, unit *repo.Unit, j *judged) (out gates.Outside) {
	out.Findings = j.compared.findings()
	if j.compared.Diff != nil {
		out.Findings = append(out.Findings, j.compared.Diff.Findings()...)
	}
	if others := p.twins[unit.Name]; len(others) > 0 && unit.Pack != nil {
		out.Findings = append(out.Findings, p.twice(unit, others))
	}
	if p.Base != nil && (j.compared.Diff != nil || p.lookup != nil) {
		var taken []finding.Finding
		taken, out.NotChecked = p.lookup.taken(ctx, unit)
		out.Findings = append(out.Findings, taken...)
	}
	return out
}

// Lookup is how a registry is asked about packs.
type Lookup struct {
	// Ask returns a finding if the version of a pack without faults is published with different
	// content (VER004). What could not be asked is returned as not checked.
	Ask func(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked)
	// InUse returns why a pack_id is taken to be in use: the version that is published and not
	// deprecated, or that the registry could not be asked; "" if it is not in use.
	InUse func(ctx context.Context, packID string) string
	// Last returns the highest published version of a pack_id that is not above a version, or of all
	// if that is ""; nil if there is none. The error is why that is not known or cannot be trusted.
	Last func(ctx context.Context, packID, version string) (*Release, error)
	// Published returns what is known of a version, and Running which version of a pack an environment
	// runs. If that cannot be asked, the answer's Trouble is set; the error is that of a context that
	// ended.
	Published func(ctx context.Context, packID, version string) (*PublishedVersion, error)
	Running   func(ctx context.Context, packID, environment string) (*RunningVersion, error)
	// Silent is why no registry is asked, if Ask is nil.
	Silent string
}

// named reports whether a pack can be asked for by its id and version.
func named(u *repo.Unit) bool {
	return u.Pack != nil && len(u.Faults) == 0 && u.Pack.PackMeta.PackID.OK && u.Pack.PackMeta.PackVersion.OK
}

// taken asks whether the version of a pack is published already. The nil lookup has no registry.
func (l *Lookup) taken(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked) {
	switch {
	case !named(u):
		return nil, nil // the gates say what is wrong with it
	case l == nil:
		return nil, []finding.NotChecked{version.NoRegistry()}
	case l.Ask == nil:
		return nil, []finding.NotChecked{version.Unregistered(l.Silent)}
	}
	return l.Ask(ctx, u)
}

// identity returns what the reports of versions depend on that are not looked up, for the cache.
func (l *Lookup) identity() string {
	if l == nil {
		return ""
	}
	return fields(l.Silent)
}

// twice returns the finding that other files hold the same version of a pack.
func (p *pipeline) twice(u *repo.Unit, others []string) finding.Finding {
	shown := make([]string, len(others))
	for i, name := range others {
		shown[i] = p.Files.Show(name)
	}
	at := finding.Location{File: u.Document.File}
	if n := u.Pack.PackMeta.PackVersion.Node; n != nil {
		at = n.Location()
	}
	return version.Twice(at, u.Pack.Ref(), shown)
}
