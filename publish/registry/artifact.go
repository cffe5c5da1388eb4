package registry

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// The media types of what packgate keeps in a registry.
const (
	PackType = "application/vnd.contextos.context-pack.v2+json" // the artifactType of a pack's manifest and the type of its layer
	// BundleType is the type of a Sigstore bundle, version 0.3. Cosign and
	// `gh attestation verify` look for it.
	BundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"
	ReportType = "application/vnd.contextos.gate-report.v1+json" // the type of a gate report in JSON
)

// The annotations of a pack's manifest beside org.opencontainers.image.version.
const (
	annotationPack  = "dev.contextos.pack.id"
	annotationClass = "dev.contextos.pack.class"
	fileName        = "pack.json" // what a client that knows nothing of packs calls the layer
)

// The annotations by which cosign and `gh attestation` list a bundle.
const (
	annotationContent   = "dev.sigstore.bundle.content"
	annotationPredicate = "dev.sigstore.bundle.predicateType"
	bundleContent       = "dsse-envelope"
)

// The bounds of what is read and written, in bytes.
const (
	MaxManifest = 4 << 20  // bounds a manifest. Registries commonly refuse larger ones (OCI distribution specification 1.1, "Pushing Manifests").
	MaxContent  = 16 << 20 // bounds the bytes of a pack and of an attachment
)

var emptyConfig = []byte("{}")

// Artifact is one version of a pack as a registry holds it.
type Artifact struct {
	Pack, Version string // pack_id, and pack_version as MAJOR.MINOR.PATCH
	Content       []byte // the pack's bytes
	Manifest      []byte // the bytes of the OCI manifest
	Digest        string // of Manifest
	ContentDigest string // of Content
}

// NewArtifact returns the artifact of a pack's bytes. It is a pure function: the same
// pack_id, version and bytes have the same manifest, to the byte, on every machine and
// at every time. An error is of kind ErrName where pack_id or version cannot be the
// name of anything in a registry, and of kind ErrContent where the pack is empty or
// larger than MaxContent.
//
// The shape follows the OCI image specification 1.1, "Guidelines for Artifact Usage":
// an artifactType, the empty config, one layer.
func NewArtifact(packID, version string, content []byte) (*Artifact, error) {
	if err := checkPack(packID); err != nil {
		return nil, err
	}
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	if len(content) == 0 || len(content) > MaxContent {
		return nil, &fault.Error{Kind: ErrContent,
			Message: fmt.Sprintf("pack %q has %d bytes, wanted 1 to %d", packID, len(content), MaxContent)}
	}
	layer := descriptorOf(PackType, content)
	layer.Annotations = map[string]string{ocispec.AnnotationTitle: fileName}
	manifest, err := encodeManifest(ocispec.Manifest{ArtifactType: PackType, Layers: []ocispec.Descriptor{layer},
		Annotations: map[string]string{
			ocispec.AnnotationVersion: version,
			annotationPack:            packID,
			annotationClass:           declaredClass(version),
		}})
	if err != nil {
		return nil, err
	}
	return &Artifact{Pack: packID, Version: version, Content: content, Manifest: manifest,
		Digest: digest.FromBytes(manifest).String(), ContentDigest: layer.Digest.String()}, nil
}

// descriptor returns what a referrer names as its subject.
func (a *Artifact) descriptor() ocispec.Descriptor {
	return descriptorOf(ocispec.MediaTypeImageManifest, a.Manifest)
}

// declaredClass returns the class of change that a version number itself declares.
// What the change really was is in the signed statement.
func declaredClass(version string) string {
	switch {
	case strings.HasSuffix(version, ".0.0"):
		return "major"
	case strings.HasSuffix(version, ".0"):
		return "minor"
	}
	return "patch"
}

func descriptorOf(mediaType string, content []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
}

// encodeManifest completes an image manifest with what all of ours have in common.
// Members are written in the order of the struct and annotations by name, so equal
// manifests are equal bytes.
func encodeManifest(m ocispec.Manifest) ([]byte, error) {
	m.Versioned = specs.Versioned{SchemaVersion: 2}
	m.MediaType = ocispec.MediaTypeImageManifest
	m.Config = descriptorOf(ocispec.MediaTypeEmptyJSON, emptyConfig)
	out, err := json.Marshal(m)
	if err != nil {
		return nil, &fault.Error{Kind: ErrContent, Message: "cannot write a manifest", Cause: err}
	}
	return out, nil
}

// layerOf returns the only layer of the manifest of a pack, or an error of kind
// ErrForeign that says what is not as it is with a pack.
func layerOf(manifest []byte, packID, where string) (ocispec.Descriptor, string, error) {
	foreign := func(format string, args ...any) (ocispec.Descriptor, string, error) {
		return ocispec.Descriptor{}, "", &fault.Error{Kind: ErrForeign,
			Message: fmt.Sprintf("%s is not a context pack: ", where) + fmt.Sprintf(format, args...)}
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return foreign("its manifest is not the JSON of a manifest")
	}
	version := m.Annotations[ocispec.AnnotationVersion]
	switch {
	case m.MediaType != ocispec.MediaTypeImageManifest:
		return foreign("mediaType is %q, wanted %q", m.MediaType, ocispec.MediaTypeImageManifest)
	case m.ArtifactType != PackType:
		return foreign("artifactType is %q, wanted %q", m.ArtifactType, PackType)
	case m.Config.MediaType != ocispec.MediaTypeEmptyJSON:
		return foreign("the config is of type %q, wanted %q", m.Config.MediaType, ocispec.MediaTypeEmptyJSON)
	case len(m.Layers) != 1:
		return foreign("it has %d layers, wanted 1", len(m.Layers))
	case m.Layers[0].MediaType != PackType:
		return foreign("its layer is of type %q, wanted %q", m.Layers[0].MediaType, PackType)
	case m.Annotations[annotationPack] != packID:
		return foreign("%s is %q, wanted %q", annotationPack, m.Annotations[annotationPack], packID)
	case !isVersion(version):
		return foreign("%s is %q, wanted MAJOR.MINOR.PATCH", ocispec.AnnotationVersion, version)
	case m.Layers[0].Digest.Algorithm() != digest.SHA256 || m.Layers[0].Digest.Validate() != nil:
		return foreign("the digest of its layer is %q, wanted sha256", m.Layers[0].Digest)
	}
	return m.Layers[0], version, nil
}

// Attachment is what is said of a version: a Sigstore bundle or a gate report.
type Attachment struct {
	Type          string    // BundleType or ReportType
	Content       []byte    // the bundle's or the report's bytes
	PredicateType string    // of the bundle's statement; it may be empty
	Created       time.Time // zero for none
	Digest        string    // of the attachment's manifest; set on reading
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
