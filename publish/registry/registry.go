// Package registry keeps context packs in an OCI registry, or in a folder of OCI
// image layouts where there is no registry. Both are one type here, and a caller
// cannot tell them apart by what they do.
//
// A pack version is an image manifest with one layer, the bytes of the pack as they
// were read. The manifest is a pure function of pack_id, version and bytes, so its
// digest is known, and can be signed, before anything is pushed. Statements and
// reports are referrers of it (OCI image specification 1.1, "subject"): they never
// change the pack.
//
// Two things shape the code. A registry is not trusted: each manifest and each blob
// is held against its digest and against a size, and an answer that broke off counts
// as no answer. And tags are not trusted either, since most registries move them for
// whoever may write: they are written last, looked at again afterwards, and nothing
// but a name for a digest.
//
// Order is what makes an interrupted push harmless. Blobs go before the manifest that
// names them, the manifest before its referrers, and the tag comes last, so whatever
// is cut short leaves no name for it, and the next run skips what is there.
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

// The kinds of failure a caller may want to tell apart with errors.Is. Every error
// of this package is a *fault.Error of one of them.
var (
	// ErrName: a registry, pack_id, tag or reference is written in a way that a
	// registry cannot hold.
	ErrName = fault.NewKind("name not usable", "write the name as REGISTRY/PATH/PACK_ID:VERSION, or PACK_ID@VERSION")
	// ErrNotFound: the repository, tag, manifest or blob is not there.
	ErrNotFound = fault.NewKind("not in the registry", "check the reference; packgate log PACK_ID lists the versions")
	// ErrUnauthorized: the registry wants other credentials, or any at all.
	ErrUnauthorized = fault.NewKind("not authenticated", "log in to the registry")
	// ErrForbidden: the registry knows who asks and does not allow it.
	ErrForbidden = fault.NewKind("not allowed", "ask for the right to do it, or use other credentials")
	// ErrUnavailable: no usable answer after the retries. Asking later may help.
	ErrUnavailable = fault.NewKind("registry not available", "run it again later")
	// ErrContent: what the registry serves is not what was asked for: other bytes
	// than the digest says, more of them than the bound, or no answer of a registry.
	ErrContent = fault.NewKind("registry serves other content", "do not use what the registry serves; ask who runs the registry")
	// ErrForeign: the manifest is whole, and it is not that of a context pack.
	ErrForeign = fault.NewKind("not a context pack", "check the reference: it names something that packgate did not publish")
	// ErrMoved: a tag that was just written names another manifest.
	ErrMoved = fault.NewKind("tag moved", "publish from one job at a time, and run it again")
	// ErrUnsupported: the registry does not offer what was asked for.
	ErrUnsupported = fault.NewKind("not supported by the registry", "ask who runs the registry for it, or name what is intended")
	// ErrRefused: the registry refused a request for another reason.
	ErrRefused = fault.NewKind("refused by the registry", "look at what the registry answered; ask who runs the registry")
	// ErrStorage: the folder of a layout cannot be read or written.
	ErrStorage = fault.NewKind("folder not usable", "check the folder, its owner and the space that is left")
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
