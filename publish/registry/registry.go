package registry

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// Options says how a registry is spoken to. The last five fields are for tests and
// may be left out.
type Options struct {
	// Root is the folder that a relative oci: folder starts at; "" for the working
	// folder.
	Root string
	// Token is sent to TokenHost, and to the token service that this host names, and
	// to no other. Username goes with it; most registries take any with a token.
	Username, Token, TokenHost string
	// Version is packgate's own version, for the User-Agent.
	Version string

	// HTTP sends requests; nil for one that follows the proxy variables.
	HTTP http.RoundTripper
	// Getenv looks up DOCKER_CONFIG and HOME; nil for the environment of the process.
	Getenv func(string) string
	// Attempts, FirstWait and Timeout bound the attempts at one request, the wait
	// before the second of them, and one attempt with its answer. Zero means
	// DefaultAttempts, DefaultFirstWait and DefaultTimeout.
	Attempts  int
	FirstWait time.Duration
	Timeout   time.Duration
}

// Registry is a place that packs are kept in: a registry that speaks the OCI
// distribution specification 1.1, or a folder of OCI image layouts.
type Registry struct {
	base    base
	options Options
	client  *auth.Client // nil for a folder
	folder  string       // "" for a registry
}

// Open returns the registry that s names: HOST/PATH, as in ghcr.io/acme/packs, or
// oci:FOLDER. It sends nothing and writes nothing. An error is of kind ErrName.
// A loopback host is spoken to by plain HTTP, any other by HTTPS.
func Open(s string, o Options) (*Registry, error) {
	b, err := parseBase(s)
	if err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	r := &Registry{base: b, options: o}
	if b.folder == "" {
		r.client = newClient(o)
		return r, nil
	}
	r.folder = filepath.FromSlash(b.folder)
	if !filepath.IsAbs(r.folder) {
		r.folder = filepath.Join(o.Root, r.folder)
	}
	return r, nil
}

// String returns the place as ParseRef and Open read it.
func (r *Registry) String() string { return r.base.String() }

// Local reports whether the packs are kept in a folder.
func (r *Registry) Local() bool { return r.folder != "" }

// Packs returns the pack_ids that are there, sorted. Many registries do not list what
// they hold, ghcr.io among them: the error is then of kind ErrUnsupported.
func (r *Registry) Packs(ctx context.Context) ([]string, error) {
	if r.Local() {
		return layoutPacks(r.folder)
	}
	return r.catalog(ctx)
}

// Repository returns where the versions of a pack are kept. It asks nothing: the
// repository need not exist. An error is of kind ErrName and says which character of
// the pack_id cannot be in the name of a repository.
func (r *Registry) Repository(packID string) (*Repository, error) {
	if err := checkPack(packID); err != nil {
		return nil, err
	}
	name := r.base.String() + "/" + packID
	if !r.Local() && len(name) > maxName {
		return nil, &fault.Error{Kind: ErrName, Message: fmt.Sprintf("the repository %q has %d characters, wanted at most %d", name, len(name), maxName)}
	}
	repo := &Repository{name: name, pack: packID, wait: r.options.firstWait()}
	if r.Local() {
		repo.store = &layout{dir: filepath.Join(r.folder, packID), name: name}
		return repo, nil
	}
	repo.store = r.newRemote(packID)
	return repo, nil
}

// store is what a registry and a layout have to offer. Each returns errors of this
// package, and bytes that have the digest they were asked for by.
type store interface {
	// resolve returns the digest that a tag names.
	resolve(ctx context.Context, tag string) (string, error)
	// manifest returns the bytes of a manifest, at most MaxManifest of them.
	manifest(ctx context.Context, digest string) ([]byte, error)
	// blob returns the bytes of a blob, at most MaxContent of them.
	blob(ctx context.Context, d ocispec.Descriptor) ([]byte, error)
	// pushBlob writes a blob that is not there.
	pushBlob(ctx context.Context, d ocispec.Descriptor, content []byte) error
	// pushManifest writes a manifest under its digest and lists it with its subject,
	// where it has one.
	pushManifest(ctx context.Context, content []byte) error
	// tag writes a manifest that is there under a tag.
	tag(ctx context.Context, content []byte, tag string) error
	// tags returns all tags, nil where there is no repository.
	tags(ctx context.Context) ([]string, error)
	// referrers returns what is listed with a subject.
	referrers(ctx context.Context, subject ocispec.Descriptor) ([]ocispec.Descriptor, error)
}
