package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// The exit codes of verify beside those of every command. An outage has one of its
// own, so that nobody takes it for a version that may still be used.
const (
	exitDeprecated = 3
	exitRevoked    = 4
	exitUntrusted  = 5
	exitUnknown    = 6
)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	registryOptions
	completeOption
	fresh  freshnessOptions
	bundle string // "" for none
}

func newVerify(env *Env) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use: "verify REF|FILE", Short: "check signature, identity and state of a published version",
		Long: `Checks a version in a registry, or a pack file that claims to be one: its digest,
its signature, the identity that signed, what was signed, and whether the version is
deprecated or revoked. REF is pack_id@version, pack_id@sha256:DIGEST, or the same with
its registry, such as ghcr.io/acme/packs/ctxpack.support:1.0.0. A FILE is compared
with the version of its pack_id in the registry. With --bundle it is checked offline,
by that file alone, and its state is not checked. Checks that did not run are listed;
with --complete, a version is trusted only if its statement says that all checks ran.

If publish.freshness or --freshness-workflow defines who timestamps the publisher's
status, the registry must be as new as the timestamp states.

Exit status: 0 the version may be used, 2 wrong use, 3 it is deprecated, 4 it is
revoked, 5 it is not signed or not trusted, 6 it could not be read, or it is not known
whether the registry is fresh.`,
		Example: "  packgate verify ctxpack.support@1.0.0\n  packgate verify ghcr.io/acme/packs/ctxpack.support:1.0.0 --workflow acme/packs/.github/workflows/packs.yml@refs/heads/main\n  packgate verify pack.json --bundle pack.sigstore.json --trusted-root root.json",
		Args:    wants("REF|FILE"),
		RunE:    func(c *cobra.Command, args []string) error { return verify(c.Context(), env, args[0], o) },
	}
	o.addReading(c, plainFormats())
	c.Flags().StringVar(&o.bundle, "bundle", "", "check a FILE by this Sigstore bundle `file`, without a registry")
	o.addComplete(c)
	o.fresh.addFlags(c)
	return c
}

func verify(ctx context.Context, env *Env, name string, o verifyOptions) error {
	v, err := verdictOf(ctx, env, name, o)
	if err != nil {
		return unknown(env, err)
	}
	o.settle(v)
	shown := shownVerdict(v)
	if v.Ref == (registry.Ref{}) {
		shown.Ref = filepath.ToSlash(name)
	}
	return cmp.Or(render.WriteVerdict(env.Stdout, o.format, shown, env.style(o.color)), verdict(exitOf(v.Status)))
}

// unknown says what kept a version from being judged, or the judgement from being
// heard, with an exit code that stands for no status. Wrong use keeps its own.
func unknown(env *Env, err error) error {
	if exitCode(err) == gating.ExitUse {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errTimeout
	}
	printProblems(env.Stderr, err)
	return &verdictError{code: exitUnknown}
}

// exitOf returns the exit code that a status stands for.
func exitOf(s publish.Status) int {
	switch s {
	case publish.Usable:
		return gating.ExitPass
	case publish.Deprecated:
		return exitDeprecated
	case publish.Revoked:
		return exitRevoked
	case publish.Stale:
		return exitUnknown
	}
	return exitUntrusted
}

// consumer returns what judges versions before they are used, and for how long what runs goes
// on where the registry is not known to be fresh.
func (h *registryHouse) consumer(ctx context.Context, name string, o freshnessOptions) (c *publish.Checker, keep time.Duration, err error) {
	if c, err = h.checker(ctx, name); err != nil {
		return nil, 0, err
	}
	c.Now = h.env.Now
	c.Freshness, keep, err = h.freshness(ctx, o, c.Verifier)
	return c, keep, err
}

// verdictOf looks at what a user named: a reference, or a file.
func verdictOf(ctx context.Context, env *Env, name string, o verifyOptions) (*publish.Verdict, error) {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return nil, err
	}
	if !isFile(name) {
		if o.bundle != "" {
			return nil, misuse("name the pack file, or leave out --bundle", "%s is not a file, and --bundle checks files", name)
		}
		ref, err := house.ref(name)
		if err != nil {
			return nil, err
		}
		checker, _, err := house.consumer(ctx, ref.Registry, o.fresh)
		if err != nil {
			return nil, err
		}
		return checker.Verify(ctx, ref, nil)
	}
	content, err := house.file("pack file", name, "")
	if err != nil {
		return nil, err
	}
	if o.bundle != "" {
		return house.byBundle(ctx, content, o.bundle)
	}
	return house.byFile(ctx, name, content, o.fresh)
}

