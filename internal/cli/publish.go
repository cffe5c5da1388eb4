package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/release"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func newPublish(env *Env) *cobra.Command {
	var o signingOptions
	var out output // without its look, which o has
	c := &cobra.Command{
		Use: "publish [PATH...]", Short: "sign the versions that are not published yet, and publish them",
		Long: `Looks for each pack version in the registry. A version that is there with the same
bytes and verifies is left alone, and one that is there with different content is refused.
A version that is missing, or that nobody who is trusted has signed, goes through all
checks again, is compared with the published version before it (what it permits, and
what the files beside it prove), and must have the reviews that the config requires
for its class. Then it is signed, pushed, read back and verified. The tag of the
version is written last, so that a version is there completely or not at all. If a
run is interrupted at any point, the next run finishes its work.

In GitHub Actions, the identity of the run signs; elsewhere, --key FILE does.

Exit status: 0 everything is published, 1 a pack was refused, 2 wrong use, 3 it could
not be finished and the next run continues, 4 the class of a change is reject.`,
		Example: "  packgate publish --dry-run\n  packgate publish --registry oci:./registry --key packgate.key",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			out.look = o.look
			return publishPaths(c.Context(), env, o, out, args)
		},
	}
	o.addFlags(c, reportFormats())
	out.addFiles(c)
	c.Flags().StringVar(&o.state, "state", "", "keep what was signed and is not published yet in this `folder` (default: "+stateFolder+" beside the config)")
	return c
}

func publishPaths(ctx context.Context, env *Env, o signingOptions, out output, paths []string) error {
	house, err := openSigning(ctx, env, o)
	if err != nil {
		return err
	}
	r := newRun(env, "publish", gating.FailOnError)
	for _, path := range paths {
		if err := r.publishPath(ctx, house, path); err != nil {
			r.Fail(err)
		}
	}
	return r.finish(out)
}

// publishPath publishes the packs of one path.
func (r *run) publishPath(ctx context.Context, house *signingHouse, path string) error {
	w, err := gating.Open(ctx, path, gating.Settings{Config: house.options.config, Evaluators: evaluators(ctx)})
	if err != nil {
		return err
	}
	defer w.Close()
	if len(w.Packs) == 0 {
		return w.Files.NoPacks(w.Config)
	}
	p, err := newPublication(house, r, w, nil)
	if err != nil {
		return err
	}
	defer p.reviews.close()
	return p.all(ctx)
}

// publication publishes the packs of a workspace.
type publication struct {
	*run
	house      *signingHouse
	w          *gating.Workspace
	publisher  *publish.Publisher
	succession *gating.Succession
	reviews    *reviewing
}

// newPublication opens what publishing takes; strict is nil for what the config says. The
// caller closes its reviews.
func newPublication(house *signingHouse, r *run, w *gating.Workspace, strict *bool) (*publication, error) {
	p := &publication{run: r, house: house, w: w, reviews: &reviewing{env: r.env, dryRun: house.options.dryRun, w: w}}
	var err error
	if p.publisher, err = house.publisher(""); err != nil {
		return nil, err
	}
	p.publisher.Batch = true
	if !house.options.dryRun {
		if p.publisher.State, err = house.openState(); err != nil {
			return nil, err
		}
	}
	if err = p.reviews.open(); err != nil {
		return nil, err
	}
	p.succession, err = r.Succession(gating.Inputs{Workspace: w, Base: p.reviews.base, Strict: strict})
	return p, errors.Join(err, p.reviews.closed(err))
}

// all publishes what is not published yet. A pack that cannot be keeps no other from it.
func (p *publication) all(ctx context.Context) error {
	found := p.standings(ctx)
	for i := range found {
		s := &found[i]
		if ctx.Err() != nil {
			return fmt.Errorf("stopped before %s: %w", p.w.Files.Show(s.name), context.Cause(ctx))
		}
		out := p.one(ctx, s)
		if s.unit != nil {
			var err error
			if out, err = build.Masked(out, []*pack.Document{s.unit.Document}); err != nil {
				return err
			}
		}
		p.Report.Published = append(p.Report.Published, out)
		if out.Halted() || s.unit == nil || s.unit.Pack == nil {
			continue
		}
		for _, bundle := range p.bundles(ctx, s) {
			masked, err := build.Masked(bundle, []*pack.Document{s.unit.Document})
			if err != nil {
				return err
			}
			p.Report.Published = append(p.Report.Published, masked)
		}
	}
	return p.status(ctx, found)
}

// status brings the status of the packs up to date, once for all of them.
func (p *publication) status(ctx context.Context, found []candidate) error {
	var ids []string
	for _, s := range found {
		if s.found != nil {
			ids = append(ids, s.unit.Pack.PackMeta.PackID.Value)
		}
	}
	r, err := p.publisher.Flush(ctx, ids...)
	if err != nil {
		return fmt.Errorf("the packs are published, and the status is not written: %w", err)
	}
	for _, note := range statusNotes(r, p.publisher.Registry) {
		p.Notice("%s", note)
	}
	return nil
}

// candidate is what the registry has of one pack file.
type candidate struct {
	name  string // pack file
	unit  *repo.Unit
	found *publish.Standing // nil where the pack is no version that could be asked for
	done  bool              // the version is there with these bytes, and verifies
	// passed is what the gates came to in this run; nil where they were not asked.
	passed *passed
	err    error
}

// lookups bounds how many versions are asked for at a time.
const lookups = 16

