package registry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/publish/registry"
)

// serve answers with these bytes, as of that type, claiming nothing about them.
func serve(contentType string, content []byte) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content)
	}
}

func TestOtherBytesThanTheDigest(t *testing.T) {
	a := artifact(t, "1.0.0", `{"a":1}`)
	tests := map[string]struct {
		match string
		do    func(http.ResponseWriter, *http.Request, http.Handler)
	}{
		"manifest":          {"^GET .*/manifests/sha256:", serve(ocispec.MediaTypeImageManifest, artifact(t, "1.0.0", "other").Manifest)},
		"manifest, one bit": {"^GET .*/manifests/sha256:", serve(ocispec.MediaTypeImageManifest, bytes.Replace(a.Manifest, []byte("1.0.0"), []byte("1.0.1"), 1))},
		"pack":              {"^GET .*/blobs/", serve("application/octet-stream", []byte(`{"a":2}`))},
		"longer pack":       {"^GET .*/blobs/", serve("application/octet-stream", []byte(`{"a":1} `))},
		"huge pack":         {"^GET .*/blobs/", serve("application/octet-stream", make([]byte, registry.MaxContent+1))},
		"huge manifest":     {"^GET .*/manifests/sha256:", serve(ocispec.MediaTypeImageManifest, make([]byte, registry.MaxManifest+1))},
		"endless manifest": {"^GET .*/manifests/sha256:", func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}},
		"page of a proxy": {"^GET ", serve("text/html", []byte("<html>log in</html>"))},
		"another type":    {"^GET .*/manifests/sha256:", serve("", a.Manifest[:10])},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if err := put(t.Context(), f.open(t), a); err != nil {
				t.Fatal(err)
			}
			f.on(test.match, -1, test.do)
			_, err := f.open(t).Pull(t.Context(), a.Digest)
			wantKind(t, err, registry.ErrContent)
			wantKind(t, f.open(t).Push(t.Context(), a), registry.ErrContent)
		})
	}
}

// raw puts a manifest and its blobs into the fake past our own code.
func raw(t *testing.T, f *fake, manifest ocispec.Manifest, blobs ...[]byte) string {
	t.Helper()
	send := func(method, path, contentType string, content []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, f.URL+"/v2/acme/packs/"+packID+path, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s %s: %s %s", method, path, resp.Status, said)
		}
	}
	for _, b := range blobs {
		send(http.MethodPost, "/blobs/uploads/?digest="+digest.FromBytes(b).String(), "application/octet-stream", b)
	}
	content, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	own := digest.FromBytes(content).String()
	send(http.MethodPut, "/manifests/"+own, ocispec.MediaTypeImageManifest, content)
	return own
}

func TestForeign(t *testing.T) {
	content := []byte(`{"a":1}`)
	tests := map[string]struct {
		change func(*ocispec.Manifest)
		want   string
	}{
		"image":         {func(m *ocispec.Manifest) { m.ArtifactType = "" }, "artifactType"},
		"no type":       {func(m *ocispec.Manifest) { m.MediaType = "" }, "mediaType"},
		"config":        {func(m *ocispec.Manifest) { m.Config.MediaType = ocispec.MediaTypeImageConfig }, "the config"},
		"no layer":      {func(m *ocispec.Manifest) { m.Layers = nil }, "0 layers"},
		"two layers":    {func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }, "2 layers"},
		"layer's type":  {func(m *ocispec.Manifest) { m.Layers[0].MediaType = "text/plain" }, "its layer"},
		"another pack":  {func(m *ocispec.Manifest) { m.Annotations["dev.contextos.pack.id"] = "ctxpack.other" }, `"ctxpack.other"`},
		"no version":    {func(m *ocispec.Manifest) { delete(m.Annotations, ocispec.AnnotationVersion) }, "MAJOR.MINOR.PATCH"},
		"weak digest":   {func(m *ocispec.Manifest) { m.Layers[0].Digest = digest.SHA512.FromBytes(content) }, "wanted sha256"},
		"broken digest": {func(m *ocispec.Manifest) { m.Layers[0].Digest = "sha256:../../../x" }, "wanted sha256"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var m ocispec.Manifest
			if err := json.Unmarshal(artifact(t, "1.0.0", string(content)).Manifest, &m); err != nil {
				t.Fatal(err)
			}
			test.change(&m)
			own := raw(t, f, m, content)
			_, err := f.open(t).Pull(t.Context(), own)
			if e := wantKind(t, err, registry.ErrForeign); !strings.Contains(e.Error(), test.want) {
				t.Errorf("message %q does not say %q", e.Error(), test.want)
			}
		})
	}
}

