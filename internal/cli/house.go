package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/spf13/cobra"
)

// defaultRegistry is the registry of a local run whose config names none.
const defaultRegistry = "oci:./registry"

// githubIssuer is who vouches for workflows on github.com.
const githubIssuer = "https://token.actions.githubusercontent.com"

// registryOptions say where versions are, and whose signature counts. They are
// flags, and inputs of the action where those have the same name.
type registryOptions struct {
	config      string
	registry    string
	trustedRoot string
	key         string // public for reading, private for writing
	issuer      string
	workflow    string
	repository  string
	timeout     time.Duration // bounds all of a command; 0 for as long as it takes
	look
}

// defaultTimeout bounds a command that speaks to a registry, where nothing else is said.
const defaultTimeout = 30 * time.Minute

// errTimeout ends such a command.
var errTimeout = &fault.Error{Kind: registry.ErrUnavailable, Message: "it took longer than --timeout gives it", Hint: "run it again later, or give it longer"}

// bounded ends a command when its time is over.
func (o *registryOptions) bounded(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if o.timeout <= 0 {
			return misuse("name how long it may take, such as 5m", "--timeout is %s", o.timeout)
		}
		ctx, cancel := context.WithTimeoutCause(c.Context(), o.timeout, errTimeout)
		defer cancel()
		c.SetContext(ctx)
		err := run(c, args)
		if _, done := errors.AsType[*verdictError](err); err != nil && !done && errors.Is(err, context.DeadlineExceeded) {
			return errTimeout
		}
		return err
	}
}

// addFlags adds the flags that every command with a registry has. One that has a single form
// names no formats.
func (o *registryOptions) addFlags(c *cobra.Command, formats []string) {
	if len(formats) > 0 {
		o.look.addFlags(c, formats)
	}
	f := c.Flags()
	configFlag(f, &o.config)
	f.StringVar(&o.registry, "registry", "", "OCI `registry`, or oci: and a folder (default: publish.registry of the config, else "+defaultRegistry+")")
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "end after this `duration`; a single request ends after 30s without a byte")
	c.RunE = o.bounded(c.RunE)
	f.StringVar(&o.trustedRoot, "trusted-root", "", "trusted root `file` of a private Sigstore, or to work offline (default: the public instance's)")
}

// addReading adds the flags of a command that reads versions: whose signature counts too.
func (o *registryOptions) addReading(c *cobra.Command, formats []string) {
	o.addFlags(c, formats)
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "public key `file`, for versions that were signed with a key")
	f.StringVar(&o.issuer, "issuer", "", "`issuer` of the signer's identity (default: publish.identity.issuer of the config, else GitHub's)")
	f.StringVar(&o.workflow, "workflow", "", "`workflow` that must have signed, owner/repository/.github/workflows/FILE.yml@refs/heads/BRANCH (default: publish.identity.workflow)")
	f.StringVar(&o.repository, "repository", "", "`repository` in which the workflow must have run (default: that of the workflow)")
}

// registryHouse is a pack repository seen as a publisher, or nothing but the flags
// where there is none: where its versions are, and whose signature counts.
type registryHouse struct {
	env     *Env
	options registryOptions
	dir     string // root of the repository, or the current folder
	config  *repo.Config
}

// openHouse reads the config of the current folder's repository, or that of the flag.
func openHouse(env *Env, o registryOptions) (*registryHouse, error) {
	at, err := gating.FindPlace(".")
	if err != nil {
		return nil, err
	}
	name := ""
	if o.config != "" {
		if at.Root, err = filepath.Abs(filepath.Dir(o.config)); err != nil {
			return nil, err
		}
		name = filepath.Base(o.config)
	}
	files, err := repo.OpenFiles(at.Root, gating.Display(at.Root))
	if err != nil {
		return nil, err
	}
	config, err := files.Config(name)
	if err := errors.Join(err, files.Close()); err != nil {
		return nil, err
	}
	return &registryHouse{env: env, options: o, dir: at.Root, config: config}, nil
}

// registryName returns what the flag says, or else the config, or else the default.
func (h *registryHouse) registryName() string {
	return cmp.Or(h.options.registry, h.config.Publish.Registry.Value, defaultRegistry)
}

// root returns the folder that a relative folder of the registry starts at: the
// current one for what a flag names, the config's for what that names.
func (h *registryHouse) root() string {
	if h.options.registry != "" {
		return "."
	}
	return h.dir
}

