package cli

import (
	"context"
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
)

// versionLookup is the registry that is asked whether a version is taken; nil for none.
type versionLookup struct {
	registry *registry.Registry
	silent   string // why it is not asked
}

// openLookup opens the registry that is asked whether versions are taken: that of
// the options, or else of the config. One that is on the network is asked only where
// that is wanted, so that a check on a laptop needs none.
func openLookup(env *Env, w *workspace, o registryOptions, network bool) (*versionLookup, error) {
	house := &registryHouse{env: env, options: o, dir: w.dir, config: w.config}
	if o.registry == "" && !w.config.Publish.Registry.OK {
		return nil, nil
	}
	reg, err := house.open("")
	if err != nil {
		return nil, err
	}
	if !reg.Local() && !network && o.registry == "" {
		return &versionLookup{silent: "the registry is asked by the action, or where --registry names it"}, nil
	}
	return &versionLookup{registry: reg}, nil
}

// taken asks whether the version of a pack is published with other bytes (VER004).
// What could not be asked is returned as not checked.
func (g *versionLookup) taken(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked) {
	if u.Pack == nil || len(u.Faults) > 0 || !u.Pack.PackMeta.PackID.OK || !u.Pack.PackMeta.PackVersion.OK {
		return nil, nil // the gates say what is wrong with it
	}
	if g == nil {
		return nil, []finding.NotChecked{version.Unregistered("no registry is configured")}
	}
	if g.registry == nil {
		return nil, []finding.NotChecked{version.Unregistered(g.silent)}
	}
	meta := &u.Pack.PackMeta
	p := &publish.Publisher{Registry: g.registry}
	found, err := p.Standing(ctx, meta.PackID.Value, meta.PackVersion.Value, u.Document.Source)
	if err != nil {
		return nil, []finding.NotChecked{version.Unregistered(fmt.Sprintf("the registry %s could not be asked: %v", g.registry, err))}
	}
	if found.Kind != publish.Other {
		return nil, nil
	}
	return []finding.Finding{version.Taken(meta.PackVersion.Node, u.Pack.Ref(), g.registry.String(), found.Found)}, nil
}
