package gating

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating/cache"
	"github.com/contextosai/packgate/internal/release"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// Options are the settings of a run.
type Options struct {
	Command string // that the report names
	Version string // of the program
	Now     func() time.Time
	// FailOn is the level of findings that fail the run; "" for that of the config.
	FailOn string
	// Explain returns an error in the report's form, and the exit code that it means.
	Explain func(error) ([]model.Problem, int)
}

// Run is one run of the gates over one or more repositories, on its way to a
// report.
type Run struct {
	Options
	Report *model.Report
	Broken int // the exit code of what went wrong, 0 if nothing did
	// Lookup asks the registry; nil if none is configured.
	Lookup *Lookup
	// Cache keeps the results of packs for later runs; nil for commands that always compute them.
	Cache *cache.Cache
	// Progress is called with how many of how many packs are gated: with none at the start, and with
	// all at the end. It may be nil.
	Progress func(done, of int)
	// NoPage says that no HTML report is made of the results, which alone has playgrounds.
	NoPage bool
	// Latencies receives how long compiles took, by the keys of packs; nil if nobody asks.
	Latencies   model.Latencies
	seen        map[string]bool // pack files that were gated, wherever they were named from
	failOn      string          // what fails of the packs that are gated: see level
	playgrounds int             // packs that a page can compile
	rerouted    bool            // the change is one of how workflows run packgate
}

// NewRun returns a run with an empty report.
func NewRun(o Options) *Run {
	return &Run{
		Options: o, seen: map[string]bool{},
		Report: &model.Report{
			Version: model.Version,
			Tool:    model.Tool{Name: "packgate", Version: o.Version, RulesVersion: release.RulesVersion},
			Command: o.Command, Errors: []model.Problem{}, Notices: []string{},
		},
	}
}

// Fail notes an error that kept a part of the work from being done. The run goes on with the rest, but
// can no longer pass.
func (r *Run) Fail(err error) {
	problems, code := r.Explain(err)
	r.Report.Errors = append(r.Report.Errors, problems...)
	r.Broken = max(r.Broken, code)
}

// Notice adds a sentence to the report that does not affect the verdict.
func (r *Run) Notice(format string, args ...any) {
	r.Report.Notices = append(r.Report.Notices, fmt.Sprintf(format, args...))
}

// Inputs are what the packs of one workspace are gated with.
type Inputs struct {
	*Workspace
	Base *Baseline // nil for none
	// Strict overrides the config if it is not nil.
	Strict *bool
	// Shard is the part of the packs that is gated.
	Shard Shard
	// Approvals are those of the change; nil if it is not a pull request.
	Approvals *Approvals
	// own is the change's own config if that of another commit is in force; nil otherwise, and if it
	// cannot be used.
	own *repo.Config
	// accepted is what the baseline file excuses.
	accepted acceptedFindings
	// since is what has changed since the baseline.
	since Progress
	// read are the identities of pack files that were read already, to share them out or to find what a change concerns.
	read identities
	// joint are the sets of packs that golden cases name together; nil where they are not known yet.
	joint *sets
	// grounds are the folders of the shards.
	grounds grounds
}

// All gates all packs that were asked for, or those of a shard, and reports what is wrong with the
// workspace as a whole. The error is for what kept that from being done; what is wrong with a single
// pack is noted in the report.
func (r *Run) All(ctx context.Context, in Inputs) (err error) {
	from := r.Report.Packs.Len()
	noting := *in.Workspace
	noting.Files, in.Workspace = in.Files.Noting(), &noting
	r.level(in)
	looser, err := r.config(&in)
	if err != nil {
		return err
	}
	if err := r.accept(ctx, &in); err != nil {
		return err
	}
	if in.since, err = in.Base.Progress(ctx); err != nil {
		return err
	}
	own, err := r.share(&in)
	if err != nil {
		return err
	}
	if err := r.gate(ctx, in, own); err != nil {
		return err
	}
	if err := r.together(ctx, in, nil, looser); err != nil {
		return err
	}
	r.unused(in, from)
	r.reviews(in, from, looser)
	return r.strayWaivers(in)
}

// together reports what is not about a single pack of the head, once all were gated. Looser are the
// members of the config that became looser; the change is nil if it is not known.
func (r *Run) together(ctx context.Context, in Inputs, c *Change, looser []repo.ConfigChange) error {
	err := r.gone(ctx, in)
	if err == nil {
		err = r.promotions(ctx, in)
	}
	if err == nil {
		err = r.repository(ctx, in, c, looser)
	}
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w after all packs were checked, before the repository was looked at as a whole: %w", ErrStopped, context.Cause(ctx))
}

// gate gates packs of the workspace, and adds them to the report.
func (r *Run) gate(ctx context.Context, in Inputs, packs []string) error {
	p, err := newPipeline(r, in)
	if err != nil {
		return err
	}
	if err = p.identify(in.known()); err != nil {
		return err
	}
	if len(in.Recovered) > 0 {
		r.Notice("%s", RecoveredWords(in.Recovered))
	}
	for _, err := range []error{in.unread, in.unseen} {
		if err != nil {
			r.Fail(err)
		}
	}
	names := r.ungated(in.Workspace, packs)
	r.progress(0, len(names))
	defer r.progress(len(names), len(names))
	kept := p.kept(r.Cache)
	return p.each(ctx, names, func(name string) outcome { return kept.gate(ctx, p, name) }, func(i int, o outcome) {
		r.progress(i+1, len(names))
		r.note(in.Workspace, names[i], o)
	})
}

