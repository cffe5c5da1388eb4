package registry

import (
	"bytes"
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

// The media types of a bundle, which is what a version is in one environment.
const (
	BuildType       = "application/vnd.contextos.context-pack-bundle.v1+json" // the artifactType of its manifest
	EnvironmentType = "application/vnd.contextos.environment.v1+json"         // of what of the environment's catalog binds the pack
)

const (
	annotationEnvironment = "dev.contextos.environment"
	environmentFile       = "environment.json"
)

// Build is a bundle as a registry holds it: a manifest whose subject is that of the version.
// Of its Artifact, Content is the resolved pack.
type Build struct {
	Artifact
	Environment string
	Catalog     []byte // what of the environment's catalog binds the pack
	Of          string // digest of the version's manifest
}

// NewBuild returns the bundle of a version in an environment. It is a pure function: the
// same version, environment and bytes have the same manifest, which knows neither of a
// revision nor of a time. An error is of kind ErrName where the name of the environment
// cannot be part of a tag, and of kind ErrContent where a part is empty or larger than
// MaxContent.
func NewBuild(of *Artifact, environment string, content, catalog []byte) (*Build, error) {
	if err := (BuildTag{Version: of.Version, Environment: environment, Revision: maxRevision, Short: strings.Repeat("0", shortDigest)}).check(); err != nil {
		return nil, err
	}
	for _, part := range [][]byte{content, catalog} {
		if len(part) == 0 || len(part) > MaxContent {
			return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("a part of pack %q in the environment %q has %d bytes, wanted 1 to %d", of.Pack, environment, len(part), MaxContent)}
		}
	}
	layers := []ocispec.Descriptor{descriptorOf(PackType, content), descriptorOf(EnvironmentType, catalog)}
	for i, name := range []string{fileName, environmentFile} {
		layers[i].Annotations = map[string]string{ocispec.AnnotationTitle: name}
	}
	subject := of.descriptor()
	manifest, err := encodeManifest(ocispec.Manifest{ArtifactType: BuildType, Subject: &subject, Layers: layers, Annotations: map[string]string{
		ocispec.AnnotationVersion: of.Version, annotationPack: of.Pack, annotationEnvironment: environment,
	}})
	if err != nil {
		return nil, err
	}
	return &Build{Environment: environment, Catalog: catalog, Of: of.Digest, Artifact: Artifact{
		Pack: of.Pack, Version: of.Version, Content: content, Manifest: manifest,
		Digest: digest.FromBytes(manifest).String(), ContentDigest: layers[0].Digest.String()}}, nil
}

// buildLayers reads the manifest of a bundle, or returns an error of kind ErrForeign that
// says what is not as it is with a bundle.
func buildLayers(manifest []byte, packID, where string) (*Build, []ocispec.Descriptor, error) {
	foreign := func(format string, args ...any) (*Build, []ocispec.Descriptor, error) {
		return nil, nil, &fault.Error{Kind: ErrForeign, Message: fmt.Sprintf("%s is not a bundle of an environment: ", where) + fmt.Sprintf(format, args...)}
	}
	var m ocispec.Manifest
	if json.Unmarshal(manifest, &m) != nil {
		return foreign("its manifest is not the JSON of a manifest")
	}
	switch {
	case m.MediaType != ocispec.MediaTypeImageManifest:
		return foreign("mediaType is %q, wanted %q", m.MediaType, ocispec.MediaTypeImageManifest)
	case m.ArtifactType != BuildType:
		return foreign("artifactType is %q, wanted %q", m.ArtifactType, BuildType)
	case m.Config.MediaType != ocispec.MediaTypeEmptyJSON:
		return foreign("the config is of type %q, wanted %q", m.Config.MediaType, ocispec.MediaTypeEmptyJSON)
	case m.Subject == nil || checkDigest(m.Subject.Digest.String()) != nil:
		return foreign("it refers to no version")
	case len(m.Layers) != 2:
		return foreign("it has %d layers, wanted 2", len(m.Layers))
	case m.Annotations[annotationPack] != packID:
		return foreign("%s is %q, wanted %q", annotationPack, m.Annotations[annotationPack], packID)
	case !isVersion(m.Annotations[ocispec.AnnotationVersion]):
		return foreign("%s is %q, wanted MAJOR.MINOR.PATCH", ocispec.AnnotationVersion, m.Annotations[ocispec.AnnotationVersion])
	case (BuildTag{Version: m.Annotations[ocispec.AnnotationVersion], Environment: m.Annotations[annotationEnvironment], Revision: 1}).check() != nil:
		return foreign("%s is %q, wanted the name of an environment", annotationEnvironment, m.Annotations[annotationEnvironment])
	}
	for i, wanted := range []string{PackType, EnvironmentType} {
		if l := m.Layers[i]; l.MediaType != wanted || checkDigest(l.Digest.String()) != nil {
			return foreign("layer %d is of type %q with digest %q, wanted %q with sha256", i+1, l.MediaType, l.Digest, wanted)
		}
	}
	return &Build{Environment: m.Annotations[annotationEnvironment], Of: m.Subject.Digest.String(), Artifact: Artifact{
		Pack: packID, Version: m.Annotations[ocispec.AnnotationVersion], Manifest: manifest, ContentDigest: m.Layers[0].Digest.String()}}, m.Layers, nil
}

