package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/internal/release"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// passed is what is known of a version whose bundles are to be published.
type passed struct {
	judged    *gating.Successor
	approvals []statement.Approval
	from      string           // commit whose files its approvals are about; "" for that which is judged
	before    *publish.Verdict // the version before it, nil for none
}

// bundles publishes what a version, which is published, is in each environment.
func (p *publication) bundles(ctx context.Context, s *candidate) (all []model.Publication) {
	for _, environment := range environments.Named(s.unit, p.w.Environments) {
		out := model.Publication{Path: p.w.Files.Show(s.name), Pack: s.unit.Pack.Ref(), Environment: environment}
		err := ctx.Err()
		if err == nil {
			err = p.bundle(ctx, s, environment, &out)
		}
		if errors.Is(err, registry.ErrName) {
			p.Notice("%s has no bundle: %v", out.Pack, err)
			continue
		}
		if err != nil {
			out = p.stopped(out, err)
		}
		all = append(all, out)
	}
	return all
}

// bundle publishes what a version is in one environment.
func (p *publication) bundle(ctx context.Context, s *candidate, environment string, out *model.Publication) error {
	b, err := environments.Build(s.unit, environment, p.w.Environments)
	if err != nil {
		return &refusedError{problemsOf(err)}
	}
	meta := &s.unit.Pack.PackMeta
	c := publish.BuildCandidate{Environment: environment, Resolved: b.Pack, Catalog: b.Catalog, Candidate: publish.Candidate{
		Pack: meta.PackID.Value, Version: meta.PackVersion.Value, Content: s.unit.Document.Source, Tool: p.env.Version, Rules: release.RulesVersion,
	}}
	for _, source := range b.Sources {
		c.Sources = append(c.Sources, statement.SourceFile{Path: p.reviews.path(source.Name), Digest: string(source.Digest)})
	}
	at, err := p.publisher.BuildStanding(ctx, c)
	if err != nil {
		return err
	}
	out.Pack, out.Ref, out.Digest, out.Content = at.Name.String(), at.Ref, at.Build.Digest, at.Build.ContentDigest
	if at.Kind == publish.Same {
		out.Status = model.PublicationAlready
		return nil
	}
	going := &bundling{s, b, at, c}
	if err := p.gatedBundle(ctx, going, out); err != nil {
		return err
	}
	r, err := p.publisher.PublishBuild(ctx, going.BuildCandidate)
	if err != nil {
		return err
	}
	*out = p.done(*out, r)
	out.Verify = "" // cosign asks for the type of a version's statement
	return nil
}

// bundling is the bundle of one environment on its way into the registry.
type bundling struct {
	of    *candidate // the version
	built *environments.Built
	at    *publish.BuildStanding
	publish.BuildCandidate
}

// gatedBundle completes a candidate: what the gates came to, the class of the step from the
// bundle before it, and who approved that. Out gets what becomes known.
func (p *publication) gatedBundle(ctx context.Context, b *bundling, out *model.Publication) error {
	s, c := b.of, &b.BuildCandidate
	v, err := p.passing(ctx, s)
	if err != nil {
		return err
	}
	last := b.at.Last
	if last == nil && v.before != nil {
		checker := p.publisher.Checker()
		if last, err = checker.NewestBuild(ctx, v.before, c.Environment); err != nil {
			return err
		}
	}
	from := v.from
	c.Class = statement.ClassInitial
	if last != nil {
		overrides, err := diffing.Overrides(p.w.Config)
		if err != nil {
			return err
		}
		class, err := environments.ClassOf(&environments.Built{Environment: c.Environment, Pack: last.Resolved, Catalog: last.Catalog}, b.built, overrides)
		if err != nil {
			return err
		}
		c.Class, c.Baseline = max(class, diffing.Patch).String(), new(statement.Baseline(last.Version()))
		out.Baseline = &model.Published{Pack: c.Baseline.Pack, Digest: c.Baseline.Manifest}
		from = cmp.Or(last.Statement.Source.Commit, from)
	}
	out.Class, c.Checks, c.Accepted = c.Class, checksOf(&v.judged.Pack), p.acceptedOf(&v.judged.Pack)
	if doc := p.w.Config.Document; doc != nil {
		c.Config = string(pack.DigestOf(doc.Source))
	}
	if c.Source, err = p.reviews.source(s.name, c.Content); err != nil {
		return err
	}
	c.Approvals = slices.Clone(v.approvals)
	if err := p.reviews.askOfBundle(ctx, c, s.name, from, out); err != nil {
		return err
	}
	for _, a := range c.Approvals {
		out.Approvals = append(out.Approvals, model.Approval(a))
	}
	c.Report, err = p.gateReport(v.judged)
	return err
}

