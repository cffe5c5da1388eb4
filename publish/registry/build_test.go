package registry_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/publish/registry"
)

func TestBuildTags(t *testing.T) {
	for text, want := range map[string]registry.BuildTag{
		"1.2.0_prod.3":                             {Version: "1.2.0", Environment: "prod", Revision: 3},
		"1.2.0_prod.3-0123456789ab":                {Version: "1.2.0", Environment: "prod", Revision: 3, Short: "0123456789ab"},
		"1.2.0_eu.west_1.12":                       {Version: "1.2.0", Environment: "eu.west_1", Revision: 12},
		"1.2.0_prod.3-0123456789ab.7":              {Version: "1.2.0", Environment: "prod.3-0123456789ab", Revision: 7},
		"1.2.0_1.1-012345678901":                   {Version: "1.2.0", Environment: "1", Revision: 1, Short: "012345678901"},
		"1.2.0__.999999999":                        {Version: "1.2.0", Environment: "_", Revision: 999999999},
		"1.2.0_env-prod.1":                         {Version: "1.2.0", Environment: "env-prod", Revision: 1},
		"1.2.0_" + strings.Repeat("e", 120) + ".1": {Version: "1.2.0", Environment: strings.Repeat("e", 120), Revision: 1},
	} {
		if got, ok := registry.ReadBuildTag(text); !ok || got != want || got.String() != text {
			t.Errorf("%s is read as %+v, %v, and written %s", text, got, ok, got)
		}
		if _, ours := registry.ReadTag(text); ours {
			t.Errorf("%s is taken for the tag of a version or an environment", text)
		}
	}
	for _, text := range []string{"", "1.2.0", "1.2.0_", "1.2.0_prod", "1.2.0_prod.", "1.2.0_prod.0", "1.2.0_prod.03", "1.2.0_.3", "1.2_prod.3", "01.2.0_prod.3",
		"1.2.0_prod.3-", "1.2.0_prod.3-0123456789a", "1.2.0_prod.3-0123456789AB", "1.2.0_pr/od.3", "1.2.0+prod.3", "1.2.0_prod.1000000000", "1.2.0_prod.3\n",
		"env-prod", "1.2.0-0123456789ab", "1.2.0_" + strings.Repeat("e", 121) + ".1"} {
		if got, ok := registry.ReadBuildTag(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	d := digest.FromString("bundle").String()
	tag := registry.BuildTag{Version: "1.2.0", Environment: "prod", Revision: 3}
	if own := tag.At(d); own.String() != "1.2.0_prod.3-"+d[7:19] || !own.Of(d) || own.Of(digest.FromString("other").String()) || !tag.Of(d) || own.Place() != tag {
		t.Errorf("the tag is %s, that of its digest %s", tag, own)
	}
}

func TestReferencesToBundles(t *testing.T) {
	const want = "ghcr.io/acme/ctxpack.support:1.2.0_prod.eu.3"
	for _, text := range []string{"ctxpack.support@1.2.0+prod.eu.3", "ctxpack.support@1.2.0_prod.eu.3", want} {
		ref, err := registry.ParseRef(text, "ghcr.io/acme")
		tag, ok := ref.Build()
		if err != nil || !ok || ref.Version != "1.2.0" || tag.Environment != "prod.eu" || tag.Revision != 3 || ref.String() != want {
			t.Errorf("%s: %+v, %v", text, ref, err)
		}
	}
	for _, text := range []string{"ctxpack.support@1.2.0+prod", "ctxpack.support@1.2.0+prod.0", "ctxpack.support@1.2+prod.3", "ctxpack.support@1.2.0_a+prod.3", "ctxpack.support@+prod.3"} {
		if ref, err := registry.ParseRef(text, "ghcr.io/acme"); err == nil {
			t.Errorf("%s is read as %+v", text, ref)
		}
	}
}

func build(t testing.TB, of *registry.Artifact, environment, content string) *registry.Build {
	t.Helper()
	b, err := registry.NewBuild(of, environment, []byte(content), []byte(`{"environment":"`+environment+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBuildsAreWrittenAndRead(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		a := artifact(t, "1.2.0", `{"a":1}`)
		b := build(t, a, "prod", `{"a":2}`)
		if err := repo.Push(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := repo.PushBuild(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		tag := registry.BuildTag{Version: "1.2.0", Environment: "prod", Revision: 1}
		for _, text := range []string{tag.At(b.Digest).String(), tag.String()} {
			if err := repo.Tag(t.Context(), b.Digest, text); err != nil {
				t.Fatal(err)
			}
		}
		got, err := repo.PullBuild(t.Context(), b.Digest)
		if err != nil || !bytes.Equal(got.Content, b.Content) || !bytes.Equal(got.Catalog, b.Catalog) || got.Of != a.Digest || got.Environment != "prod" || got.Version != "1.2.0" || got.ContentDigest != b.ContentDigest {
			t.Errorf("read %+v, %v", got, err)
		}
		// What is attached to the bundle is not attached to its version, nor is the bundle.
		if _, err := repo.Attach(t.Context(), &b.Artifact, registry.Attachment{Type: registry.BundleType, Content: []byte("signed")}); err != nil {
			t.Fatal(err)
		}
		if list, err := repo.Attachments(t.Context(), b.Digest); err != nil || len(list) != 1 {
			t.Errorf("attached to the bundle: %v, %v", list, err)
		}
		if list, err := repo.Attachments(t.Context(), a.Digest); err != nil || len(list) != 0 {
			t.Errorf("attached to the version: %v, %v", list, err)
		}
		// Neither is taken for the other.
		_, err = repo.Pull(t.Context(), b.Digest)
		wantKind(t, err, registry.ErrForeign)
		_, err = repo.PullBuild(t.Context(), a.Digest)
		wantKind(t, err, registry.ErrForeign)
		_, err = repo.PullBuild(t.Context(), digest.FromString("none").String())
		wantKind(t, err, registry.ErrNotFound)
	})
}

func TestNewBuildIsAFunctionOfItsParts(t *testing.T) {
	a := artifact(t, "1.2.0", `{"a":1}`)
	b := build(t, a, "prod", `{"a":2}`)
	if again := build(t, a, "prod", `{"a":2}`); again.Digest != b.Digest {
		t.Errorf("%s and %s", b.Digest, again.Digest)
	}
	others := []*registry.Build{build(t, a, "eu", `{"a":2}`), build(t, a, "prod", `{"a":3}`), build(t, artifact(t, "1.2.1", `{"a":1}`), "prod", `{"a":2}`)}
	other, err := registry.NewBuild(a, "prod", []byte(`{"a":2}`), []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range append(others, other) {
		if other.Digest == b.Digest {
			t.Errorf("%s is also %+v", b.Digest, other)
		}
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(b.Manifest, &m); err != nil || m.Subject.Digest.String() != a.Digest || m.Subject.Size != int64(len(a.Manifest)) {
		t.Errorf("the subject is %+v, %v", m.Subject, err)
	}
	if slices.ContainsFunc([]string{"created", "revision", "time"}, func(word string) bool { return bytes.Contains(b.Manifest, []byte(word)) }) {
		t.Errorf("the manifest knows more than its parts: %s", b.Manifest)
	}
	for _, environment := range []string{"", "a b", "environments/prod.json", strings.Repeat("e", 120)} {
		_, err := registry.NewBuild(a, environment, []byte("{}"), []byte("{}"))
		wantKind(t, err, registry.ErrName)
	}
	_, err = registry.NewBuild(a, "prod", nil, []byte("{}"))
	wantKind(t, err, registry.ErrContent)
	_, err = registry.NewBuild(a, "prod", []byte("{}"), make([]byte, registry.MaxContent+1))
	wantKind(t, err, registry.ErrContent)
}

// Every member of the manifest that is read is one that has to be right.
func TestForeignBuilds(t *testing.T) {
	a := artifact(t, "1.2.0", `{"a":1}`)
	b := build(t, a, "prod", `{"a":2}`)
	for name, change := range map[string]func(*ocispec.Manifest){
		"media type":      func(m *ocispec.Manifest) { m.MediaType = "x" },
		"artifact type":   func(m *ocispec.Manifest) { m.ArtifactType = registry.PackType },
		"config":          func(m *ocispec.Manifest) { m.Config.MediaType = "x" },
		"no subject":      func(m *ocispec.Manifest) { m.Subject = nil },
		"other subject":   func(m *ocispec.Manifest) { m.Subject.Digest = "sha512:00" },
		"one layer":       func(m *ocispec.Manifest) { m.Layers = m.Layers[:1] },
		"three layers":    func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) },
		"layers turned":   func(m *ocispec.Manifest) { slices.Reverse(m.Layers) },
		"another pack":    func(m *ocispec.Manifest) { m.Annotations["dev.contextos.pack.id"] = "ctxpack.other" },
		"no version":      func(m *ocispec.Manifest) { delete(m.Annotations, ocispec.AnnotationVersion) },
		"no environment":  func(m *ocispec.Manifest) { delete(m.Annotations, "dev.contextos.environment") },
		"odd environment": func(m *ocispec.Manifest) { m.Annotations["dev.contextos.environment"] = "a/b" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var m ocispec.Manifest
			if err := json.Unmarshal(b.Manifest, &m); err != nil {
				t.Fatal(err)
			}
			change(&m)
			own := raw(t, f, m, b.Content, b.Catalog, []byte("{}"))
			_, err := f.open(t).PullBuild(t.Context(), own)
			wantKind(t, err, registry.ErrForeign)
		})
	}
}