// PushBuild writes a bundle: its parts, and then its manifest by digest. No tag names it
// yet. What is there is not written again, and what was written is read back.
func (r *Repository) PushBuild(ctx context.Context, b *Build) error {
	if b.Pack != r.pack {
		return &fault.Error{Kind: ErrName, Message: fmt.Sprintf("a bundle of %q cannot be pushed to %s, wanted one of %q", b.Pack, r.name, r.pack)}
	}
	if err := r.readBuildBack(ctx, b); !errors.Is(err, ErrNotFound) && !errors.Is(err, errIncomplete) {
		return err
	}
	if err := r.pushContent(ctx, PackType, b.Content); err != nil {
		return err
	}
	if err := r.pushContent(ctx, EnvironmentType, b.Catalog); err != nil {
		return err
	}
	if err := r.store.pushManifest(ctx, b.Manifest); err != nil {
		return err
	}
	err := r.readBuildBack(ctx, b)
	if errors.Is(err, ErrNotFound) {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s accepted %s and does not have it", r.name, b.Digest),
			Hint: "run again, and ask the operator of the registry if it happens again"}
	}
	return err
}

// readBuildBack returns nil where the repository serves exactly this bundle.
func (r *Repository) readBuildBack(ctx context.Context, b *Build) error {
	got, err := r.PullBuild(ctx, b.Digest)
	if err == nil && (!bytes.Equal(got.Content, b.Content) || !bytes.Equal(got.Catalog, b.Catalog)) {
		err = &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s@%s has other content than was pushed to it", r.name, b.Digest)}
	}
	return err
}

// PullBuild returns the bundle of a manifest's digest. Manifest and parts are held against
// their digests and their bounds. The errors are those of Pull, ErrForeign where the
// manifest is not that of a bundle of this pack.
func (r *Repository) PullBuild(ctx context.Context, manifestDigest string) (*Build, error) {
	if err := checkDigest(manifestDigest); err != nil {
		return nil, err
	}
	manifest, err := r.store.manifest(ctx, manifestDigest)
	if err != nil {
		return nil, err
	}
	b, layers, err := buildLayers(manifest, r.pack, r.name+"@"+manifestDigest)
	if err != nil {
		return nil, err
	}
	b.Digest = manifestDigest
	for i, part := range []*[]byte{&b.Content, &b.Catalog} {
		*part, err = r.store.blob(ctx, layers[i])
		if errors.Is(err, ErrNotFound) {
			return nil, &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s has only a part of %s", r.name, manifestDigest),
				Hint: "publish it again, from the same files", Cause: errIncomplete}
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// BuildTag is a tag of a bundle: of a revision, or of one manifest that claims it.
type BuildTag struct {
	Version, Environment string
	Revision             int
	Short                string // the first digits of the digest that the tag belongs to; "" for the tag of the revision
}

const maxRevision = 999_999_999

// buildTag is told from any other tag by the underscore after the version. Its last full
// stop is before the revision, so that an environment may have some of its own.
var buildTag = sync.OnceValue(func() *regexp.Regexp {
	const number = `(?:0|[1-9][0-9]*)`
	return regexp.MustCompile(`^(` + number + `\.` + number + `\.` + number + `)_([A-Za-z0-9_.-]+)\.([1-9][0-9]{0,8})(?:-([0-9a-f]{12}))?$`)
})

// ReadBuildTag tells which bundle a tag is of; false for another tag.
func ReadBuildTag(name string) (BuildTag, bool) {
	m := buildTag().FindStringSubmatch(name)
	if m == nil || !tagPattern().MatchString(name) {
		return BuildTag{}, false
	}
	n, err := strconv.Atoi(m[3])
	return BuildTag{Version: m[1], Environment: m[2], Revision: n, Short: m[4]}, err == nil
}

// check says whether the tag can be one of a registry, and is read as what it is.
func (t BuildTag) check() error {
	if read, ok := ReadBuildTag(t.String()); ok && read == t {
		return nil
	}
	return &fault.Error{Kind: ErrName, Hint: "rename the environment", Message: fmt.Sprintf(
		"environment %q cannot be part of the tag of a bundle of version %s, wanted at most %d of the characters A-Z a-z 0-9 . _ -", t.Environment, t.Version, 128-len(t.Version)-len("_.999999999-000000000000"))}
}

// At returns the tag that belongs to one manifest of the revision. Two publishers of other
// bytes cannot collide in it.
func (t BuildTag) At(manifestDigest string) BuildTag {
	hex := strings.TrimPrefix(manifestDigest, "sha256:")
	t.Short = hex[:min(len(hex), shortDigest)]
	return t
}

// Of reports whether the tag may name the manifest of that digest.
func (t BuildTag) Of(manifestDigest string) bool { return t.Short == "" || t.At(manifestDigest) == t }

// Place returns the tag of the revision.
func (t BuildTag) Place() BuildTag {
	t.Short = ""
	return t
}

// String returns the tag.
func (t BuildTag) String() string {
	s := fmt.Sprintf("%s_%s.%d", t.Version, t.Environment, t.Revision)
	if t.Short != "" {
		s += "-" + t.Short
	}
	return s
}
