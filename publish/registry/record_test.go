package registry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/publish/registry"
)

func TestRecordTags(t *testing.T) {
	for text, want := range map[string]registry.RecordTag{
		"log-1": {Sequence: 1}, "log-12-0123456789ab": {Sequence: 12, Short: "0123456789ab"}, "log-999999999": {Sequence: 999999999},
	} {
		if got, ours := registry.ReadRecordTag(text); !ours || got != want || got.String() != text {
			t.Errorf("%s is read as %+v, %v, and written %s", text, got, ours, got)
		}
		if _, ours := registry.ReadTag(text); ours {
			t.Errorf("%s is taken for the tag of a version or an environment", text)
		}
	}
	for _, text := range []string{"", "log", "log-", "log-0", "log-01", "log--1", "log-1-", "log-1-0123456789a", "log-1-0123456789abc",
		"log-1-0123456789AB", "log-1000000000", "Log-1", "log-1\n", "env-log-1", "1.0.0"} {
		if got, ours := registry.ReadRecordTag(text); ours {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	d := digest.FromString("record").String()
	tag := registry.NewRecordTag(7, d)
	if tag.String() != "log-7-"+d[7:19] || !tag.Of(d) || tag.Of(digest.FromString("other").String()) || !tag.Place().Of(d) || tag.Place().String() != "log-7" {
		t.Errorf("the tag of record 7 is %s, its place %s", tag, tag.Place())
	}
}

// long is a bundle that a manifest does not carry itself.
func long() []byte { return bytes.Repeat([]byte("b"), 100<<10) }

func TestRecordsAreWrittenAndRead(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		for i, bundle := range [][]byte{[]byte("bundle"), long()} {
			own, err := repo.PushRecord(t.Context(), i+1, bundle)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := repo.PushRecord(t.Context(), i+1, bundle); err != nil || again != own {
				t.Errorf("pushed again: %s, %v; want %s", again, err, own)
			}
			if got, err := repo.Record(t.Context(), own); err != nil || !bytes.Equal(got, bundle) {
				t.Errorf("record of %d bytes, %v; want %d", len(got), err, len(bundle))
			}
			tag := registry.NewRecordTag(i+1, own)
			for _, err := range []error{repo.Claim(t.Context(), own, tag.Place().String()), repo.Claim(t.Context(), own, tag.Place().String())} {
				if err != nil {
					t.Error(err)
				}
			}
			tags, err := repo.Tags(t.Context())
			if err != nil || !slices.Contains(tags, tag.String()) || !slices.Contains(tags, tag.Place().String()) {
				t.Errorf("tags are %q, %v", tags, err)
			}
			if _, err := repo.Pull(t.Context(), own); err == nil {
				t.Error("a record is taken for a pack")
			}
		}
	})
}

func TestRecordManifest(t *testing.T) {
	f := newFake(t)
	own, err := f.open(t).PushRecord(t.Context(), 1, []byte("b"))
	want := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"artifactType":"application/vnd.contextos.record.v1+json",`+
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"%s","size":2},`+
		`"layers":[{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","digest":"%s","size":1,"data":"Yg=="}],`+
		`"annotations":{"dev.contextos.pack.id":"ctxpack.support"}}`, digest.FromString("{}"), digest.FromString("b"))
	if err != nil || own != digest.FromString(want).String() {
		t.Errorf("pushed as %q, %v; want the digest of\n%s", own, err, want)
	}
}

func TestRecordsRefuse(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		for _, bundle := range [][]byte{nil, make([]byte, registry.MaxRecord+1)} {
			_, err := repo.PushRecord(t.Context(), 1, bundle)
			wantKind(t, err, registry.ErrContent)
		}
		_, err := repo.Record(t.Context(), "latest")
		wantKind(t, err, registry.ErrName)
		_, err = repo.Record(t.Context(), digest.FromString("x").String())
		wantKind(t, err, registry.ErrNotFound)
		wantKind(t, repo.Claim(t.Context(), digest.FromString("x").String(), "log-1"), registry.ErrNotFound)
		a := artifact(t, "1.0.0", "{}")
		if err := put(t.Context(), repo, a); err != nil {
			t.Fatal(err)
		}
		_, err = repo.Record(t.Context(), a.Digest)
		wantKind(t, err, registry.ErrForeign)
	})
}

