package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	maxAttachments = 1000 // bounds what is read of one manifest. A version is stated, pinned and deprecated a few times in its life.
	// attachTries is how often an attachment is put on the list again. Two writers of
	// one list lose an entry in most rounds, eight in a row hardly.
	attachTries = 8
	// maxAttached bounds the bytes of all attachments of one manifest: whoever may write
	// to a registry must not be able to fill the memory of those who read.
	maxAttached = 64 << 20
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
	if err := r.pushContent(ctx, PackType, a.Content); err != nil {
		return err
	}
	if err := r.store.pushManifest(ctx, a.Manifest); err != nil {
		return err
	}
	err := r.readBack(ctx, a)
	if errors.Is(err, ErrNotFound) {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s accepted %s and does not have it", r.name, a.Digest),
			Hint: "run again, and ask the operator of the registry if it happens again"}
	}
	return err
}

// errIncomplete is the cause where a manifest lacks its pack, which a push fixes.
var errIncomplete = errors.New("the manifest is there, and its pack is not")

// readBack returns nil where the repository serves exactly this artifact.
func (r *Repository) readBack(ctx context.Context, a *Artifact) error {
	got, err := r.Pull(ctx, a.Digest)
	if err != nil {
		return err
	}
	if !bytes.Equal(got.Content, a.Content) {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s@%s has other content than was pushed to it", r.name, a.Digest)}
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
		return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has only a part of %s", r.name, manifestDigest),
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
		return &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("%s:%s names %s, wanted %s, which was written a moment ago", r.name, tag, cmp.Or(now, "nothing"), manifestDigest),
			Hint: "see who else writes to this repository, and publish from one job at a time"}
	}
	return nil
}

// Attach pushes an attachment as a referrer of an artifact that is there and sees to
// it that it is listed. It returns the digest of the attachment's manifest, which is a
// pure function of artifact and attachment: attaching the same twice is one referrer.
//
// Where the registry does not list referrers, they are kept under a tag (OCI
// distribution specification 1.1, "Referrers Tag Schema"), which is read, changed and
// written back. Two writers can lose an entry so; the list is therefore read again and
// the entry put back. An error is of kind ErrMoved where it never stayed.
func (r *Repository) Attach(ctx context.Context, to *Artifact, at Attachment) (string, error) {
	manifest, err := at.manifest(to)
	if err != nil {
		return "", err
	}
	own := digest.FromBytes(manifest).String()
	if listed, err := r.listed(ctx, to, own); err != nil || listed {
		return own, err
	}
	if err := r.pushContent(ctx, at.Type, at.Content); err != nil {
		return "", err
	}
	for i := range attachTries {
		if err := r.store.pushManifest(ctx, manifest); err != nil {
			return "", err
		}
		if listed, err := r.listed(ctx, to, own); err != nil || listed {
			return own, err
		}
		select {
		case <-ctx.Done():
			return "", failed("wait for "+r.name, ctx.Err())
		case <-time.After(rand.N(r.wait<<i + 1)):
		}
	}
	return "", &fault.Error{Kind: ErrMoved,
		Message: fmt.Sprintf("%s does not list %s with %s after %d tries: other writers remove it from the list", r.name, own, to.Digest, attachTries),
		Hint:    "publish from one job at a time, and run again"}
}