// passing puts a version that is published through the gates again, as it is now, once.
func (p *publication) passing(ctx context.Context, s *candidate) (*passed, error) {
	if s.passed != nil {
		return s.passed, nil
	}
	meta := &s.unit.Pack.PackMeta
	checker := p.publisher.Checker()
	own, content, err := checker.Fetch(ctx, registry.Ref{Pack: meta.PackID.Value, Version: meta.PackVersion.Value})
	if err != nil {
		return nil, err
	}
	if own.Summary == nil {
		return nil, refusedBecause("publish the version first", "%s is not published with a statement that is trusted", own.Name())
	}
	out := &passed{approvals: own.Summary.Approvals, from: own.Summary.Source.Commit}
	if out.before, _, err = p.before(ctx, s); err != nil {
		return nil, err
	}
	out.judged, err = p.judge(ctx, s, own, releaseOf(own, content))
	if err == nil {
		err = out.judged.Fault
	}
	if err != nil {
		return nil, err
	}
	if out.judged.Pack.Result = p.Add(out.judged.Pack); out.judged.Pack.Result != model.Passed {
		return nil, errGated
	}
	s.passed = out
	return out, nil
}

// path returns the path of a file of the workspace within its git repository.
func (r *reviewing) path(name string) string {
	if r.base == nil {
		return name
	}
	return r.base.Path(name)
}

// askOfBundle finds the approvals that the class of a bundle needs, in every pull request
// that changed anything that the gating of the pack reads since a commit: that of the bundle
// before, or of the version. Where no commit is named, those of the version have to do.
// What the config demanded at that commit is demanded too: the change may be what took it away.
func (r *reviewing) askOfBundle(ctx context.Context, c *publish.BuildCandidate, name, from string, out *model.Publication) error {
	demands := []demand{{r.w.Config.Reviews.Of(c.Class), r.w.Config.Reviews.Members()}}
	if r.event != nil && from != "" {
		config, err := r.configAt(ctx, from)
		if err != nil {
			return err
		}
		demands = append(demands, demand{config.Reviews.Of(c.Class), config.Reviews.Members()})
	}
	demands = slices.DeleteFunc(demands, func(d demand) bool { return len(d.roles) == 0 })
	switch {
	case len(demands) == 0:
		return nil
	case r.event == nil && r.dryRun:
		out.NotChecked = append(out.NotChecked, fmt.Sprintf("reviews by %s: only a run on GitHub can see who approved", strings.Join(demands[0].roles, ", ")))
		return nil
	case r.event == nil:
		return misuse("publish from the workflow, or try it with --dry-run",
			"the config requires reviews by %s for a bundle of the class %s, and only a run on GitHub can see who approved", strings.Join(demands[0].roles, ", "), c.Class)
	case from == "" || r.base == nil:
		return approvedWithVersion(c.Approvals, demands)
	}
	start, err := r.base.Open(ctx, from)
	if err != nil {
		return err
	}
	stages, err := r.base.At(start).Stages(ctx, r.base.Tree)
	if err != nil {
		return err
	}
	var concerning []gating.Stage
	for _, stage := range stages {
		if !r.base.Concerns(ctx, stage, name) {
			continue
		}
		changes, err := github.Between(ctx, stage.From, stage.To)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(changes, func(change github.Change) bool { return r.makesBundles(change.Path, name) }) {
			concerning = append(concerning, stage)
		}
	}
	return r.approvedStages(ctx, c, concerning, demands)
}

// makesBundles reports whether a file may be one that a bundle of a pack is made of: the pack
// file, an overlay beside it, the config, or whatever may be a catalog. Evidence is none, which
// is asked about with the version.
func (r *reviewing) makesBundles(file, packName string) bool {
	name, inside := r.base.Relative(file)
	if !inside {
		return false
	}
	dir, kind, beside := repo.SideKind(name)
	switch {
	case name == packName || path.Base(name) == r.w.ConfigName():
		return true
	case beside:
		return kind == "overlay" && dir == path.Dir(packName)
	}
	return strings.HasSuffix(name, ".json") && !r.w.IsPack(name) && !strings.HasSuffix(name, ".compiled.json")
}

// approvedWithVersion refuses where the approvals of the version lack a role.
func approvedWithVersion(given []statement.Approval, demands []demand) error {
	for _, d := range demands {
		for _, role := range d.roles {
			if !slices.ContainsFunc(given, func(a statement.Approval) bool { return a.Role == role }) {
				return refusedBecause("propose the pack, an overlay or the catalog again in a pull request, and have them approve that", "nobody with the role %s has approved the version, and it is not known since when the files changed", role)
			}
		}
	}
	return nil
}

// approvedStages looks for the roles in the pull request of each stage.
func (r *reviewing) approvedStages(ctx context.Context, c *publish.BuildCandidate, stages []gating.Stage, demands []demand) error {
	var problems []model.Problem
	for _, d := range demands {
		q := r.asking(d.members)
		found, err := q.brought(ctx, stages, func(ctx context.Context, s gating.Stage) (github.PullRequest, error) {
			return r.client.MergedPull(ctx, s.To.SHA())
		})
		if err != nil {
			return noReview(err)
		}
		for _, b := range found {
			part, err := q.part(ctx, b, d.roles)
			if err != nil {
				return noReview(err)
			}
			problems = append(problems, missing(b.pull, part.Approvals, q.cut)...)
			for _, g := range part.Granted {
				c.Approvals = append(c.Approvals, statement.Approval{Role: g.Role, Login: g.Login})
			}
			c.PullRequest = fmt.Sprintf("%s/%s/pull/%d", r.event.ServerURL, r.event.Repository, b.pull.Number)
		}
	}
	c.Approvals = approvalsOnce(c.Approvals)
	if len(problems) > 0 {
		return &refusedError{problems}
	}
	return nil
}
