package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

func newPublish(env *Env) *cobra.Command {
	var o signingOptions
	var out output // without its look, which o has
	c := &cobra.Command{
		Use: "publish [PATH...]", Short: "sign the versions that are not published yet, and publish them",
		Long: `Looks for every pack version in the registry. One that is there with the same bytes
is left alone, and one that is there with other bytes is refused. What is not there
goes through all gates again, is compared with the published version before it, has
to carry the reviews that the config demands for its class, is signed, pushed, read
back and verified. The version's tag is written last, so that a version is there as
a whole or not at all. Running it again at any point finishes the job.

Within GitHub Actions the run's own identity signs; elsewhere --key FILE does.

Exit status: 0 everything is published, 1 a pack was refused, 3 it could not be
finished and the next run goes on, 4 the class of a change is reject, 2 wrong use.`,
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
	w, err := gating.Open(ctx, path, gating.Settings{Config: house.options.config})
	if err != nil {
		return err
	}
	defer w.Close()
	if len(w.Packs) == 0 {
		return w.Files.NoPacks(w.Config)
	}
	p, err := newPublication(house, r, w)
	if err != nil {
		return err
	}
	return p.all(ctx)
}

// publication publishes the packs of a workspace.
type publication struct {
	*run
	house     *signingHouse
	w         *gating.Workspace
	publisher *publish.Publisher
	policy    gates.Policy
	overrides []diffing.Override
	reviews   *reviewing
}

func newPublication(house *signingHouse, r *run, w *gating.Workspace) (*publication, error) {
	p := &publication{run: r, house: house, w: w, reviews: &reviewing{env: r.env, dryRun: house.options.dryRun, w: w}}
	var err error
	if p.publisher, err = house.publisher(""); err != nil {
		return nil, err
	}
	if !house.options.dryRun {
		if p.publisher.State, err = house.openState(); err != nil {
			return nil, err
		}
	}
	if p.policy, err = w.Policy(nil, r.env.Now()); err != nil {
		return nil, err
	}
	p.overrides, err = diffing.Overrides(w.Config)
	return p, err
}

// all publishes what is not published yet. A pack that cannot be published keeps
// none of the others from it.
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
	}
	return nil
}

// candidate is what the registry has of one pack file.
type candidate struct {
	name  string // pack file
	unit  *repo.Unit
	found *publish.Standing // nil where the pack is no version that could be asked for
	err   error
}

// lookups bounds how many versions are asked for at a time.
const lookups = 16

// standings asks the registry for every version, one request each.
func (p *publication) standings(ctx context.Context) []candidate {
	list := make([]candidate, len(p.w.Packs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, lookups)
	for i, name := range p.w.Packs {
		list[i].name = name
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			p.standing(ctx, &list[i])
		})
	}
	wg.Wait()
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
	if s.found != nil && s.found.Kind == publish.Same {
		out.Status, out.Digest, out.Content = model.PublicationAlready, s.found.Artifact.Digest, s.found.Artifact.ContentDigest
		out.Ref = p.ref(s)
		return out
	}
	if s.found != nil && s.found.Kind == publish.Other {
		return p.stopped(out, &publish.Collision{
			Pack: out.Pack, Wanted: s.found.Artifact.Digest, Found: s.found.Found, Tag: registry.VersionTag(s.unit.Pack.PackMeta.PackVersion.Value),
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

// ref returns by what the published version of a pack is pulled.
func (p *publication) ref(s *candidate) string {
	meta := &s.unit.Pack.PackMeta
	repository, err := p.publisher.Registry.Repository(meta.PackID.Value)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s:%s@%s", repository.Name(), registry.VersionTag(meta.PackVersion.Value), s.found.Artifact.Digest)
}