func (r *Run) progress(done, of int) {
	if r.Progress != nil {
		r.Progress(done, of)
	}
}

// note adds the result of one pack to the report.
func (r *Run) note(w *Workspace, name string, o outcome) {
	if o.err != nil {
		r.Fail(o.err)
		return
	}
	if o.moved != "" {
		r.Notice("%s is compared with %s of the base, which has the same pack_id", w.Files.Show(name), w.Files.Show(o.moved))
	}
	r.Add(o.pack)
	if len(o.latencies) > 0 {
		r.Latencies[o.pack.Key()] = o.latencies
	}
	if o.fault != nil {
		r.Fail(o.fault)
	}
}

// Add adds a pack to the report, with its verdict.
func (r *Run) Add(p model.Pack) model.Result {
	p.Result = r.verdict(&p)
	r.playgrounds = p.KeepPlayground(r.playgrounds)
	r.Report.Packs.Add(p)
	return p.Result
}

// refs returns the packs of the workspace as pack_id@version; "" for one that could not
// be read.
func (r *Run) refs(in Inputs) (refs []string, err error) {
	if in.Shard.Whole() {
		for _, b := range r.Report.Packs.Briefs() {
			if b.Kind == "" {
				refs = append(refs, b.Pack)
			}
		}
		return refs, nil
	}
	for _, name := range in.Packs {
		unit, err := in.Unit(name)
		switch {
		case errors.Is(err, repo.ErrUse) || err == nil && unit.Pack == nil:
			refs = append(refs, "")
		case err != nil:
			return nil, err
		default:
			refs = append(refs, unit.Pack.Ref())
		}
	}
	return refs, nil
}

// ungated returns the packs that were not gated before in this run, and notes that they are now: two of
// the named paths may lead to the same pack.
func (r *Run) ungated(w *Workspace, packs []string) []string {
	dir, err := filepath.EvalSymlinks(w.Dir)
	if err != nil {
		dir = w.Dir // gating it twice is better than not at all
	}
	return slices.DeleteFunc(slices.Clone(packs), func(name string) bool {
		file := filepath.Join(dir, filepath.FromSlash(name))
		before := r.seen[file]
		r.seen[file] = true
		return before
	})
}

// The exit codes. A pipeline can tell a wrong pack from a failure of packgate.
const (
	ExitPass     = 0 // nothing fails
	ExitFindings = 1 // there are findings that fail
	ExitUse      = 2 // wrong use or configuration
	ExitFailure  = 3 // packgate or its environment failed: nothing is decided
	ExitReject   = 4 // the class of a change is reject
)

// verdict judges one pack. A version that is published with different content is rejected like
// a change of that class (decisions D1).
func (r *Run) verdict(p *model.Pack) model.Result {
	published := func(f model.Finding) bool { return f.Rule == version.VER004.ID }
	switch {
	case p.Diff != nil && p.Diff.Class == diffing.Reject.String(), slices.ContainsFunc(p.Findings, published):
		return model.Rejected
	case r.failing(p):
		return model.Failed
	}
	return model.Passed
}

// Settle sets the report's verdict on all packs and its exit code. What could not be decided outweighs
// what was decided, and a reject outweighs a fail.
func (r *Run) Settle() {
	p := r.Report
	p.Summary = model.Summarise(p.Packs)
	p.Result, p.ExitCode = p.Outcome(), ExitPass
	switch {
	case r.FailOn == FailOnNever:
	case p.Result == model.Rejected:
		p.ExitCode = ExitReject
	case p.Result == model.Failed:
		p.ExitCode = ExitFindings
	}
	if p.Held() { // which counts whatever the level of findings is
		p.ExitCode = max(p.ExitCode, ExitFindings)
	}
	if r.Broken != 0 {
		p.Result, p.ExitCode = model.Broken, r.Broken
	}
}

// gone reports the packs of the baseline that the workspace no longer has (VER009), each as an entry of
// its own, so that no run that lost a pack reports that nothing changed. Every shard reports all of them.
func (r *Run) gone(ctx context.Context, in Inputs) error {
	if len(in.since.Gone) == 0 {
		return nil
	}
	policy, err := in.policy(r.Now())
	if err != nil {
		return err
	}
	for i := range in.since.Gone {
		p := &in.since.Gone[i]
		f := version.Gone(in.Files.Show(p.Name), p.Ref(), r.inUse(ctx, in, p))
		r.Add(build.NewRemoved(p.Ref(), in.Files.Show(p.Name), policy.Judge(p.ID(), f)))
	}
	return nil
}

// inUse returns why a pack that is gone is taken to be in use, "" if nothing shows that it is. A pack
// that could not be asked about counts as in use.
func (r *Run) inUse(ctx context.Context, in Inputs, p *refresh.Pack) string {
	for _, e := range slices.Concat(in.since.Environments, in.Environments) {
		if v, pinned := e.Pinned(p.ID()); pinned {
			return fmt.Sprintf("the environment %q pins %q", e.Environment.Value, p.ID()+"@"+v.Version)
		}
	}
	switch l := r.Lookup; {
	case l == nil && !in.Config.Publish.Registry.OK:
		return ""
	case l == nil || l.InUse == nil || p.ID() == "":
		return "versions of it may be published"
	default:
		return l.InUse(ctx, p.ID())
	}
}
