package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// isFingerprint reports whether a text is so much of a fingerprint that it may tell one finding.
func isFingerprint(s string) bool {
	return len(s) >= 6 && len(s) <= 32 && strings.Trim(s, "0123456789abcdef") == ""
}

// explainOptions are the flags of explain, which are about findings.
type explainOptions struct {
	from, base, config string
	look
}

// printsFingerprints is the hint for a fingerprint that no finding has.
const printsFingerprints = "run packgate check --format json, which prints the fingerprints; where the report compares with a base, name it here too: --base REVISION, or the report with --from"

// explainFinding tells the story of the findings whose fingerprint begins so: one, or the same
// one in several packs.
func explainFinding(ctx context.Context, env *Env, prefix, path string, o explainOptions) error {
	r, err := o.report(ctx, env, path)
	if err != nil {
		return err
	}
	var stories []model.Story
	for _, p := range r.Packs.All() {
		for _, f := range p.With(prefix) {
			s := build.NewStory(p, f)
			if o.from == "" && f.Witness != nil {
				if s.Compiled, err = o.compiled(ctx, path, p.Path, f); err != nil {
					return err
				}
			}
			stories = append(stories, s)
		}
	}
	var found []string
	for _, s := range stories {
		if !slices.Contains(found, s.Finding.Fingerprint) {
			found = append(found, s.Finding.Fingerprint)
		}
	}
	switch {
	case len(found) == 0:
		return misuse(printsFingerprints, "no finding has a fingerprint that begins with %q", prefix)
	case len(found) > 1:
		return misuse("write more of it: "+strings.Join(found[:min(len(found), 8)], ", "), "%d findings have a fingerprint that begins with %q", len(found), prefix)
	}
	if o.format == "json" {
		return model.WriteJSON(env.Stdout, stories)
	}
	for i := range stories {
		if err := render.WriteStory(env.Stdout, &stories[i], env.style(o.color)); err != nil {
			return err
		}
	}
	return nil
}

// report returns the report that findings are looked up in: a stored one, or that of a run
// over the path. The error says why that run came to none.
func (o *explainOptions) report(ctx context.Context, env *Env, path string) (*model.Report, error) {
	if o.from != "" {
		return readReport(o.from)
	}
	r := newRun(env, "check", gating.FailOnNever)
	var failed error
	r.Explain = func(err error) ([]model.Problem, int) {
		failed = err
		return problemsOf(err), exitCode(err)
	}
	if err := r.path(ctx, path, checkOptions{config: o.config, base: o.base}); err != nil {
		return nil, stopped(ctx, path, err)
	}
	if failed != nil && r.Report.Packs.Len() == 0 {
		return nil, failed
	}
	for _, p := range r.Report.Errors {
		printProblem(env.Stderr, p)
	}
	return r.Report, nil
}

// compiled compiles the request that shows a finding with the pack as it is; nil for what is
// about a pack with overlays, or about no pack that can be compiled.
func (o *explainOptions) compiled(ctx context.Context, path, file string, f model.Finding) (*model.Compiled, error) {
	w, err := gating.Open(ctx, path, gating.Settings{Config: o.config, Partial: true})
	if err != nil {
		return nil, err
	}
	defer w.Close() // only read from
	at := slices.IndexFunc(w.Packs, func(name string) bool { return w.Files.Show(name) == file })
	if at < 0 || f.Gate == "overlays" {
		return nil, nil
	}
	unit, err := w.Unit(w.Packs[at])
	if err != nil || unit.Pack == nil {
		return nil, err
	}
	subject := w.Subject(unit)
	result, err := subject.Proof().Program().Compile(proof.Request(unit.Pack, f.Witness))
	if err != nil {
		return nil, fmt.Errorf("compile the request of %s: %w", f.Fingerprint, err)
	}
	c := &model.Compiled{Outcome: string(result.Outcome), Reason: result.Reason()}
	for _, t := range compiles.Tools(result) {
		c.Tools = append(c.Tools, t.Capability)
	}
	if result.Context != nil {
		c.Gates = result.Context.RuntimeControls.ApprovalGatesActive
	}
	return build.Masked(c, []*pack.Document{unit.Document})
}
