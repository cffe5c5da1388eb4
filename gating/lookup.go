package gating

import (
	"context"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/repo"
)

// Lookup says whether the version of a pack is taken.
type Lookup struct {
	// Ask asks a registry whether a version is published with other bytes (VER004), of a
	// pack without faults. What could not be asked is returned as not checked.
	Ask func(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked)
	// Silent says why no registry is asked, where Ask is nil.
	Silent string
}

// taken asks whether the version of a pack is taken. The nil lookup has no registry.
func (l *Lookup) taken(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked) {
	switch {
	case u.Pack == nil || len(u.Faults) > 0 || !u.Pack.PackMeta.PackID.OK || !u.Pack.PackMeta.PackVersion.OK:
		return nil, nil // the gates say what is wrong with it
	case l == nil:
		return nil, []finding.NotChecked{version.Unregistered("no registry is configured")}
	case l.Ask == nil:
		return nil, []finding.NotChecked{version.Unregistered(l.Silent)}
	}
	return l.Ask(ctx, u)
}

// identity says what is reported of versions that are not looked up.
func (l *Lookup) identity() string {
	if l == nil {
		return ""
	}
	return fields(l.Silent)
}
