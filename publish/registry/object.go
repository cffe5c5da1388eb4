package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// StatusName is the repository of what is said of all packs of a registry path. No pack can
// be called so.
const StatusName = "packgate.status"

// StatusType is the artifactType of a status, and the type of its first layer.
const StatusType = "application/vnd.contextos.status.v1+json"

// TimestampType is the artifactType of a timestamp.
const TimestampType = "application/vnd.contextos.timestamp.v1+json"

// Layer is one file of an object.
type Layer struct {
	Type    string
	Content []byte
}

// Object is a manifest that is about no one version, and refers to nothing.
type Object struct {
	Type   string // its artifactType
	Layers []Layer
	Digest string // of its manifest; set on reading
}

// maxLayers bounds the layers of an object.
const maxLayers = 8

func (o *Object) manifest() ([]byte, error) {
	m := ocispec.Manifest{ArtifactType: o.Type}
	for _, l := range o.Layers {
		if len(l.Content) == 0 || len(l.Content) > MaxContent {
			return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("a layer of an object of type %q has %d bytes, wanted 1 to %d", o.Type, len(l.Content), MaxContent)}
		}
		m.Layers = append(m.Layers, descriptorOf(l.Type, l.Content))
	}
	return encodeManifest(m)
}

// PushObject writes an object, its layers first, and reads it back. It returns the digest
// of its manifest, which no tag names yet.
func (r *Repository) PushObject(ctx context.Context, o *Object) (string, error) {
	manifest, err := o.manifest()
	if err != nil {
		return "", err
	}
	for _, l := range o.Layers {
		if err := r.pushContent(ctx, l.Type, l.Content); err != nil {
			return "", err
		}
	}
	if err := r.store.pushManifest(ctx, manifest); err != nil {
		return "", err
	}
	own := digest.FromBytes(manifest).String()
	_, err = r.PullObject(ctx, own, o.Type)
	if errors.Is(err, ErrNotFound) {
		err = &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s accepted %s and does not have it", r.name, own), Hint: "run again, and ask the operator of the registry if it happens again"}
	}
	return own, err
}

// PullObject returns the object of a type under a digest. Manifest and layers are held
// against their digests and their bounds. An error is of kind ErrNotFound, ErrContent where
// the registry serves other bytes or not all of them, and ErrForeign where it is no such
// object.
func (r *Repository) PullObject(ctx context.Context, manifestDigest, kind string) (*Object, error) {
	if err := checkDigest(manifestDigest); err != nil {
		return nil, err
	}
	src, err := r.store.manifest(ctx, manifestDigest)
	if err != nil {
		return nil, err
	}
	var m ocispec.Manifest
	if json.Unmarshal(src, &m) != nil || m.MediaType != ocispec.MediaTypeImageManifest || m.ArtifactType != kind || m.Subject != nil || len(m.Layers) > maxLayers {
		return nil, &fault.Error{Kind: ErrForeign, Message: fmt.Sprintf("%s@%s is not an object of type %q", r.name, manifestDigest, kind)}
	}
	out := &Object{Type: kind, Digest: manifestDigest}
	for _, l := range m.Layers {
		if checkDigest(l.Digest.String()) != nil {
			return nil, &fault.Error{Kind: ErrForeign, Message: fmt.Sprintf("%s@%s names a layer %q, wanted a sha256 digest", r.name, manifestDigest, l.Digest)}
		}
		content, err := r.store.blob(ctx, l)
		if errors.Is(err, ErrNotFound) {
			return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has only a part of %s", r.name, manifestDigest), Hint: "write it again", Cause: errIncomplete}
		}
		if err != nil {
			return nil, err
		}
		out.Layers = append(out.Layers, Layer{l.MediaType, content})
	}
	return out, nil
}

// Status returns the repository of what is said of all packs of the registry.
func (r *Registry) Status() (*Repository, error) { return r.repository(StatusName) }
