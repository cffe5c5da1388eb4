package cli

import (
	"cmp"
	"context"

	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

func newLog(env *Env) *cobra.Command {
	var o registryOptions
	c := &cobra.Command{
		Use: "log PACK_ID", Short: "list the published versions of a pack",
		Long: `Lists the versions of a pack in the registry, oldest first: class, digest, who
signed and when, state, and the environments that are pinned to it. What does not
verify is listed with the reason.`,
		Example: "  packgate log ctxpack.support\n  packgate log ctxpack.support --registry ghcr.io/acme/packs --format json",
		Args:    wants("PACK_ID"),
		RunE:    func(c *cobra.Command, args []string) error { return showLog(c.Context(), env, args[0], o) },
	}
	o.addFlags(c, plainFormats()...)
	o.addIdentity(c)
	return c
}

func showLog(ctx context.Context, env *Env, id string, o registryOptions) error {
	if err := oneOf("--format", o.format, plainFormats()...); err != nil {
		return err
	}
	house, err := openHouse(env, o)
	if err != nil {
		return err
	}
	checker, err := house.checker(ctx, "")
	if err != nil {
		return err
	}
	entries, err := checker.Log(ctx, id)
	if err != nil {
		return err
	}
	repository, err := checker.Registry.Repository(id)
	if err != nil {
		return err
	}
	return render.WriteLog(env.Stdout, o.format, shownLog(id, repository.Name(), entries), env.style(o.color))
}

func newAudit(env *Env) *cobra.Command {
	var o registryOptions
	c := &cobra.Command{
		Use: "audit [PACK_ID...]", Short: "verify every published version, and what environments are pinned to",
		Long: `Verifies every version of the packs in the registry, finds tags that were moved,
versions that were signed with two digests, publications that were not finished, and
environments that are pinned to a revoked or deprecated version. Without PACK_ID it
looks at the packs of this repository and at all that the registry lists. It also
says which packs have to be looked at again, since something that they depend on
changed after they were published.

Exit status: 0 nothing is wrong, 1 something is, 3 it could not be looked at.`,
		Example: "  packgate audit\n  packgate audit ctxpack.support --registry ghcr.io/acme/packs",
		RunE:    func(c *cobra.Command, args []string) error { return audit(c.Context(), env, args, o) },
	}
	o.addFlags(c, diffFormats()...)
	o.addIdentity(c)
	return c
}

func audit(ctx context.Context, env *Env, ids []string, o registryOptions) error {
	if err := oneOf("--format", o.format, diffFormats()...); err != nil {
		return err
	}
	a, err := auditOf(ctx, env, ids, o)
	if err != nil {
		return err
	}
	return cmp.Or(render.WriteAudit(env.Stdout, o.format, &a.out, env.style(o.color)), a.verdict())
}