// The place of a record is taken once, whoever takes it.
func TestAPlaceIsTakenOnce(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		first, err := repo.PushRecord(t.Context(), 1, []byte("first"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := repo.PushRecord(t.Context(), 1, []byte("second"))
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.Claim(t.Context(), first, "log-1"); err != nil {
			t.Fatal(err)
		}
		wantKind(t, repo.Claim(t.Context(), second, "log-1"), registry.ErrMoved)
		if got, err := repo.Resolve(t.Context(), "log-1"); err != nil || got != first {
			t.Errorf("log-1 names %s, %v; want %s", got, err, first)
		}
	})
}

// Another writer who takes the place between our look and our write is seen afterwards.
func TestAPlaceIsLookedAtAgain(t *testing.T) {
	f := newFake(t)
	other, err := f.open(t).PushRecord(t.Context(), 1, []byte("other"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := f.open(t).PushRecord(t.Context(), 1, []byte("own"))
	if err != nil {
		t.Fatal(err)
	}
	f.on(`^PUT .*/manifests/log-1$`, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		theirs := httptest.NewRecorder()
		next.ServeHTTP(theirs, httptest.NewRequest(http.MethodGet, strings.Replace(r.URL.Path, "log-1", other, 1), nil))
		again := httptest.NewRequest(http.MethodPut, r.URL.Path, theirs.Body)
		again.Header.Set("Content-Type", ocispec.MediaTypeImageManifest)
		next.ServeHTTP(httptest.NewRecorder(), again)
	})
	wantKind(t, f.open(t).Claim(t.Context(), own, "log-1"), registry.ErrMoved)
}

func TestForeignRecords(t *testing.T) {
	content := long()
	tests := map[string]struct {
		change func(*ocispec.Manifest)
		want   string
		kind   error
	}{
		"image":         {func(m *ocispec.Manifest) { m.ArtifactType = "" }, "artifactType", registry.ErrForeign},
		"no type":       {func(m *ocispec.Manifest) { m.MediaType = "" }, "mediaType", registry.ErrForeign},
		"a referrer":    {func(m *ocispec.Manifest) { m.Subject = &m.Layers[0] }, "it refers to", registry.ErrForeign},
		"no layer":      {func(m *ocispec.Manifest) { m.Layers = nil }, "0 layers", registry.ErrForeign},
		"two layers":    {func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }, "2 layers", registry.ErrForeign},
		"layer's type":  {func(m *ocispec.Manifest) { m.Layers[0].MediaType = "text/plain" }, "its layer", registry.ErrForeign},
		"another pack":  {func(m *ocispec.Manifest) { m.Annotations["dev.contextos.pack.id"] = "ctxpack.other" }, `"ctxpack.other"`, registry.ErrForeign},
		"weak digest":   {func(m *ocispec.Manifest) { m.Layers[0].Digest = digest.SHA512.FromBytes(content) }, "wanted sha256", registry.ErrForeign},
		"huge":          {func(m *ocispec.Manifest) { m.Layers[0].Size = registry.MaxRecord + 1 }, "bytes, wanted 1 to", registry.ErrForeign},
		"negative size": {func(m *ocispec.Manifest) { m.Layers[0].Size = -1 }, "bytes, wanted 1 to", registry.ErrForeign},
		"no bundle":     {func(m *ocispec.Manifest) { m.Layers[0].Digest = digest.FromString("gone") }, "only a part", registry.ErrContent},
		"other data":    {func(m *ocispec.Manifest) { m.Layers[0].Data = []byte("other") }, "serves bytes of digest", registry.ErrContent},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, ggcr.WithReferrersSupport(true))
			own, err := f.open(t).PushRecord(t.Context(), 1, content)
			if err != nil {
				t.Fatal(err)
			}
			got := httptest.NewRecorder()
			f.next.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/v2/acme/packs/"+packID+"/manifests/"+own, nil))
			var m ocispec.Manifest
			if err := json.Unmarshal(got.Body.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			test.change(&m)
			_, err = f.open(t).Record(t.Context(), raw(t, f, m))
			if e := wantKind(t, err, test.kind); !strings.Contains(e.Error(), test.want) {
				t.Errorf("message %q does not say %q", e.Error(), test.want)
			}
		})
	}
}

// A record hides nothing that is attached to a version, and is attached to none.
func TestRecordsAreNoAttachments(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		a := artifact(t, "1.0.0", "{}")
		if err := put(t.Context(), repo, a, bundle("b")); err != nil {
			t.Fatal(err)
		}
		own, err := repo.PushRecord(t.Context(), 1, []byte("record"))
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.Claim(t.Context(), own, "log-1"); err != nil {
			t.Fatal(err)
		}
		wantPublished(t, repo, a, bundle("b"))
		if list, err := repo.Attachments(t.Context(), own); err != nil || len(list) != 0 {
			t.Errorf("attachments of a record: %+v, %v", list, err)
		}
	})
}
