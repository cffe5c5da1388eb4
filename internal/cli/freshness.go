package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// freshnessOptions say who timestamps the status of a registry, and what that is worth; each
// takes the place of what the config says.
type freshnessOptions struct {
	workflow, key           string
	maxAge, expiry, onStale string
	memory                  string
}

func (o *freshnessOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.workflow, "freshness-workflow", "", "`workflow` that must have signed the timestamp of the publisher's status (default: publish.freshness.workflow)")
	f.StringVar(&o.key, "freshness-key", "", "public key `file`, for timestamps that were signed with a key")
	f.StringVar(&o.maxAge, "freshness-max-age", "", "greatest age of a timestamp, a `duration` (default: publish.freshness.max_age, or 24h)")
	f.StringVar(&o.expiry, "freshness-expiry", "", "longest validity that a timestamp may state, a `duration` (default: publish.freshness.expiry, or 7d)")
	f.StringVar(&o.onStale, "freshness-on-stale", "", "what to do with a running version if the registry is not known to be fresh: fail, or `keep DURATION` (default: publish.freshness.on_stale)")
	addMemory(c, &o.memory)
}

// addMemory adds the flag of the file that remembers the newest status.
func addMemory(c *cobra.Command, into *string) {
	c.Flags().StringVar(into, "memory", "", "`file` that remembers the newest status seen so far (default: packgate/memory.json in the user's cache folder)")
}

// over returns what the config says with what the flags say in its place. Named says that
// freshness is wanted at all.
func (o *freshnessOptions) over(f repo.Freshness) (_ repo.Freshness, named bool, err error) {
	for _, one := range []struct {
		flag string
		into *pack.Text
	}{{o.maxAge, &f.MaxAge}, {o.expiry, &f.Expiry}, {o.onStale, &f.OnStale}} {
		if one.flag != "" {
			*one.into = pack.Text{}
			one.into.Value, one.into.OK = one.flag, true
			f.Node = nil // what is wrong is not in the config
		}
	}
	named = o.workflow != "" || o.key != "" || f.Workflow.Value != ""
	switch {
	case o.workflow != "" && o.key != "":
		return f, false, misuse("give one of the two", "--freshness-workflow and --freshness-key are given")
	case !named && (o.maxAge != "" || o.expiry != "" || o.onStale != "" || o.memory != ""):
		return f, false, misuse("name who signs timestamps with --freshness-workflow, --freshness-key or publish.freshness", "it is not stated whose timestamps count")
	}
	// A flag that shortens one length alone is not held to the config's refresh.
	if o.maxAge != "" && f.Refresh.Value == "" {
		f.Refresh.Value = "10m"
	}
	return f, named, nil
}

// freshness returns what has to be known of the registry before a version is used, and for
// how long what runs goes on; nil where nothing is configured.
func (h *registryHouse) freshness(ctx context.Context, o freshnessOptions, publisher *attest.Verifier) (*publish.FreshnessPolicy, time.Duration, error) {
	f, named, err := o.over(h.config.Publish.Freshness)
	if err != nil || !named {
		return nil, 0, err
	}
	times, err := f.Times()
	if err != nil {
		return nil, 0, err
	}
	p := &publish.FreshnessPolicy{MaxAge: times.MaxAge, Expiry: times.Expiry}
	if p.Verifier, err = h.freshnessVerifier(ctx, o, publisher); err != nil {
		return nil, 0, err
	}
	p.Memory = memoryIn(o.memory)
	return p, times.Keep, nil
}

// memoryIn returns the memory of the newest status that was seen: in a file, or where that is "" in
// the user's cache folder. It is nil where the user has no such folder.
func memoryIn(file string) *publish.Memory {
	if file == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		file = filepath.Join(folder, "packgate", "memory.json")
	}
	return publish.MemoryIn(file)
}