// open opens a registry, that of the house where the name is "".
func (h *registryHouse) open(name string) (*registry.Registry, error) {
	o := registry.Options{Root: h.root(), Version: h.env.Version, Getenv: h.env.Getenv}
	if name != "" {
		o.Root = "."
	}
	// The token of a run is for GitHub's own registry and for no other.
	if token := cmp.Or(h.env.Getenv("INPUT_TOKEN"), h.env.Getenv("GITHUB_TOKEN")); token != "" && h.env.Getenv("GITHUB_ACTIONS") == "true" {
		o.Username, o.Token, o.TokenHost = cmp.Or(h.env.Getenv("GITHUB_ACTOR"), "packgate"), token, registryHost(h.env.Getenv("GITHUB_SERVER_URL"))
	}
	return registry.Open(cmp.Or(name, h.registryName()), o)
}

// registryHost returns the host of GitHub's own registry: ghcr.io, and that of its own
// for a GitHub Enterprise Server.
func registryHost(server string) string {
	u, err := url.Parse(cmp.Or(server, "https://github.com"))
	switch {
	case err != nil || u.Host == "":
		return ""
	case strings.EqualFold(u.Host, "github.com"):
		return "ghcr.io"
	}
	return "containers." + u.Host
}

// identity returns whose signature counts: what the flags say, or else the config, or
// else the workflow that runs on GitHub. It is an error where nothing says so.
func (h *registryHouse) identity() (attest.Identity, error) {
	named := h.config.Publish.Identity
	server := strings.TrimRight(cmp.Or(h.env.Getenv("GITHUB_SERVER_URL"), "https://github.com"), "/")
	id := namedIdentity(named)
	id.Issuer = cmp.Or(h.options.issuer, id.Issuer)
	if name := cmp.Or(h.options.workflow, h.env.Getenv("GITHUB_WORKFLOW_REF")); h.options.workflow != "" || id.Workflow == "" && name != "" {
		id = attest.Identity{Issuer: id.Issuer, Workflow: addressOf(server, name)}
		repository, _, ok := strings.Cut(id.Workflow, "/.github/workflows/")
		if !ok || !strings.Contains(name, "@refs/heads/") {
			return attest.Identity{}, misuse("write it as "+workflowForm, "the workflow is %q", name)
		}
		id.Repository = repository
	}
	if id.Workflow == "" {
		return attest.Identity{}, misuse("name publish.identity in "+repo.ConfigName+", or give --workflow "+workflowForm+", or --key",
			"it is not stated whose signature counts")
	}
	if h.options.repository != "" {
		id.Repository = addressOf(server, h.options.repository)
	}
	return id, nil
}

// workflowForm is how a workflow is named.
const workflowForm = "owner/repository/.github/workflows/FILE.yml@refs/heads/BRANCH"

// addressOf returns the address of what is named with or without its server.
func addressOf(server, name string) string {
	if strings.Contains(name, "://") {
		return name
	}
	return server + "/" + name
}

// file reads a file that a flag names, or one that the config does relative to its
// own folder; nil where neither does.
func (h *registryHouse) file(what, flag, config string) ([]byte, error) {
	name := cmp.Or(flag, config)
	if name == "" {
		return nil, nil
	}
	if flag == "" && !filepath.IsAbs(config) {
		name = filepath.Join(h.dir, filepath.FromSlash(config))
	}
	src, err := os.ReadFile(name)
	if err != nil && !repo.NotThere(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EISDIR) {
		return nil, fmt.Errorf("read the %s: %w", what, err)
	}
	if err != nil {
		return nil, misuse("name a file that is there", "cannot read the %s: %v", what, err)
	}
	return src, nil
}

// badUse turns an error into one of wrong use: of a file that was named and is not what
// it has to be, or of a job without a permission.
func badUse(err error) error { return misuse(nextStep(err), "%s", err) }

// checker returns what reads and judges versions of a registry.
func (h *registryHouse) checker(ctx context.Context, name string) (*publish.Checker, error) {
	reg, err := h.open(name)
	if err != nil {
		return nil, err
	}
	verifier, err := h.verifier(ctx)
	if err != nil {
		return nil, err
	}
	return &publish.Checker{Registry: reg, Verifier: verifier}, nil
}

