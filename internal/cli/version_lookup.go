package cli

import (
	"context"
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
)

// openLookup opens the registry that is asked whether versions are taken: that of
// the options, or else of the config; nil where neither names one. One that is on the
// network is asked only where that is wanted, so that a check on a laptop needs none.
func openLookup(env *Env, w *gating.Workspace, o registryOptions, network bool) (*gating.Lookup, error) {
	house := &registryHouse{env: env, options: o, dir: w.Dir, config: w.Config}
	if o.registry == "" && !w.Config.Publish.Registry.OK {
		return nil, nil
	}
	reg, err := house.open("")
	if err != nil {
		return nil, err
	}
	if !reg.Local() && !network && o.registry == "" {
		return &gating.Lookup{Silent: "the registry is asked by the action, or where --registry names it"}, nil
	}
	return &gating.Lookup{Ask: func(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked) {
		return taken(ctx, reg, u)
	}}, nil
}

// taken asks a registry whether the version of a pack is published with other bytes
// (VER004). What could not be asked is returned as not checked.
func taken(ctx context.Context, reg *registry.Registry, u *repo.Unit) ([]finding.Finding, []finding.NotChecked) {
	meta := &u.Pack.PackMeta
	p := &publish.Publisher{Registry: reg}
	found, err := p.Standing(ctx, meta.PackID.Value, meta.PackVersion.Value, u.Document.Source)
	if err != nil {
		return nil, []finding.NotChecked{version.Unregistered(fmt.Sprintf("the registry %s could not be asked: %v", reg, err))}
	}
	if found.Kind != publish.Other {
		return nil, nil
	}
	return []finding.Finding{version.Taken(meta.PackVersion.Node, u.Pack.Ref(), reg.String(), found.Found)}, nil
}
