package gating

import (
	"fmt"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/report/build"
)

// gone reports the packs of the baseline that the workspace has no more (VER009), each
// as an entry of its own, so that no run that lost one says that nothing changed. Every
// shard reports all of them.
func (r *Run) gone(in Inputs) error {
	if len(in.since.Gone) == 0 {
		return nil
	}
	policy, err := in.Policy(in.Strict, r.Now())
	if err != nil {
		return err
	}
	for i := range in.since.Gone {
		p := &in.since.Gone[i]
		f := version.Gone(in.Files.Show(p.Name), p.Ref(), in.inUse(p))
		r.Add(build.NewRemoved(p.Ref(), in.Files.Show(p.Name), policy.Judge(p.ID(), f)))
	}
	return nil
}

// inUse says why a pack that is gone is taken to be in use, "" where nothing says so.
func (in Inputs) inUse(p *refresh.Pack) string {
	switch {
	case in.Config.Publish.Registry.OK:
		return fmt.Sprintf("versions of it may be published in %s", in.Config.Publish.Registry.Value)
	}
	return ""
}