// byBundle judges a file by a bundle beside it.
func (h *registryHouse) byBundle(ctx context.Context, content []byte, bundle string) (*publish.Verdict, error) {
	src, err := h.file("bundle", bundle, "")
	if err != nil {
		return nil, err
	}
	verifier, err := h.verifier(ctx)
	if err != nil {
		return nil, err
	}
	return (&publish.Checker{Verifier: verifier}).VerifyBundle(content, src)
}

// byFile judges a file as the version of the registry that it says it is.
func (h *registryHouse) byFile(ctx context.Context, name string, content []byte, fresh freshnessOptions) (*publish.Verdict, error) {
	document, faults := pack.Read(name, content, h.config.Limits)
	if len(faults) > 0 {
		return nil, repo.Unreadable(faults)
	}
	id, version, _ := strings.Cut(pack.New(document).Ref(), "@")
	checker, _, err := h.consumer(ctx, "", fresh)
	if err != nil {
		return nil, err
	}
	return checker.Verify(ctx, registry.Ref{Registry: h.registryName(), Pack: id, Version: version}, content)
}

// isFile reports whether a name is that of a file. Where a reference looks like one, what
// is there decides.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() || err != nil && strings.HasSuffix(name, ".json") && !strings.Contains(name, "@")
}

func newPull(env *Env) *cobra.Command {
	var o pullOptions
	c := &cobra.Command{
		Use: "pull REF", Short: "verify a published version and write its pack file",
		Long: `Verifies a version as packgate verify does, and writes its bytes exactly as they were
signed. For an environment (pack_id@env-ENV), it writes the pack that the environment
runs, with its overlays; --source writes the pack of the version itself. A version that
is revoked or not trusted is not written. With --complete, a version is written only if
its signed statement says that all checks ran.

Nothing is written if it is not known whether the registry is fresh (see packgate
verify). If on_stale allows it, the file that is already there remains in use for the
time that it states, with exit status 0 and a warning.

Exit status: that of verify, but a deprecated version is written with a warning, and the
status is 0; 6 also if the file could not be written.`,
		Example: "  packgate pull ctxpack.support@1.0.0\n  packgate pull ghcr.io/acme/packs/ctxpack.support@sha256:DIGEST --output packs/support/pack.json",
		Args:    wants("REF"),
		RunE:    func(c *cobra.Command, args []string) error { return pull(c.Context(), env, args[0], o) },
	}
	o.addReading(c, plainFormats())
	c.Flags().StringVarP(&o.output, "output", "o", "pack.json", "write to this `file`, - for standard output")
	c.Flags().BoolVar(&o.source, "source", false, "write the version's own pack, without the overlays of the environment")
	o.addComplete(c)
	o.fresh.addFlags(c)
	return c
}

// pullOptions are the flags of pull.
type pullOptions struct {
	registryOptions
	completeOption
	fresh  freshnessOptions
	output string
	source bool // writes the version's own pack where an environment runs a bundle of it
}

// completeOption is the flag by which versions that are not complete are refused.
type completeOption struct {
	complete bool
	require  string // "" or noBaseline
}

// noBaseline requires that no finding was in a baseline file.
const noBaseline = "no-baseline"

func (o *completeOption) addComplete(c *cobra.Command) {
	c.Flags().BoolVar(&o.complete, "complete", false, "refuse a version unless it is known that all checks ran")
	choice{"require", "", "refuse a version unless it is known that `this` holds", []string{noBaseline}}.add(c, &o.require)
}

// settle refuses a version that is not complete, where that is wanted.
func (o completeOption) settle(v *publish.Verdict) {
	if o.complete {
		v.Complete()
	}
	if o.require == noBaseline {
		v.NoBaseline()
	}
}

