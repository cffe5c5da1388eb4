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
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	oras "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
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
	ErrForbidden = fault.NewKind("not allowed", "ask for permission to do it, or use other credentials")
	// ErrUnavailable: no usable answer after the retries. Asking later may help.
	ErrUnavailable = fault.NewKind("registry not available", "run it again later")
	// ErrContent: what the registry serves is not what was asked for: other bytes
	// than the digest says, more of them than the bound, or no answer of a registry.
	ErrContent = fault.NewKind("registry serves other content", "do not use what the registry serves; ask the operator of the registry")
	// ErrForeign: the manifest is whole, and it is not that of a context pack.
	ErrForeign = fault.NewKind("not a context pack", "check the reference: it names something that packgate did not publish")
	// ErrMoved: a tag that was just written names another manifest.
	ErrMoved = fault.NewKind("tag moved", "publish from one job at a time, and run it again")
	// ErrUnsupported: the registry does not offer what was asked for.
	ErrUnsupported = fault.NewKind("not supported by the registry", "ask the operator of the registry for it, or name something else")
	// ErrRefused: the registry refused a request for another reason.
	ErrRefused = fault.NewKind("refused by the registry", "look at the registry's answer; ask the operator of the registry")
	// ErrStorage: the folder of a layout cannot be read or written.
	ErrStorage = fault.NewKind("folder not usable", "check the folder, its owner and the free space")
)

// Options says how a registry is spoken to. The last six fields are for tests and
// may be left out.
type Options struct {
	Root string // the folder that a relative oci: folder starts at; "" for the working folder
	// Token is sent to TokenHost, and to the token service that this host names, and
	// to no other. Username goes with it; most registries take any with a token.
	Username, Token, TokenHost string
	Version                    string // packgate's own version, for the User-Agent

	HTTP   http.RoundTripper   // sends requests; nil for one that follows the proxy variables
	Getenv func(string) string // looks up DOCKER_CONFIG and HOME; nil for the environment of the process
	// Attempts, FirstWait and Idle bound the attempts at one request, the wait before the
	// second of them, and how long one of them goes on without a byte. Zero means
	// DefaultAttempts, DefaultFirstWait and DefaultIdle.
	Attempts  int
	FirstWait time.Duration
	Idle      time.Duration
	After     func(time.Duration, func()) Timer // calls a function later; nil for time.AfterFunc
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
	return r.repository(packID)
}

// repository returns the repository of a name that can be one.
func (r *Registry) repository(packID string) (*Repository, error) {
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

const (
	maxPages = 1000 // bounds a list that a registry hands out in pages
	// pushTries is how often a push that a registry refused is begun again: an upload
	// whose last answer was lost is gone, and some registries refuse two equal
	// manifests at the same moment.
	pushTries = 3
)

// remoteStore is a repository of a registry.
type remoteStore struct {
	repo *remote.Repository
	name string
}

func (r *Registry) newRemote(packID string) *remoteStore {
	ref := oras.Reference{Registry: r.base.host, Repository: strings.TrimPrefix(r.base.path+"/"+packID, "/")}
	return &remoteStore{name: ref.Registry + "/" + ref.Repository, repo: &remote.Repository{
		Client: r.client, Reference: ref, PlainHTTP: loopback(r.base.host),
		ManifestMediaTypes: []string{ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex},
		TagListMaxPages:    maxPages, ReferrerListMaxPages: maxPages, MaxMetadataBytes: MaxManifest,
		// Deleting the list that was replaced is refused by many registries, and the
		// push would then end in an error though all is there.
		SkipReferrersGC: true,
	}}
}

// loopback says whether a host is this machine, where nobody listens in between.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *remoteStore) resolve(ctx context.Context, tag string) (string, error) {
	d, err := s.repo.Resolve(ctx, tag)
	if err == nil {
		return d.Digest.String(), nil
	}
	doing := fmt.Sprintf("look up %s:%s", s.name, tag)
	if err = failed(doing, err); !errors.Is(err, ErrContent) {
		return "", err
	}
	// A registry may leave the digest out of the answer to HEAD.
	d, body, err := s.repo.FetchReference(ctx, tag)
	if err != nil {
		return "", failed(doing, err)
	}
	return d.Digest.String(), body.Close()
}

func (s *remoteStore) manifest(ctx context.Context, want string) ([]byte, error) {
	_, body, err := s.repo.FetchReference(ctx, want)
	return s.read(body, err, want, MaxManifest)
}

func (s *remoteStore) blob(ctx context.Context, d ocispec.Descriptor) ([]byte, error) {
	if d.Size < 0 || d.Size > MaxContent {
		return nil, tooLarge(s.name+"@"+d.Digest.String(), MaxContent)
	}
	body, err := s.repo.Blobs().Fetch(ctx, d)
	return s.read(body, err, d.Digest.String(), d.Size)
}