// ref reads a reference to a version, in the house's registry where it names none.
func (h *registryHouse) ref(name string) (registry.Ref, error) {
	return registry.ParseRef(name, h.registryName())
}

// lookupOptions say which registry is asked about versions, and whether one on the network
// is that the config names.
type lookupOptions struct {
	registryOptions
	network bool
}

// openLookup opens the registry that is asked whether versions are taken: that of
// the options, or else of the config; nil where neither names one. One that is on the
// network is asked only where that is wanted, so that a check on a laptop needs none.
func openLookup(ctx context.Context, env *Env, w *gating.Workspace, l lookupOptions) (*gating.Lookup, error) {
	house := &registryHouse{env: env, options: l.registryOptions, dir: w.Dir, config: w.Config}
	if l.registry == "" && !w.Config.Publish.Registry.OK {
		return nil, nil
	}
	reg, err := house.open("")
	if err != nil {
		return nil, err
	}
	if !reg.Local() && !l.network && l.registry == "" {
		return &gating.Lookup{Silent: "the registry is asked by the action, or where --registry names it"}, nil
	}
	open := sync.OnceValues(func() (*publish.Checker, error) { return house.checker(ctx, "") })
	asked := records{open}
	return &gating.Lookup{
		Published: asked.published, Running: asked.running,
		Ask: func(ctx context.Context, u *repo.Unit) ([]finding.Finding, []finding.NotChecked) {
			return taken(ctx, reg, u)
		},
		InUse: func(ctx context.Context, packID string) string { return house.inUse(ctx, reg, packID) },
		Last: func(ctx context.Context, packID, version string) (*gating.Release, error) {
			return last(ctx, reg, open, ownVersion{packID, version})
		},
	}, nil
}

// ownVersion is a version of a pack; "" for any.
type ownVersion struct{ pack, version string }

// last returns the last published version of a pack that is not above one, or the newest of
// all where none is given; nil where there is none. Whose signature counts is asked only where something is published.
func last(ctx context.Context, reg *registry.Registry, open func() (*publish.Checker, error), own ownVersion) (*gating.Release, error) {
	repository, err := reg.Repository(own.pack)
	if err != nil {
		return nil, err
	}
	tags, err := repository.Tags(ctx)
	if err != nil || len(tags) == 0 {
		return nil, err
	}
	checker, err := open()
	if err != nil {
		return nil, err
	}
	var v *publish.Verdict
	var content []byte
	if own.version == "" {
		v, content, err = checker.Newest(ctx, own.pack)
	} else {
		v, content, err = checker.Last(ctx, own.pack, own.version)
	}
	if err != nil || v == nil {
		return nil, err
	}
	return releaseOf(v, content), nil
}

// releaseOf returns a published version as gating takes it.
func releaseOf(v *publish.Verdict, content []byte) *gating.Release {
	r := &gating.Release{Version: v.Version, Manifest: v.Manifest, Content: content}
	if v.Summary != nil {
		r.Commit, r.Path = v.Summary.Source.Commit, v.Summary.Source.Path
	}
	return r
}

// inUse says which version of a pack is published and neither deprecated nor revoked, or is
// pinned; "" where none is. What could not be asked may be either.
func (h *registryHouse) inUse(ctx context.Context, reg *registry.Registry, packID string) string {
	unknown := func(err error) string {
		return fmt.Sprintf("versions of it may be published in %s, which could not be asked: %v", reg, err)
	}
	repository, err := reg.Repository(packID)
	if err != nil {
		return unknown(err)
	}
	tags, err := repository.Tags(ctx)
	switch {
	case err != nil:
		return unknown(err)
	case len(tags) == 0:
		return ""
	}
	checker, err := h.checker(ctx, "")
	if err != nil {
		return unknown(err)
	}
	log, _, err := checker.Log(ctx, packID)
	if err != nil {
		return unknown(err)
	}
	for _, e := range log {
		switch {
		case len(e.Environments) > 0:
			return fmt.Sprintf("the environment %q has version %s of it", e.Environments[0], e.Version)
		case e.Status != publish.Deprecated && e.Status != publish.Revoked:
			return fmt.Sprintf("version %s of it is published in %s and not deprecated", e.Version, reg)
		}
	}
	return ""
}

// taken asks a registry whether the version of a pack is published with different content
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