func pull(ctx context.Context, env *Env, name string, o pullOptions) error {
	v, content, keep, err := fetch(ctx, env, name, o)
	if err != nil {
		return unknown(env, err)
	}
	o.settle(v)
	if v.Build != nil && !o.source {
		content = v.Build.Resolved
	}
	output := o.output
	shown := shownVerdict(v)
	kept := goesOn(v, content, output, keep, env.Now())
	if kept {
		shown.Kept = filepath.ToSlash(output)
	}
	usable := v.Status == publish.Usable || v.Status == publish.Deprecated
	switch {
	case usable && output == "-":
		if _, err := env.Stdout.Write(content); err != nil {
			return unknown(env, err)
		}
	case usable:
		if err := atomicfile.Write(output, atomicfile.Content(content)); err != nil {
			printProblem(env.Stderr, model.Problem{Message: err.Error(), Hint: "name a file in a folder that is there and may be written to"})
			return &verdictError{code: exitUnknown}
		}
		shown.Path = filepath.ToSlash(output)
	}
	out, style := env.Stdout, env.style(o.color)
	if output == "-" {
		out, style = env.Stderr, render.Style{} // Stdout is for the pack
	}
	if err := render.WriteVerdict(out, o.format, shown, style); err != nil {
		return unknown(env, err)
	}
	if usable || kept {
		return nil
	}
	return verdict(exitOf(v.Status))
}

// fetch returns the verdict on a version, its bytes, and for how long what runs goes on where
// the registry is not known to be fresh.
func fetch(ctx context.Context, env *Env, name string, o pullOptions) (*publish.Verdict, []byte, time.Duration, error) {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return nil, nil, 0, err
	}
	ref, err := house.ref(name)
	if err != nil {
		return nil, nil, 0, err
	}
	checker, keep, err := house.consumer(ctx, ref.Registry, o.fresh)
	if err != nil {
		return nil, nil, 0, err
	}
	v, content, err := checker.Fetch(ctx, ref)
	return v, content, keep, err
}

// shownVerdict returns a verdict in the report's form.
func shownVerdict(v *publish.Verdict) *model.Verdict {
	out := &model.Verdict{
		Ref: v.Ref.String(), Pack: v.Pack, Version: v.Version, Digest: v.Manifest, Content: v.Content, Status: string(v.Status),
		Signed: shownTime(v.Signed), NotChecked: v.NotChecked,
	}
	for _, r := range v.Reasons {
		if r.Kind == publish.ReasonState {
			continue // the statements below say it
		}
		out.Reasons = append(out.Reasons, model.Problem{Message: r.Message, Hint: r.Hint})
	}
	if f := v.Freshness; f != nil && f.Sequence > 0 {
		out.Freshness = &model.Freshness{Sequence: f.Sequence, Status: f.Status, Issued: shownTime(f.Issued), Expires: shownTime(f.Expires), State: f.State}
	}
	if s := v.Signer; s != nil {
		out.Signer, out.Issuer, out.Repository, out.Commit = signerName(s), s.Issuer, s.Repository, s.Commit
	}
	if b := v.Build; b != nil {
		s := b.Statement
		out.EnvironmentBundle = &model.EnvironmentBundle{Name: b.Name.String(), Digest: s.Manifest, Content: s.Content, Class: s.Class, Signed: shownTime(b.Time)}
		for _, source := range s.Sources {
			out.EnvironmentBundle.Sources = append(out.EnvironmentBundle.Sources, model.File(source))
		}
	}
	if s := v.Summary; s != nil {
		out.Checks, out.Notes = shownChecks(s.Checks), shownNotes(s.Notes)
		if s.Accepted != nil && s.Accepted.Digest != "" {
			out.Accepted = &model.AcceptedFindings{Count: s.Accepted.Count, Digest: s.Accepted.Digest}
		}
		out.Class, out.Report, out.Policy = s.Class, s.Report, fmt.Sprintf("packgate %s, rules %s", s.Tool, s.Rules)
		if s.Baseline != nil {
			out.Baseline = s.Baseline.Pack + " " + s.Baseline.Manifest
		}
		for _, a := range s.Approvals {
			out.Approvals = append(out.Approvals, model.Approval{Role: a.Role, Login: a.Login})
		}
	}
	for _, s := range v.States {
		out.States = append(out.States, model.Statement{State: s.State, Reason: s.Reason, Actor: s.Actor, Time: shownTime(s.Time), Digest: s.Bundle})
	}
	for _, p := range v.Pins {
		if !slices.Contains(out.Pins, p.Environment) {
			out.Pins = append(out.Pins, p.Environment)
		}
	}
	slices.Sort(out.Pins) // those of one second have no order of their own
	return out
}

// shownTime returns a time as reports write it, "" for none.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
