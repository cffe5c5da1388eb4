package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// RecordType is the artifactType of a manifest that holds one record of a pack's history.
const RecordType = "application/vnd.contextos.record.v1+json"

const (
	recordPrefix = "log-"
	// MaxRecord bounds the bytes of a record's bundle: a statement in base64, and its proofs.
	MaxRecord = 4 << 20
	// inlineRecord bounds what a record's manifest carries itself, so that reading one
	// costs one request.
	inlineRecord = 64 << 10
)

// RecordTag is a tag of a record: of one record, or of a place in the history.
type RecordTag struct {
	Sequence int
	Short    string // the first digits of the digest that the tag belongs to; "" for the tag of the sequence
}

var recordTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + recordPrefix + `([1-9][0-9]{0,8})(?:-([0-9a-f]{12}))?$`)
})

// ReadRecordTag tells which record a tag is of; false for another tag.
func ReadRecordTag(name string) (RecordTag, bool) {
	m := recordTag().FindStringSubmatch(name)
	if m == nil {
		return RecordTag{}, false
	}
	n, err := strconv.Atoi(m[1])
	return RecordTag{Sequence: n, Short: m[2]}, err == nil
}

// NewRecordTag returns the tag that belongs to one record.
func NewRecordTag(sequence int, manifestDigest string) RecordTag {
	hex := strings.TrimPrefix(manifestDigest, "sha256:")
	return RecordTag{Sequence: sequence, Short: hex[:min(len(hex), shortDigest)]}
}

// Of reports whether the tag may name the manifest of that digest.
func (t RecordTag) Of(manifestDigest string) bool {
	return t.Short == "" || NewRecordTag(t.Sequence, manifestDigest) == t
}

// Place returns the tag of the sequence alone.
func (t RecordTag) Place() RecordTag { return RecordTag{Sequence: t.Sequence} }

// String returns the tag.
func (t RecordTag) String() string {
	s := recordPrefix + strconv.Itoa(t.Sequence)
	if t.Short != "" {
		s += "-" + t.Short
	}
	return s
}

// recordManifest returns the manifest of a record. It is a pure function of the pack_id
// and the bundle.
func recordManifest(packID string, bundle []byte) ([]byte, error) {
	if len(bundle) == 0 || len(bundle) > MaxRecord {
		return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("the record has %d bytes, wanted 1 to %d", len(bundle), MaxRecord)}
	}
	layer := descriptorOf(BundleType, bundle)
	if len(bundle) <= inlineRecord {
		layer.Data = bundle
	}
	return encodeManifest(ocispec.Manifest{ArtifactType: RecordType, Layers: []ocispec.Descriptor{layer},
		Annotations: map[string]string{annotationPack: packID}})
}

// RecordDigest returns the digest of the manifest by which a record of a pack is kept. The
// error is of kind ErrContent where the bundle is none that could be.
func RecordDigest(packID string, bundle []byte) (string, error) {
	manifest, err := recordManifest(packID, bundle)
	if err != nil {
		return "", err
	}
	return digest.FromBytes(manifest).String(), nil
}

// PushRecord writes a record, whose bundle is signed, and puts it under the tag that
// belongs to it alone. It returns the digest of the record's manifest. What is there is
// not written again.
func (r *Repository) PushRecord(ctx context.Context, sequence int, bundle []byte) (string, error) {
	manifest, err := recordManifest(r.pack, bundle)
	if err != nil {
		return "", err
	}
	own := digest.FromBytes(manifest).String()
	if _, err := r.Record(ctx, own); errors.Is(err, ErrNotFound) || errors.Is(err, errIncomplete) {
		if err := r.pushContent(ctx, BundleType, bundle); err != nil {
			return "", err
		}
		if err := r.store.pushManifest(ctx, manifest); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	return own, r.Claim(ctx, own, NewRecordTag(sequence, own).String())
}

// Claim puts a manifest that is there under a tag which names nothing, and looks at it
// again afterwards. An error is of kind ErrMoved where the tag names another manifest,
// before or after.
func (r *Repository) Claim(ctx context.Context, manifestDigest, tag string) error {
	found, err := r.Resolve(ctx, tag)
	switch {
	case err == nil && found == manifestDigest:
		return nil
	case err == nil:
		return &fault.Error{Kind: ErrMoved, Message: fmt.Sprintf("%s:%s is taken: it names %s, not %s", r.name, tag, found, manifestDigest),
			Hint: "see who else writes to this repository, and publish from one job at a time"}
	case !errors.Is(err, ErrNotFound):
		return err
	}
	return r.Tag(ctx, manifestDigest, tag)
}

// Record returns the bundle of a record's manifest. An error is of kind ErrNotFound,
// ErrContent where the registry serves other bytes or too many, or has the manifest
// without its bundle, and ErrForeign where the manifest is not that of a record of this
// pack.
func (r *Repository) Record(ctx context.Context, manifestDigest string) ([]byte, error) {
	if err := checkDigest(manifestDigest); err != nil {
		return nil, err
	}
	manifest, err := r.store.manifest(ctx, manifestDigest)
	if err != nil {
		return nil, err
	}
	layer, err := recordLayer(manifest, r.pack, r.name+"@"+manifestDigest)
	if err != nil {
		return nil, err
	}
	if len(layer.Data) > 0 {
		return layer.Data, verify(layer.Data, layer.Digest.String(), r.name+"@"+manifestDigest)
	}
	content, err := r.store.blob(ctx, layer)
	if errors.Is(err, ErrNotFound) {
		return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has only a part of the record %s", r.name, manifestDigest),
			Hint: "check who can delete from the registry", Cause: errIncomplete}
	}
	return content, err
}

// recordLayer returns the only layer of a record's manifest, or an error of kind
// ErrForeign that says what is not as it is with a record.
func recordLayer(manifest []byte, packID, where string) (layer ocispec.Descriptor, err error) {
	foreign := func(format string, args ...any) (ocispec.Descriptor, error) {
		return layer, &fault.Error{Kind: ErrForeign, Message: fmt.Sprintf("%s is not a record: ", where) + fmt.Sprintf(format, args...),
			Hint: "check who can write to the registry, and delete the tag that names it"}
	}
	var m ocispec.Manifest
	if json.Unmarshal(manifest, &m) != nil {
		return foreign("its manifest is not the JSON of a manifest")
	}
	switch {
	case m.MediaType != ocispec.MediaTypeImageManifest:
		return foreign("mediaType is %q, wanted %q", m.MediaType, ocispec.MediaTypeImageManifest)
	case m.ArtifactType != RecordType:
		return foreign("artifactType is %q, wanted %q", m.ArtifactType, RecordType)
	case m.Subject != nil:
		return foreign("it refers to %s, wanted a manifest that refers to none", m.Subject.Digest)
	case len(m.Layers) != 1:
		return foreign("it has %d layers, wanted 1", len(m.Layers))
	case m.Layers[0].MediaType != BundleType:
		return foreign("its layer is of type %q, wanted %q", m.Layers[0].MediaType, BundleType)
	case m.Annotations[annotationPack] != packID:
		return foreign("%s is %q, wanted %q", annotationPack, m.Annotations[annotationPack], packID)
	case checkDigest(m.Layers[0].Digest.String()) != nil:
		return foreign("the digest of its layer is %q, wanted sha256", m.Layers[0].Digest)
	case m.Layers[0].Size < 1 || m.Layers[0].Size > MaxRecord:
		return foreign("its layer has %d bytes, wanted 1 to %d", m.Layers[0].Size, MaxRecord)
	}
	return m.Layers[0], nil
}
