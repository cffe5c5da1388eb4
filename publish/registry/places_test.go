package registry_test

import (
	"slices"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/contextosai/packgate/publish/registry"
)

// places are the three kinds of place that must not differ in what they do.
func places(t *testing.T, test func(t *testing.T, reg *registry.Registry, repo *registry.Repository)) {
	t.Run("referrers API", func(t *testing.T) {
		reg, repo := open(t, newFake(t, ggcr.WithReferrersSupport(true)).host()+"/acme/packs", options())
		test(t, reg, repo)
	})
	t.Run("referrers tag", func(t *testing.T) {
		reg, repo := open(t, newFake(t).host(), options())
		test(t, reg, repo)
	})
	t.Run("layout", func(t *testing.T) {
		o := options()
		o.Root = t.TempDir()
		reg, repo := open(t, "oci:./registry", o)
		test(t, reg, repo)
	})
}

func TestPublishAndRead(t *testing.T) {
	places(t, func(t *testing.T, reg *registry.Registry, repo *registry.Repository) {
		first, second := artifact(t, "1.2.0", `{"a":1}`), artifact(t, "1.3.0", `{"a":2}`)
		for _, a := range []*registry.Artifact{first, second, first} {
			if err := put(t.Context(), repo, a, bundle("bundle of "+a.Version), report("{}")); err != nil {
				t.Fatal(err)
			}
		}
		wantPublished(t, repo, first, bundle("bundle of 1.2.0"), report("{}"))
		wantPublished(t, repo, second, bundle("bundle of 1.3.0"), report("{}"))
		tags, err := repo.Tags(t.Context())
		want := []string{"1.2.0", registry.ContentTag("1.2.0", first.Digest), "1.3.0", registry.ContentTag("1.3.0", second.Digest)}
		if err != nil || !slices.Equal(tags, want) {
			t.Errorf("tags are %q, %v; want %q", tags, err, want)
		}
		packs, err := reg.Packs(t.Context())
		if err != nil || !slices.Equal(packs, []string{packID}) {
			t.Errorf("packs are %q, %v", packs, err)
		}
		if want := reg.String() + "/" + packID; repo.Name() != want {
			t.Errorf("name is %q, want %q", repo.Name(), want)
		}
	})
}

func TestNothingThere(t *testing.T) {
	places(t, func(t *testing.T, reg *registry.Registry, repo *registry.Repository) {
		a := artifact(t, "1.0.0", "{}")
		if tags, err := repo.Tags(t.Context()); err != nil || tags != nil {
			t.Errorf("tags are %q, %v", tags, err)
		}
		if list, err := repo.Attachments(t.Context(), a.Digest); err != nil || list != nil {
			t.Errorf("attachments are %v, %v", list, err)
		}
		if packs, err := reg.Packs(t.Context()); err != nil || len(packs) != 0 {
			t.Errorf("packs are %q, %v", packs, err)
		}
		_, err := repo.Resolve(t.Context(), "1.0.0")
		wantKind(t, err, registry.ErrNotFound)
		_, err = repo.Pull(t.Context(), a.Digest)
		wantKind(t, err, registry.ErrNotFound)
		wantKind(t, repo.Tag(t.Context(), a.Digest, "1.0.0"), registry.ErrNotFound)
	})
}

func TestPinMoves(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		first, second := artifact(t, "1.0.0", "1"), artifact(t, "1.1.0", "2")
		for _, a := range []*registry.Artifact{first, second} {
			if err := put(t.Context(), repo, a); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range []*registry.Artifact{first, second, first} {
			if err := repo.Tag(t.Context(), a.Digest, "env-prod"); err != nil {
				t.Fatal(err)
			}
			if got, err := repo.Resolve(t.Context(), "env-prod"); err != nil || got != a.Digest {
				t.Fatalf("env-prod names %q, %v; want %q", got, err, a.Digest)
			}
		}
		wantPublished(t, repo, second)
	})
}

func TestAttachTwiceIsOne(t *testing.T) {
	places(t, func(t *testing.T, _ *registry.Registry, repo *registry.Repository) {
		a := artifact(t, "1.0.0", "1")
		if err := repo.Push(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		first, err := repo.Attach(t.Context(), a, bundle("one"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := repo.Attach(t.Context(), a, bundle("one"))
		if err != nil || again != first {
			t.Fatalf("attached again as %q, %v; want %q", again, err, first)
		}
		list, err := repo.Attachments(t.Context(), a.Digest)
		if err != nil || len(list) != 1 || list[0].Digest != first {
			t.Fatalf("attachments are %+v, %v", list, err)
		}
	})
}

func TestWrongArguments(t *testing.T) {
	places(t, func(t *testing.T, reg *registry.Registry, repo *registry.Repository) {
		a := artifact(t, "1.0.0", "1")
		_, err := reg.Repository("CtxPack")
		wantKind(t, err, registry.ErrName)
		_, err = repo.Resolve(t.Context(), "../x")
		wantKind(t, err, registry.ErrName)
		_, err = repo.Pull(t.Context(), "sha256:../../x")
		wantKind(t, err, registry.ErrName)
		_, err = repo.Attachments(t.Context(), "1.0.0")
		wantKind(t, err, registry.ErrName)
		wantKind(t, repo.Tag(t.Context(), a.Digest, "not a tag"), registry.ErrName)
		wantKind(t, repo.Tag(t.Context(), "latest", "1.0.0"), registry.ErrName)
		_, err = repo.Attach(t.Context(), a, registry.Attachment{Type: "text/plain", Content: []byte("x")})
		wantKind(t, err, registry.ErrForeign)
		_, err = repo.Attach(t.Context(), a, registry.Attachment{Type: registry.ReportType})
		wantKind(t, err, registry.ErrContent)
		other, err := registry.NewArtifact("ctxpack.other", "1.0.0", []byte("1"))
		if err != nil {
			t.Fatal(err)
		}
		wantKind(t, repo.Push(t.Context(), other), registry.ErrName)
	})
}
