package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	oras "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

const (
	// maxPages bounds a list that a registry hands out in pages.
	maxPages = 1000
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