// standings asks the registry for every version.
func (p *publication) standings(ctx context.Context) []candidate {
	list := make([]candidate, len(p.w.Packs))
	var asking errgroup.Group
	asking.SetLimit(lookups)
	for i, name := range p.w.Packs {
		asking.Go(func() error {
			list[i].name = name
			p.standing(ctx, &list[i])
			return nil // which the candidate has
		})
	}
	_ = asking.Wait()
	return list
}

func (p *publication) standing(ctx context.Context, s *candidate) {
	if s.unit, s.err = p.w.Unit(s.name); s.err != nil || s.unit.Pack == nil {
		return
	}
	meta := &s.unit.Pack.PackMeta
	if len(s.unit.Faults) > 0 || !meta.PackID.OK || !meta.PackVersion.OK {
		return // the gates say what is wrong
	}
	s.found, s.err = p.publisher.Standing(ctx, meta.PackID.Value, meta.PackVersion.Value, s.unit.Document.Source)
	if s.err == nil && s.found.Kind == publish.Same {
		s.done, s.err = p.publisher.Settled(ctx, meta.PackID.Value, meta.PackVersion.Value)
	}
}

// one publishes one pack, or says why not.
func (p *publication) one(ctx context.Context, s *candidate) model.Publication {
	out := model.Publication{Path: p.w.Files.Show(s.name)}
	if s.unit != nil && s.unit.Pack != nil {
		out.Pack = s.unit.Pack.Ref()
	}
	if s.err != nil {
		return p.stopped(out, s.err)
	}
	if s.done {
		out.Status, out.Digest, out.Content = model.PublicationAlready, s.found.Artifact.Digest, s.found.Artifact.ContentDigest
		out.Ref = s.found.Ref
		return out
	}
	if s.found != nil && s.found.Kind == publish.Other {
		return p.stopped(out, &publish.Collision{
			Pack: out.Pack, Wanted: s.found.Artifact.Digest, Found: s.found.Found, Tag: s.unit.Pack.PackMeta.PackVersion.Value,
		})
	}
	c, err := p.gated(ctx, s, &out)
	if err != nil {
		return p.stopped(out, err)
	}
	result, err := p.publisher.Publish(ctx, *c)
	if err != nil {
		return p.stopped(out, err)
	}
	return p.done(out, result)
}

// errGated says that the gates stand against a version, with findings that the report has.
var errGated = errors.New("the checks do not pass")

// gated puts a version through the gates, compared with the published one before it, asks
// for its reviews, and returns what is to be published. Out gets what becomes known.
func (p *publication) gated(ctx context.Context, s *candidate, out *model.Publication) (*publish.Candidate, error) {
	before, last, err := p.before(ctx, s)
	if err != nil {
		return nil, err
	}
	judged, err := p.judge(ctx, s, before, last)
	if err == nil {
		err = judged.Fault
	}
	if err != nil {
		return nil, err
	}
	p.Report.Reviews = model.MergeReviews(p.Report.Reviews, granted(judged))
	if judged.Pack.Result = p.Add(judged.Pack); judged.Pack.Result != model.Passed {
		return nil, errGated
	}
	c := &publish.Candidate{
		Checks: checksOf(&judged.Pack), Notes: notesOf(&judged.Pack), Accepted: p.acceptedOf(&judged.Pack), Content: s.unit.Document.Source, Class: statement.ClassInitial, Tool: p.env.Version, Rules: release.RulesVersion,
		Pack: s.unit.Pack.PackMeta.PackID.Value, Version: s.unit.Pack.PackMeta.PackVersion.Value,
	}
	if before != nil {
		c.Class = max(judged.Class, diffing.Patch).String()
		c.Baseline = &statement.Baseline{Pack: before.Pack + "@" + before.Version, Manifest: before.Manifest, Content: before.Content}
		out.Baseline = &model.Published{Pack: c.Baseline.Pack, Digest: c.Baseline.Manifest}
	}
	if doc := p.w.Config.Document; doc != nil {
		c.Config = string(pack.DigestOf(doc.Source))
	}
	out.Class = c.Class
	if c.Source, err = p.reviews.source(s.name, c.Content); err != nil {
		return nil, err
	}
	for _, a := range judged.Granted() {
		c.Approvals = append(c.Approvals, statement.Approval(a))
	}
	err = p.reviews.ask(ctx, c, before, out)
	for _, a := range c.Approvals {
		out.Approvals = append(out.Approvals, model.Approval(a))
	}
	if err != nil {
		return nil, err
	}
	s.passed = &passed{judged: judged, approvals: c.Approvals, before: before}
	if before != nil && before.Summary != nil {
		s.passed.from = before.Summary.Source.Commit
	}
	c.Report, err = p.gateReport(judged)
	return c, err
}

// before returns the published version that a pack is compared with; nothing for the first
// version of a pack.
func (p *publication) before(ctx context.Context, s *candidate) (*publish.Verdict, *gating.Release, error) {
	if s.found == nil {
		return nil, nil, nil // no version, which the gates say
	}
	meta := &s.unit.Pack.PackMeta
	checker := p.publisher.Checker()
	before, content, err := checker.Baseline(ctx, meta.PackID.Value, meta.PackVersion.Value)
	if err != nil || before == nil {
		return nil, nil, err
	}
	return before, releaseOf(before, content), nil
}

// gateReport returns the JSON report of one pack as it is attached to its version. The
// same pack, judged by the same, makes the same report.
func (p *publication) gateReport(judged *gating.Successor) ([]byte, error) {
	r := newRun(p.env, "publish", gating.FailOnError)
	r.Report.Packs, r.Report.Reviews = model.PacksOf(judged.Pack), granted(judged)
	r.Settle()
	var b bytes.Buffer
	err := model.JSON(&b, r.Report)
	return b.Bytes(), err
}
