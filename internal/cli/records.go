package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
)

// records ask a registry what is published, and what environments run, for the rules about
// promotion. What cannot be asked is the trouble of an answer, so that it passes no rule.
type records struct {
	open func() (*publish.Checker, error)
}

// published returns what the registry has of a version.
func (r records) published(ctx context.Context, packID, version string) (*gating.PublishedVersion, error) {
	checker, err := r.open()
	if err != nil {
		return &gating.PublishedVersion{Published: promotion.Published{Trouble: unasked(err), Hint: problemsOf(err)[0].Hint}}, ctx.Err()
	}
	v, content, err := checker.Fetch(ctx, registry.Ref{Pack: packID, Version: version})
	if err != nil {
		return &gating.PublishedVersion{Published: promotion.Published{Trouble: unasked(err), Hint: problemsOf(err)[0].Hint}}, ctx.Err()
	}
	out := &gating.PublishedVersion{Published: promotion.Published{Digest: pack.Digest(v.Content), Manifest: v.Manifest, Deprecated: v.Status == publish.Deprecated}}
	if reason := v.Incomplete(); reason != nil {
		out.Incomplete = reason.Message
	}
	switch {
	case v.Status != publish.Usable && v.Status != publish.Deprecated && v.Manifest != "":
		out.Trouble = troubleOf(v)
	case v.Manifest != "":
		out.Release = releaseOf(v, content)
	}
	return out, nil
}

// running returns what an environment runs of a pack.
func (r records) running(ctx context.Context, packID, environment string) (*gating.RunningVersion, error) {
	checker, err := r.open()
	if err != nil {
		return &gating.RunningVersion{Running: promotion.Running{Trouble: unasked(err), Hint: problemsOf(err)[0].Hint}}, ctx.Err()
	}
	is, err := checker.Running(ctx, packID, environment)
	switch {
	case err != nil:
		return &gating.RunningVersion{Running: promotion.Running{Trouble: unasked(err), Hint: problemsOf(err)[0].Hint}}, ctx.Err()
	case is.Verdict == nil:
		return &gating.RunningVersion{}, nil
	}
	v := is.Verdict
	out := &gating.RunningVersion{Running: promotion.Running{Version: v.Version, Digest: pack.Digest(v.Content), Since: is.Since}}
	switch {
	case v.Status != publish.Usable && v.Status != publish.Deprecated:
		out.Trouble = troubleOf(v)
	case v.Build != nil:
		out.Resolved, out.Release = is.Content, releaseOf(v, nil)
	default:
		out.Release = releaseOf(v, is.Content)
	}
	return out, nil
}

// unasked says why a registry could not be asked.
func unasked(err error) string {
	return fmt.Sprintf("the registry could not be asked: %v", err)
}

// troubleOf says why a version is not to be used.
func troubleOf(v *publish.Verdict) string {
	for _, r := range v.Reasons {
		if r.Refuses || v.Status == publish.Revoked && r.Kind == publish.ReasonState {
			return r.Message
		}
	}
	return cmp.Or(string(v.Status), "it does not verify")
}
