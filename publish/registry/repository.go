package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
)

// Repository holds the versions of one pack, what is said of them and the tags. It
// serves one goroutine at a time.
type Repository struct {
	store store
	name  string
	pack  string
	wait  time.Duration // before something is looked at again
}

// Name returns the name written out, as in ghcr.io/acme/packs/ctxpack.support.
func (r *Repository) Name() string { return r.name }

// Resolve returns the digest of the manifest that a tag names. In a registry that is
// one HEAD request. An error is of kind ErrNotFound where the tag or the repository is
// not there.
func (r *Repository) Resolve(ctx context.Context, tag string) (string, error) {
	if err := checkTag(tag); err != nil {
		return "", err
	}
	found, err := r.store.resolve(ctx, tag)
	if err != nil {
		return "", err
	}
	if err := checkDigest(found); err != nil {
		return "", &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s:%s names %q, wanted a sha256 digest", r.name, tag, found)}
	}
	return found, nil
}

// referrersTag is how the list of referrers is kept where a registry does not list
// them itself (OCI distribution specification 1.1, "Referrers Tag Schema").
var referrersTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256-[0-9a-f]{64}$`) })

// Tags returns the tags of the repository, sorted, without those that only keep the
// referrers of a manifest. A repository that is not there has none.
func (r *Repository) Tags(ctx context.Context) ([]string, error) {
	tags, err := r.store.tags(ctx)
	if err != nil {
		return nil, err
	}
	tags = slices.DeleteFunc(tags, referrersTag().MatchString)
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

// Push writes the artifact: its blobs, and then its manifest by digest. No tag names
// it yet. What is there is not written again, and what was written is read back. An
// artifact of another pack is an error of kind ErrName.
func (r *Repository) Push(ctx context.Context, a *Artifact) error {
	if a.Pack != r.pack {
		return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("pack %q cannot be pushed to %s, wanted %q", a.Pack, r.name, r.pack)}
	}
	if err := r.readBack(ctx, a); !errors.Is(err, ErrNotFound) && !errors.Is(err, errIncomplete) {
		return err
	}
	if err := r.store.pushBlob(ctx, descriptorOf(PackType, a.Content), a.Content); err != nil {
		return err
	}
	if err := r.pushConfig(ctx); err != nil {
		return err
	}
	if err := r.store.pushManifest(ctx, a.Manifest); err != nil {
		return err
	}
	err := r.readBack(ctx, a)
	if errors.Is(err, ErrNotFound) {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s took %s and does not have it", r.name, a.Digest),
			Hint: "run again, and ask who runs the registry if it stays so"}
	}
	return err
}

// errIncomplete is the cause where a manifest lacks its pack, which a push fixes.
var errIncomplete = errors.New("there is a manifest without its pack")

// readBack returns nil where the repository serves exactly this artifact.
func (r *Repository) readBack(ctx context.Context, a *Artifact) error {
	got, err := r.Pull(ctx, a.Digest)
	if err != nil {
		return err
	}
	if !bytes.Equal(got.Content, a.Content) {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s@%s has other content than was pushed", r.name, a.Digest)}
	}
	return nil
}

// Pull returns the pack of a manifest's digest. Manifest and pack are held against
// their digests and their bounds. An error is of kind ErrNotFound, ErrContent where the
// registry serves other bytes or too many, and ErrForeign where the manifest is not
// that of a version of this pack.
func (r *Repository) Pull(ctx context.Context, manifestDigest string) (*Artifact, error) {
	if err := checkDigest(manifestDigest); err != nil {
		return nil, err
	}
	manifest, err := r.store.manifest(ctx, manifestDigest)
	if err != nil {
		return nil, err
	}
	layer, version, err := layerOf(manifest, r.pack, r.name+"@"+manifestDigest)
	if err != nil {
		return nil, err
	}
	content, err := r.store.blob(ctx, layer)
	if errors.Is(err, ErrNotFound) {
		return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has %s in part", r.name, manifestDigest),
			Hint: "publish the version again, from the same bytes", Cause: errIncomplete}
	}
	if err != nil {
		return nil, err
	}
	return &Artifact{Pack: r.pack, Version: version, Content: content, Manifest: manifest,
		Digest: manifestDigest, ContentDigest: layer.Digest.String()}, nil
}

// Tag puts a manifest that is there under a tag, moving it where it names another,
// and looks at it again afterwards. An error is of kind ErrMoved where the tag then
// names another manifest: somebody else wrote it at the same time, and no registry
// that is known here prevents that.
func (r *Repository) Tag(ctx context.Context, manifestDigest, tag string) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	if err := checkDigest(manifestDigest); err != nil {
		return err
	}
	manifest, err := r.store.manifest(ctx, manifestDigest)
	if err != nil {
		return err
	}
	if err := r.store.tag(ctx, manifest, tag); err != nil {
		return err
	}
	now, err := r.Resolve(ctx, tag)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if now != manifestDigest {
		if now == "" {
			now = "nothing"
		}
		return &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("%s:%s names %s, wanted %s, which was written a moment ago", r.name, tag, now, manifestDigest),
			Hint: "see who else writes to this repository, and publish from one job at a time"}
	}
	return nil
}

func (r *Repository) pushConfig(ctx context.Context) error {
	return r.store.pushBlob(ctx, descriptorOf("application/octet-stream", emptyConfig), emptyConfig)
}

func checkTag(tag string) error {
	if tagPattern().MatchString(tag) {
		return nil
	}
	return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("%q is no tag, wanted 1 to 128 of the characters A-Z a-z 0-9 . _ -, and none of . - first", tag)}
}

// verify holds bytes against the digest that they were asked for by.
func verify(content []byte, want, where string) error {
	if got := digest.FromBytes(content).String(); got != want {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s serves bytes of digest %s as %s", where, got, want),
			Hint: "do not use what it serves; ask who runs the registry"}
	}
	return nil
}