// freshnessVerifier returns what trusts the timestamps, by a public key where there is one. Who
// publishes signs none.
func (h *registryHouse) freshnessVerifier(ctx context.Context, o freshnessOptions, publisher *attest.Verifier) (*attest.Verifier, error) {
	v, err := h.trusting(ctx, keyFile{"public key of the timestamps", o.key, attest.Freshness}, func() (attest.Identity, error) { return h.freshnessIdentity(o.workflow) })
	if err == nil && v.Name() == publisher.Name() {
		err = misuse("sign timestamps with an identity that does nothing else", "the same identity publishes and signs timestamps: %s", publisher.Name())
	}
	return v, err
}

// freshnessIdentity returns whose timestamps count: the workflow of the flag, or else that of
// the config. The numbers of the publisher's repository count where it is the same one.
func (h *registryHouse) freshnessIdentity(workflow string) (attest.Identity, error) {
	server := strings.TrimRight(cmp.Or(h.env.Getenv("GITHUB_SERVER_URL"), "https://github.com"), "/")
	publisher := namedIdentity(h.config.Publish.Identity)
	id := attest.Identity{Role: attest.Freshness, Issuer: cmp.Or(h.options.issuer, publisher.Issuer), Workflow: h.config.Publish.Freshness.WorkflowURI()}
	if workflow != "" {
		id.Workflow = addressOf(server, workflow)
	}
	if id.Workflow == "" {
		return id, misuse("name it in publish.freshness.workflow, as "+workflowForm, "it is not stated which workflow signs timestamps")
	}
	repository, rest, ok := strings.Cut(id.Workflow, "/.github/workflows/")
	if !ok || !strings.Contains(rest, "@refs/heads/") {
		return id, misuse("write it as "+workflowForm, "the workflow of the timestamps is %q", id.Workflow)
	}
	if id.Repository = repository; repository == publisher.Repository {
		id.RepositoryID, id.OwnerID = publisher.RepositoryID, publisher.OwnerID
	}
	return id, nil
}

func newTimestamp(env *Env) *cobra.Command {
	var o timestampOptions
	c := &cobra.Command{
		Use: "timestamp", Short: "sign that the status of the registry is still current",
		Long: `Verifies the status that the publisher keeps in the registry, and signs a timestamp for
it: a statement that it is the newest, and until when this can be relied on. If
publish.freshness is configured, packgate verify and pull require a timestamp. Run this
command on schedule, in a workflow file of its own: the one that publish.freshness names.
Its identity is trusted for nothing else. It does not sign for a status that does not
verify, that is older than the status of the last timestamp or than one that this machine
has seen, or that names a record that is missing.

Exit status: 0 the timestamp is signed, 1 there is no status that it would sign for,
2 wrong use, 3 it could not be done.`,
		Example: "  packgate timestamp --dry-run\n  packgate timestamp --key freshness.key --publisher-key packgate.pub",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := timestamp(c.Context(), env, o)
			return err
		},
	}
	o.addFlags(c, plainFormats())
	f := c.Flags()
	f.StringVar(&o.publisherKey, "publisher-key", "", "public key `file` of the publisher, for versions that are signed with a key")
	f.StringVar(&o.expiry, "freshness-expiry", "", "longest validity of the timestamp, a `duration` (default: publish.freshness.expiry, or 7d)")
	addMemory(c, &o.memory)
	return c
}

// timestampOptions are the flags of timestamp.
type timestampOptions struct {
	signingOptions
	publisherKey string
	expiry       string
	memory       string
}

// timestamp signs a timestamp, says so, and returns what was signed.
func timestamp(ctx context.Context, env *Env, o timestampOptions) (*model.Timestamp, error) {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return nil, err
	}
	f, err := house.freshener(ctx, o)
	if err != nil {
		return nil, err
	}
	r, err := f.Timestamp(ctx)
	if err != nil {
		return nil, lifecycleError(err)
	}
	shown := shownTimestamp(r)
	return shown, render.WriteTimestamp(env.Stdout, o.format, shown, env.style(o.color))
}