// listed says whether the attachment of that digest is there and on the list.
func (r *Repository) listed(ctx context.Context, to *Artifact, own string) (bool, error) {
	list, err := r.store.referrers(ctx, to.descriptor())
	if err != nil || !slices.ContainsFunc(list, func(d ocispec.Descriptor) bool { return d.Digest.String() == own }) {
		return false, err
	}
	_, err = r.attachment(ctx, own, to.Digest)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Attachments returns the bundles and reports that refer to a manifest, sorted by
// digest; nil where there are none. What others attached is passed over. Registries
// fill the list differently, so each entry is judged by its own manifest and not by
// what the list says of it. One that is listed as ours, or as nothing in particular,
// and cannot be read is an error: it may be a revocation.
func (r *Repository) Attachments(ctx context.Context, manifestDigest string) ([]Attachment, error) {
	if err := checkDigest(manifestDigest); err != nil {
		return nil, err
	}
	list, err := r.store.referrers(ctx, ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.Digest(manifestDigest)})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b ocispec.Descriptor) int { return cmp.Compare(a.Digest, b.Digest) })
	list = slices.CompactFunc(list, func(a, b ocispec.Descriptor) bool { return a.Digest == b.Digest })
	if len(list) > maxAttachments {
		return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s lists %d referrers of %s, wanted at most %d", r.name, len(list), manifestDigest, maxAttachments)}
	}
	var found []Attachment
	total := 0
	for _, d := range list {
		at, err := r.attachment(ctx, d.Digest.String(), manifestDigest)
		// The empty type is what registries write that take the type from the config.
		foreign := !slices.Contains([]string{"", ocispec.MediaTypeEmptyJSON, BundleType, ReportType}, d.ArtifactType)
		switch {
		case err == nil && at != nil:
			if total += len(at.Content); total > maxAttached {
				return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("the attachments of %s have more than %d bytes", manifestDigest, maxAttached),
					Hint: "ask the operator of the registry what was attached there"}
			}
			found = append(found, *at)
		case err == nil || foreign && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrContent)):
		case errors.Is(err, ErrNotFound) || errors.Is(err, ErrName):
			return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s lists %s with %s and does not have it", r.name, d.Digest, manifestDigest),
				Hint: "do not rely on what is known about this version; ask the operator of the registry"}
		default:
			return nil, err
		}
	}
	return found, nil
}

// attachment reads one referrer; nil where it is not one of ours.
func (r *Repository) attachment(ctx context.Context, own, subject string) (*Attachment, error) {
	if err := checkDigest(own); err != nil {
		return nil, err
	}
	manifest, err := r.store.manifest(ctx, own)
	if err != nil {
		return nil, err
	}
	var m ocispec.Manifest
	if json.Unmarshal(manifest, &m) != nil || m.MediaType != ocispec.MediaTypeImageManifest || len(m.Layers) != 1 ||
		m.Subject == nil || m.Subject.Digest.String() != subject {
		return nil, nil
	}
	layer := m.Layers[0]
	if layer.MediaType != BundleType && layer.MediaType != ReportType || checkDigest(layer.Digest.String()) != nil {
		return nil, nil
	}
	content, err := r.store.blob(ctx, layer)
	if err != nil {
		return nil, err
	}
	created, _ := time.Parse(time.RFC3339, m.Annotations[ocispec.AnnotationCreated]) // an ornament: the statement has its own time
	return &Attachment{Type: layer.MediaType, Content: content, PredicateType: m.Annotations[annotationPredicate],
		Created: created.UTC(), Digest: own}, nil
}

// pushContent pushes the blobs that a manifest of ours names.
func (r *Repository) pushContent(ctx context.Context, mediaType string, content []byte) error {
	if err := r.store.pushBlob(ctx, descriptorOf(mediaType, content), content); err != nil {
		return err
	}
	return r.store.pushBlob(ctx, descriptorOf("application/octet-stream", emptyConfig), emptyConfig)
}

func checkTag(tag string) error {
	if tagPattern().MatchString(tag) {
		return nil
	}
	return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("%q is not a tag, wanted 1 to 128 of the characters A-Z a-z 0-9 . _ -, and none of . - first", tag)}
}

// verify holds bytes against the digest that they were asked for by.
func verify(content []byte, want, where string) error {
	if got := digest.FromBytes(content).String(); got != want {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s serves bytes of digest %s as %s", where, got, want),
			Hint: "do not use what it serves; ask the operator of the registry"}
	}
	return nil
}
