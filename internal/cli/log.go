package cli

import (
	"context"

	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

func newLog(env *Env) *cobra.Command {
	var o registryOptions
	c := &cobra.Command{
		Use: "log PACK_ID", Short: "list the published versions of a pack",
		Long: `Lists the versions of a pack in the registry, oldest first: class, digest, who signed
and when, state, the environments that are pinned to it, and whether all checks ran when
it was published. Versions that do not verify are listed with the reason.

The history of the pack follows, in the order of its signed records: what was published,
moved, stopped, deprecated or revoked, when, by whom and why. Records that are missing,
and two records of which neither names the other, are reported there.`,
		Example: "  packgate log ctxpack.support\n  packgate log ctxpack.support --registry ghcr.io/acme/packs --format json",
		Args:    wants("PACK_ID"),
		RunE:    func(c *cobra.Command, args []string) error { return showLog(c.Context(), env, args[0], o) },
	}
	o.addReading(c, plainFormats())
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
	entries, history, err := checker.Log(ctx, id)
	if err != nil {
		return err
	}
	repository, err := checker.Registry.Repository(id)
	if err != nil {
		return err
	}
	return render.WriteLog(env.Stdout, o.format, shownLog(id, repository.Name(), entries, history), env.style(o.color))
}
