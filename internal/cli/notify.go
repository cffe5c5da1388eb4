package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/notice"
	"github.com/contextosai/packgate/publish/webhook"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// notifyOptions are those of notify.
type notifyOptions struct {
	auditOptions
	dryRun bool   // only says what there is to tell
	token  string // that issues are written with
}

func newNotify(env *Env) *cobra.Command {
	var o notifyOptions
	c := &cobra.Command{
		Use: "notify", Short: "keep GitHub issues about published packs up to date, and call a webhook", Args: wants(),
		Long: `Keeps one GitHub issue for each version that was revoked, each pack whose audit fails,
each version that has been pinned for long enough to be promoted, and each waiver that
ends within 14 days. An issue is opened, edited when the facts change, closed when the
cause is gone, and opened again if it comes back. If the config names a webhook, it
receives a CloudEvents 1.0 event for each of these changes.

It runs in a job of its own, on schedule or by hand on the default branch, with
issues: write and without id-token: write, which it refuses. The token is read from the
variable GITHUB_TOKEN. With --dry-run it runs anywhere, and prints what it would send.

Exit status: 0 everything was sent, 2 wrong use, 3 something could not be read or sent.`,
		Example: "  packgate notify\n  packgate notify --dry-run --registry ghcr.io/acme/packs",
		RunE: func(c *cobra.Command, _ []string) error {
			o.token = env.Getenv("GITHUB_TOKEN")
			return notify(c.Context(), env, o)
		},
	}
	o.addReading(c, plainFormats())
	c.Flags().BoolVar(&o.strict, "strict", false, "count what another identity signed as an error")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would be sent, and send nothing")
	choice{"fail-on", gating.FailOnError, "lowest `severity` for which an audit fails", gating.FailOnSeverities()}.add(c, &o.failOn)
	return c
}

func notify(ctx context.Context, env *Env, o notifyOptions) error {
	if err := cmp.Or(oneOf("--format", o.format, plainFormats()...), oneOf("--fail-on", o.failOn, gating.FailOnSeverities()...)); err != nil {
		return err
	}
	n, err := openNotifying(env, o)
	if err != nil {
		return err
	}
	if err := n.look(ctx); err != nil {
		return err
	}
	if o.dryRun {
		n.list()
	} else {
		n.tell(ctx)
	}
	err = render.WriteNotices(env.Stdout, o.format, &n.out, env.style(o.color))
	if err == nil {
		err = errors.Join(n.failures...)
	}
	if err == nil && n.unseen {
		err = &verdictError{code: gating.ExitFailure}
	}
	return err
}

// notifying is one run of notify.
type notifying struct {
	env     *Env
	options notifyOptions
	house   *registryHouse
	event   *github.Event // nil in a dry run
	client  *github.Client
	hook    *webhook.Sender // nil where the config names none
	hookID  string

	world    notice.World
	causes   []notice.Cause
	unseen   bool    // something could not be looked at
	failures []error // of what could not be told
	out      model.Notices
}

// openNotifying reads what the run is about, and refuses one that must not tell anybody.
func openNotifying(env *Env, o notifyOptions) (*notifying, error) {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return nil, err
	}
	n := &notifying{env: env, options: o, house: house}
	n.out.DryRun = o.dryRun
	if o.dryRun {
		return n, nil
	}
	if n.event, err = github.ReadEvent(env.Getenv, os.ReadFile); err != nil {
		return nil, err
	}
	if err := n.event.MayNotify(env.Getenv); err != nil {
		return nil, badUse(err)
	}
	if o.token == "" {
		return nil, misuse("set the input token, or the variable GITHUB_TOKEN", "there is no token to write issues with")
	}
	if n.client, err = newClient(env, n.event, o.token); err != nil {
		return nil, err
	}
	return n, n.openHook()
}

// openHook makes what sends to the webhook of the config, where that names one.
func (n *notifying) openHook() error {
	hook := n.house.config.Notices.Webhook
	if !hook.URL.OK {
		return nil
	}
	text := n.env.Getenv(hook.SecretVariable.Value)
	if text == "" {
		return misuse("set it in the step, from a secret of the repository", "the variable %s, which is to hold the secret of the webhook, is not set", hook.SecretVariable.Value)
	}
	secret, err := webhook.Secret(text)
	if err != nil {
		return badUse(err)
	}
	o := webhook.Options{URL: hook.URL.Value, Secret: secret, Version: n.env.Version}
	if n.env.hook != nil {
		n.env.hook(&o)
	}
	n.hookID = notice.HookID(hook.URL.Value)
	n.hook, err = webhook.New(o)
	return err
}

// look finds what there is to tell.
func (n *notifying) look(ctx context.Context) error {
	n.world = notice.World{Config: n.house.config, Now: n.env.Now()}
	if n.options.registry == "" && !n.house.config.Publish.Registry.OK {
		n.unchecked("", "published-packs", "no registry is configured")
	} else if err := n.lookAtRegistry(ctx); err != nil {
		return err
	}
	n.causes = n.world.Causes()
	return nil
}

func (n *notifying) unchecked(pack, check, format string, args ...any) {
	n.out.NotChecked = append(n.out.NotChecked, model.AuditNotChecked{Pack: pack, Check: check, Reason: fmt.Sprintf(format, args...)})
}

// lookAtRegistry audits the packs, and asks what runs where.
func (n *notifying) lookAtRegistry(ctx context.Context) error {
	o := n.options.auditOptions
	o.alone = true
	a, err := auditOf(ctx, n.env, nil, o)
	if err != nil {
		return err
	}
	w := &n.world
	w.Registry, w.Audited, w.Running = a.out.Registry, a.audited, map[notice.Place]*publish.Running{}
	n.out.Registry = w.Registry
	w.Counts = func(f publish.AuditFinding) bool {
		return n.options.counts(model.AuditFinding{Severity: string(n.options.severity(f))})
	}
	if a.w != nil {
		w.Environments = a.w.Environments
	}
	for _, place := range w.Places() {
		if w.Audited.Unseen[place.Pack] != nil {
			continue
		}
		running, err := a.checker.Running(ctx, place.Pack, place.Environment)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			w.Audited.Unseen[place.Pack] = err
			continue
		}
		w.Running[place] = running
	}
	for _, id := range slices.Sorted(maps.Keys(w.Audited.Unseen)) {
		n.unseen = true
		n.unchecked(id, "", "%v", w.Audited.Unseen[id])
	}
	return nil
}