// freshener returns what signs timestamps: with a key, or as the run of the workflow that the
// config names.
func (h *registryHouse) freshener(ctx context.Context, o timestampOptions) (*publish.Freshener, error) {
	named, _, err := (&freshnessOptions{expiry: o.expiry, workflow: "any"}).over(h.config.Publish.Freshness)
	if err != nil {
		return nil, err
	}
	times, err := named.Times()
	if err != nil {
		return nil, err
	}
	if o.key == "" && !o.dryRun && h.env.Getenv("GITHUB_ACTIONS") != "true" {
		return nil, misuse("run the workflow that publish.freshness names, or sign with --key FILE", "there is no run on GitHub whose identity could sign")
	}
	publisher := &registryHouse{env: h.env, options: h.options, dir: h.dir, config: h.config}
	publisher.options.key = o.publisherKey
	checker, err := publisher.checker(ctx, "")
	if err != nil {
		return nil, err
	}
	f := &publish.Freshener{Checker: checker, Expiry: times.Expiry, Memory: memoryIn(o.memory), DryRun: o.dryRun, Now: h.env.Now}
	if o.key != "" {
		err = h.freshenByKey(o, f)
	} else {
		err = h.freshenByRun(ctx, o, f)
	}
	if err == nil && f.Verifier.Name() == checker.Verifier.Name() {
		err = misuse("sign timestamps with an identity that does nothing else", "the same identity publishes and signs timestamps: %s", checker.Verifier.Name())
	}
	return f, err
}

func (h *registryHouse) freshenByKey(o timestampOptions, f *publish.Freshener) error {
	s := &signingHouse{registryHouse: h, options: o.signingOptions}
	pem, err := h.file("private key", o.key, "")
	if err != nil {
		return err
	}
	if err := s.withKey(pem); err != nil {
		return err
	}
	key, err := s.key.As(attest.Freshness)
	if err != nil {
		return err
	}
	f.Signer = func(context.Context) (attest.Signer, error) { return key, nil }
	f.Verifier, err = attest.NewVerifier(s.trust, attest.Identity{Role: attest.Freshness})
	return err
}

// freshenByRun lets the run sign: only one of GitHub's has an identity, and only one that a
// clock or a person started signs timestamps.
func (h *registryHouse) freshenByRun(ctx context.Context, o timestampOptions, f *publish.Freshener) error {
	id, err := h.freshnessIdentity("")
	if err != nil {
		return err
	}
	if h.env.Getenv("GITHUB_ACTIONS") == "true" {
		event, err := github.ReadEvent(h.env.Getenv, os.ReadFile)
		if err != nil {
			return err
		}
		if err := event.MayTimestamp(h.env.Getenv); err != nil {
			return badUse(err)
		}
	}
	trust, err := h.trust(ctx)
	if err != nil {
		return err
	}
	s := &signingHouse{registryHouse: h, options: o.signingOptions, trust: trust, id: id}
	f.Signer = s.signer
	f.Verifier, err = attest.NewVerifier(trust, id)
	return err
}

func shownTimestamp(r *publish.TimestampResult) *model.Timestamp {
	out := &model.Timestamp{
		Registry: r.Registry, Sequence: r.Sequence, Status: r.Digest, Packs: r.Packs, Issued: shownTime(r.Issued), Expires: shownTime(r.Expires),
		Bundle: r.Bundle, DryRun: r.DryRun, Notes: r.Notes,
	}
	if r.Signer != nil {
		out.Signer = signerName(r.Signer)
	}
	return out
}

// goesOn reports whether content that is not written, since nobody has said of late what is
// the newest, is what is in its place already and may stay there.
func goesOn(v *publish.Verdict, content []byte, output string, keep time.Duration, now time.Time) bool {
	if v.Status != publish.Stale || output == "-" || content == nil {
		return false
	}
	there, err := os.ReadFile(output)
	return err == nil && bytes.Equal(there, content) && v.Keep(string(pack.DigestOf(there)), keep, now)
}

// statusNotes says what is worth knowing of a status that was written.
func statusNotes(r *publish.StatusResult, reg *registry.Registry) (notes []string) {
	for _, id := range r.Late {
		notes = append(notes, fmt.Sprintf("the status in %s was older than what the registry has of %q: an earlier run was cut off before it wrote the status", reg, id))
	}
	return append(notes, r.Notes...)
}