// read returns what a body holds, where it is of the wanted digest.
func (s *remoteStore) read(body io.ReadCloser, err error, want string, limit int64) ([]byte, error) {
	doing := fmt.Sprintf("read %s@%s", s.name, want)
	if err != nil {
		return nil, failed(doing, err)
	}
	defer body.Close()
	content, err := readAll(body, limit, s.name+"@"+want)
	if err != nil {
		return nil, failed(doing, err)
	}
	return content, verify(content, want, s.name)
}

// readAll reads what has at most limit bytes.
func readAll(from io.Reader, limit int64, what string) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, tooLarge(what, limit)
	}
	return content, err
}

func tooLarge(what string, limit int64) error {
	return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has more than %d bytes", what, limit),
		Hint: "check the reference: no context pack is that large"}
}

func (s *remoteStore) pushBlob(ctx context.Context, d ocispec.Descriptor, content []byte) error {
	return s.push(ctx, fmt.Sprintf("push %s to %s", d.Digest, s.name), func() (bool, error) { return s.repo.Blobs().Exists(ctx, d) },
		func() error { return s.repo.Blobs().Push(ctx, d, bytes.NewReader(content)) })
}

// push writes what is not there, and begins again where a registry refused it though
// it had nothing against who asks.
func (s *remoteStore) push(ctx context.Context, doing string, there func() (bool, error), write func() error) error {
	var refused error
	for range pushTries {
		found, err := there()
		if err != nil {
			return failed(doing, err)
		}
		if found {
			return nil
		}
		if refused = failed(doing, write()); !fault.Is(refused, ErrRefused, ErrNotFound) {
			return refused
		}
	}
	return refused
}

func (s *remoteStore) pushManifest(ctx context.Context, content []byte) error {
	return s.put(ctx, content, digest.FromBytes(content).String(), func(m oras.ManifestStore, d ocispec.Descriptor) error {
		// Push also puts a referrer on its subject's list where the registry keeps none.
		return m.Push(ctx, d, bytes.NewReader(content))
	})
}

func (s *remoteStore) tag(ctx context.Context, content []byte, tag string) error {
	return s.put(ctx, content, tag, func(m oras.ManifestStore, d ocispec.Descriptor) error {
		return m.PushReference(ctx, d, bytes.NewReader(content), tag)
	})
}

// put writes a manifest. Two equal ones at the same moment are refused by some
// registries, so one that was refused is written again.
func (s *remoteStore) put(ctx context.Context, content []byte, as string, write func(oras.ManifestStore, ocispec.Descriptor) error) error {
	d := descriptorOf(ocispec.MediaTypeImageManifest, content)
	never := func() (bool, error) { return false, nil }
	return s.push(ctx, fmt.Sprintf("push the manifest %s to %s", as, s.name), never,
		func() error { return write(s.repo.Manifests(), d) })
}

func (s *remoteStore) tags(ctx context.Context) ([]string, error) {
	var all []string
	err := s.repo.Tags(ctx, "", func(tags []string) error {
		all = append(all, tags...)
		return nil
	})
	if err = failed("list the tags of "+s.name, err); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return all, err
}

func (s *remoteStore) referrers(ctx context.Context, subject ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	list, err := s.repo.Predecessors(ctx, subject)
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) && answer.StatusCode == 404 {
		// "No such name" can be said of the address as well as of the repository. The
		// tag, which is asked for next, is not there in the second case either.
		if err := s.repo.SetReferrersCapability(false); err != nil {
			return nil, failed("list the referrers in "+s.name, err)
		}
		list, err = s.repo.Predecessors(ctx, subject)
	}
	return list, failed(fmt.Sprintf("list the referrers of %s in %s", subject.Digest, s.name), err)
}

// catalog lists the repositories below the registry's path (distribution registry API,
// "Listing Repositories", which is no part of the OCI specification).
func (r *Registry) catalog(ctx context.Context) ([]string, error) {
	reg := &remote.Registry{RepositoryOptions: remote.RepositoryOptions{
		Client: r.client, Reference: oras.Reference{Registry: r.base.host}, PlainHTTP: loopback(r.base.host), MaxMetadataBytes: MaxManifest}}
	prefix, pages, packs := r.base.path+"/", 0, []string{}
	if r.base.path == "" {
		prefix = ""
	}
	err := reg.Repositories(ctx, "", func(names []string) error {
		if pages++; pages > maxPages {
			return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s lists its repositories on more than %d pages", r.base.host, maxPages)}
		}
		for _, name := range names {
			if pack, ok := strings.CutPrefix(name, prefix); ok && checkPack(pack) == nil {
				packs = append(packs, pack)
			}
		}
		return nil
	})
	if err = failed("list the repositories of "+r.base.host, err); err != nil {
		if fault.Is(err, ErrNotFound, ErrUnauthorized, ErrForbidden, ErrRefused) {
			return nil, &fault.Error{Kind: ErrUnsupported, Message: fmt.Sprintf("%s does not list what it holds", r.base.host), Hint: "name the packs"}
		}
		return nil, err
	}
	slices.Sort(packs)
	return slices.Compact(packs), nil
}
