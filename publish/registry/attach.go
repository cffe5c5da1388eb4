package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// The annotations by which cosign and `gh attestation` list a bundle.
const (
	annotationContent   = "dev.sigstore.bundle.content"
	annotationPredicate = "dev.sigstore.bundle.predicateType"
	bundleContent       = "dsse-envelope"
)

const (
	// maxAttachments bounds what is read of one manifest. A version is stated, pinned
	// and deprecated a few times in its life.
	maxAttachments = 1000
	// attachTries is how often an attachment is put on the list again. Two writers of
	// one list lose an entry in most rounds, eight in a row hardly.
	attachTries = 8
)

// Attachment is what is said of a version: a Sigstore bundle or a gate report.
type Attachment struct {
	Type          string    // BundleType or ReportType
	Content       []byte    // the bundle's or the report's bytes
	PredicateType string    // of the bundle's statement; it may be empty
	Created       time.Time // zero for none
	Digest        string    // of the attachment's manifest; set on reading
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
	if err := r.store.pushBlob(ctx, descriptorOf(at.Type, at.Content), at.Content); err != nil {
		return "", err
	}
	if err := r.pushConfig(ctx); err != nil {
		return "", err
	}
	for i := range attachTries {
		if err := r.store.pushManifest(ctx, manifest); err != nil {
			return "", err
		}
		if listed, err := r.listed(ctx, to, own); err != nil || listed {
			return own, err
		}
		if err := pause(ctx, rand.N(r.wait<<i+1)); err != nil {
			return "", failed("wait for "+r.name, err)
		}
	}
	return "", &fault.Error{Kind: ErrMoved,
		Message: fmt.Sprintf("%s does not list %s with %s after %d tries: other writers take it off the list", r.name, own, to.Digest, attachTries),
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

// manifest returns the attachment's own manifest.
func (at Attachment) manifest(to *Artifact) ([]byte, error) {
	if at.Type != BundleType && at.Type != ReportType {
		return nil, &fault.Error{Kind: ErrForeign, Message: fmt.Sprintf("attachment of type %q, wanted %q or %q", at.Type, ReportType, BundleType)}
	}
	if len(at.Content) == 0 || len(at.Content) > MaxContent {
		return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("the attachment has %d bytes, wanted 1 to %d", len(at.Content), MaxContent)}
	}
	notes := map[string]string{}
	if at.Type == BundleType {
		notes[annotationContent] = bundleContent
	}
	if at.PredicateType != "" {
		notes[annotationPredicate] = at.PredicateType
	}
	if !at.Created.IsZero() {
		notes[ocispec.AnnotationCreated] = at.Created.UTC().Format(time.RFC3339)
	}
	subject := to.descriptor()
	return encodeManifest(ocispec.Manifest{ArtifactType: at.Type, Subject: &subject, Annotations: notes,
		Layers: []ocispec.Descriptor{descriptorOf(at.Type, at.Content)}})
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
		switch {
		case err == nil && at != nil:
			if total += len(at.Content); total > maxAttached {
				return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("the attachments of %s have more than %d bytes", manifestDigest, maxAttached),
					Hint: "ask who runs the registry what was attached there"}
			}
			found = append(found, *at)
		case err == nil || foreignEntry(d) && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrContent)):
		case errors.Is(err, ErrNotFound) || errors.Is(err, ErrName):
			return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s lists %s with %s and does not have it", r.name, d.Digest, manifestDigest),
				Hint: "do not rely on what is known of this version; ask who runs the registry"}
		default:
			return nil, err
		}
	}
	return found, nil
}

// maxAttached bounds the bytes of all attachments of one manifest: whoever may write
// to a registry must not be able to fill the memory of those who read.
const maxAttached = 64 << 20

// foreignEntry says whether the list itself names a type that is none of ours. The
// empty type is what registries write that take the type from the config.
func foreignEntry(d ocispec.Descriptor) bool {
	return !slices.Contains([]string{"", ocispec.MediaTypeEmptyJSON, BundleType, ReportType}, d.ArtifactType)
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

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
