package registry_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/publish/registry"
)

func TestAttachmentManifest(t *testing.T) {
	a := artifact(t, "1.2.0", `{"a":1}`)
	want := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"artifactType":"application/vnd.dev.sigstore.bundle.v0.3+json",`+
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"%s","size":2},`+
		`"layers":[{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","digest":"%s","size":1}],`+
		`"subject":{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"%s","size":%d},`+
		`"annotations":{"dev.sigstore.bundle.content":"dsse-envelope","dev.sigstore.bundle.predicateType":"https://slsa.dev/verification_summary/v1",`+
		`"org.opencontainers.image.created":"2026-03-04T05:06:07Z"}}`, digest.FromString("{}"), digest.FromString("b"), a.Digest, len(a.Manifest))
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		if err := repo.Push(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		got, err := repo.Attach(t.Context(), a, bundle("b"))
		if err != nil || got != digest.FromString(want).String() {
			t.Errorf("attached as %q, %v; want the digest of\n%s", got, err, want)
		}
	})
}

// undo lets a write of the list of referrers through and puts back what was there, as
// another writer does who read it before.
func undo(t *testing.T) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		before := httptest.NewRecorder()
		next.ServeHTTP(before, httptest.NewRequest(http.MethodGet, r.URL.Path, nil))
		next.ServeHTTP(w, r)
		content := before.Body.String()
		if before.Code != http.StatusOK {
			empty, err := json.Marshal(ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{}})
			if err != nil {
				t.Error(err)
			}
			content = string(empty)
		}
		back := httptest.NewRequest(http.MethodPut, r.URL.Path, strings.NewReader(content))
		back.Header.Set("Content-Type", ocispec.MediaTypeImageIndex)
		next.ServeHTTP(httptest.NewRecorder(), back)
	}
}

func TestLostEntryIsPutBack(t *testing.T) {
	for _, lost := range []int{1, 2, 7} {
		f := newFake(t)
		a := artifact(t, "1.0.0", "{}")
		if err := f.open(t).Push(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if _, err := f.open(t).Attach(t.Context(), a, bundle("first")); err != nil {
			t.Fatal(err)
		}
		f.on(`^PUT .*/manifests/sha256-`, lost, undo(t))
		if _, err := f.open(t).Attach(t.Context(), a, bundle("second")); err != nil {
			t.Fatalf("lost %d times: %v", lost, err)
		}
		list, err := f.open(t).Attachments(t.Context(), a.Digest)
		if err != nil || len(list) != 2 {
			t.Errorf("lost %d times: attachments are %+v, %v", lost, list, err)
		}
		for _, line := range f.requests() {
			if strings.HasPrefix(line, "DELETE") {
				t.Errorf("asked %s, which many registries refuse", line)
			}
		}
	}
}

func TestEntryThatNeverStays(t *testing.T) {
	f := newFake(t)
	a := artifact(t, "1.0.0", "{}")
	f.on(`^PUT .*/manifests/sha256-`, -1, undo(t))
	err := put(t.Context(), f.open(t), a, bundle("b"))
	if e := wantKind(t, err, registry.ErrMoved); e.Hint == "" {
		t.Errorf("no hint with %q", e.Error())
	}
	f.heal()
	if tags, err := f.open(t).Tags(t.Context()); err != nil || len(tags) != 0 {
		t.Errorf("tags are %q, %v after a failed publishing", tags, err)
	}
	if err := put(t.Context(), f.open(t), a, bundle("b")); err != nil {
		t.Fatal(err)
	}
	wantPublished(t, f.open(t), a, bundle("b"))
}

// referrer returns a manifest that refers to the artifact in a way of others.
func referrer(a *registry.Artifact, artifactType, layerType string, content []byte) ocispec.Manifest {
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifactType,
		Config:  ocispec.Descriptor{MediaType: ocispec.MediaTypeEmptyJSON, Digest: digest.FromString("{}"), Size: 2},
		Subject: &ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.Digest(a.Digest), Size: int64(len(a.Manifest))},
		Layers:  []ocispec.Descriptor{{MediaType: layerType, Digest: digest.FromBytes(content), Size: int64(len(content))}}}
	m.SchemaVersion = 2
	return m
}

func TestForeignReferrersArePassedOver(t *testing.T) {
	f := newFake(t, ggcr.WithReferrersSupport(true))
	a := artifact(t, "1.0.0", "{}")
	if err := put(t.Context(), f.open(t), a, bundle("b")); err != nil {
		t.Fatal(err)
	}
	content := []byte("something else")
	raw(t, f, referrer(a, "application/spdx+json", "application/spdx+json", content), content)
	two := referrer(a, registry.BundleType, registry.BundleType, content)
	two.Layers = append(two.Layers, two.Layers[0])
	raw(t, f, two, content)
	wantPublished(t, f.open(t), a, bundle("b"))
	// A bundle that another tool attached, without our annotations, is a bundle.
	raw(t, f, referrer(a, "", registry.BundleType, content), content)
	wantPublished(t, f.open(t), a, bundle("b"), registry.Attachment{Type: registry.BundleType, Content: content})
}

// list serves these descriptors as the referrers of everything.
func list(t *testing.T, manifests ...ocispec.Descriptor) func(http.ResponseWriter, *http.Request, http.Handler) {
	index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: manifests}
	index.SchemaVersion = 2
	content, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	return serve(ocispec.MediaTypeImageIndex, content)
}

func TestListedAndNotThere(t *testing.T) {
	a := artifact(t, "1.0.0", "{}")
	gone := func(artifactType string) ocispec.Descriptor {
		return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifactType, Digest: digest.FromString("gone"), Size: 4}
	}
	for artifactType, kind := range map[string]error{registry.BundleType: registry.ErrContent, registry.ReportType: registry.ErrContent,
		"": registry.ErrContent, ocispec.MediaTypeEmptyJSON: registry.ErrContent, "application/spdx+json": nil} {
		f := newFake(t)
		if err := put(t.Context(), f.open(t), a); err != nil {
			t.Fatal(err)
		}
		f.on("/referrers/", -1, list(t, gone(artifactType)))
		_, err := f.open(t).Attachments(t.Context(), a.Digest)
		if kind == nil && err != nil {
			t.Errorf("a referrer of type %q that is gone: %v", artifactType, err)
		} else if kind != nil {
			wantKind(t, err, kind)
		}
	}
	f := newFake(t)
	many := make([]ocispec.Descriptor, 1001)
	for i := range many {
		many[i] = gone("application/spdx+json")
		many[i].Digest = digest.FromString(fmt.Sprint(i))
	}
	f.on("/referrers/", -1, list(t, many...))
	f.requests()
	_, err := f.open(t).Attachments(t.Context(), a.Digest)
	wantKind(t, err, registry.ErrContent)
	if n := len(f.requests()); n != 1 {
		t.Errorf("%d requests for a list that is too long, want 1", n)
	}
}

func TestOtherBytesInAnAttachment(t *testing.T) {
	f := newFake(t)
	a := artifact(t, "1.0.0", "{}")
	if err := put(t.Context(), f.open(t), a, bundle("b")); err != nil {
		t.Fatal(err)
	}
	f.on("^GET .*/blobs/"+digest.FromString("b").String(), -1, serve("application/octet-stream", []byte("c")))
	_, err := f.open(t).Attachments(t.Context(), a.Digest)
	wantKind(t, err, registry.ErrContent)
}