func TestManifestWithoutItsPack(t *testing.T) {
	f := newFake(t)
	a := artifact(t, "1.0.0", `{"a":1}`)
	var m ocispec.Manifest
	if err := json.Unmarshal(a.Manifest, &m); err != nil {
		t.Fatal(err)
	}
	if own := raw(t, f, m); own != a.Digest {
		t.Fatalf("digest is %q, want %q", own, a.Digest)
	}
	_, err := f.open(t).Pull(t.Context(), a.Digest)
	if e := wantKind(t, err, registry.ErrContent); !strings.Contains(e.Error(), "its pack is not") {
		t.Errorf("message is %q", e.Error())
	}
	if err := put(t.Context(), f.open(t), a); err != nil {
		t.Fatal(err)
	}
	wantPublished(t, f.open(t), a)
	f.on("^GET .*/blobs/", -1, status(404))
	wantKind(t, f.open(t).Push(t.Context(), a), registry.ErrContent)
}

func TestAPackThatClaimsToBeHuge(t *testing.T) {
	f := newFake(t)
	var m ocispec.Manifest
	if err := json.Unmarshal(artifact(t, "1.0.0", "{}").Manifest, &m); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{registry.MaxContent + 1, -1, 1 << 62} {
		m.Layers[0].Size = size
		own := raw(t, f, m)
		f.requests()
		_, err := f.open(t).Pull(t.Context(), own)
		wantKind(t, err, registry.ErrContent)
		for _, line := range f.requests() {
			if strings.Contains(line, "/blobs/") {
				t.Errorf("a pack of %d bytes was asked for: %s", size, line)
			}
		}
	}
}

func TestNewArtifact(t *testing.T) {
	const want = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
		`"artifactType":"application/vnd.contextos.context-pack.v2+json",` +
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},` +
		`"layers":[{"mediaType":"application/vnd.contextos.context-pack.v2+json","digest":"sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862","size":7,` +
		`"annotations":{"org.opencontainers.image.title":"pack.json"}}],` +
		`"annotations":{"dev.contextos.pack.class":"minor","dev.contextos.pack.id":"ctxpack.support","org.opencontainers.image.version":"1.2.0"}}`
	for range 20 { // maps have an order of their own each time
		a := artifact(t, "1.2.0", `{"a":1}`)
		if string(a.Manifest) != want {
			t.Fatalf("manifest is\n%s\nwant\n%s", a.Manifest, want)
		}
		if a.Digest != digest.FromString(want).String() || a.ContentDigest != digest.FromString(`{"a":1}`).String() {
			t.Fatalf("digests are %q and %q", a.Digest, a.ContentDigest)
		}
	}
	for version, class := range map[string]string{"1.0.0": "major", "0.0.0": "major", "0.1.0": "minor", "1.10.0": "minor", "1.0.10": "patch", "0.0.1": "patch", "10.0.0": "major"} {
		if m := string(artifact(t, version, "{}").Manifest); !strings.Contains(m, `"dev.contextos.pack.class":"`+class+`"`) {
			t.Errorf("manifest of %s is %s, want class %s", version, m, class)
		}
	}
}

func TestNewArtifactRefuses(t *testing.T) {
	for _, version := range []string{"", "1", "1.2", "v1.2.3", "1.2.3-rc.1", "1.2.3+b", "01.2.3", "1.2.3\n", strings.Repeat("1", 200) + ".0.0"} {
		_, err := registry.NewArtifact(packID, version, []byte("{}"))
		wantKind(t, err, registry.ErrName)
	}
	for _, pack := range []string{"", "A", "a/b", "a:b", "a@b", ".", "..", "-a", "a.", "a..b", "a___b", "é", strings.Repeat("a", 200), "a\n"} {
		_, err := registry.NewArtifact(pack, "1.0.0", []byte("{}"))
		wantKind(t, err, registry.ErrName)
	}
	for _, size := range []int{0, registry.MaxContent + 1} {
		_, err := registry.NewArtifact(packID, "1.0.0", make([]byte, size))
		wantKind(t, err, registry.ErrContent)
	}
}
