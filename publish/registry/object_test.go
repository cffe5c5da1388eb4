package registry_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
)

func TestObjects(t *testing.T) {
	places(t, func(t *testing.T, reg *registry.Registry, _ *registry.Repository) {
		repo, err := reg.Status()
		if err != nil {
			t.Fatal(err)
		}
		o := &registry.Object{Type: registry.StatusType, Layers: []registry.Layer{{registry.StatusType, []byte(`{"a":1}`)}, {registry.BundleType, []byte(`{}`)}}}
		own, err := repo.PushObject(t.Context(), o)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if again, err := repo.PushObject(t.Context(), o); err != nil || again != own {
			t.Errorf("pushed again as %s, %v", again, err)
		}
		if err := repo.Tag(t.Context(), own, "status-0123456789ab"); err != nil {
			t.Errorf("%v", err)
		}
		if found, err := repo.Resolve(t.Context(), "status-0123456789ab"); err != nil || found != own {
			t.Errorf("the tag names %s, %v", found, err)
		}
		got, err := repo.PullObject(t.Context(), own, registry.StatusType)
		if err != nil || got.Digest != own || len(got.Layers) != 2 || !bytes.Equal(got.Layers[0].Content, o.Layers[0].Content) || got.Layers[1].Type != registry.BundleType {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := repo.PullObject(t.Context(), own, registry.TimestampType); !errors.Is(err, registry.ErrForeign) {
			t.Errorf("of another type: %v", err)
		}
		if _, err := repo.PullObject(t.Context(), "sha256:"+sixtyFour, registry.StatusType); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("not there: %v", err)
		}
		if _, err := repo.PushObject(t.Context(), &registry.Object{Type: registry.StatusType, Layers: []registry.Layer{{registry.StatusType, nil}}}); !errors.Is(err, registry.ErrContent) {
			t.Errorf("empty: %v", err)
		}
	})
}

const sixtyFour = "0000000000000000000000000000000000000000000000000000000000000000"

// The repository of the status is none of a pack, by whatever way one asks for it.
func TestTheStatusIsNoPack(t *testing.T) {
	reg, err := registry.Open("oci:./x", registry.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := reg.Status()
	if err != nil {
		t.Fatal(err)
	}
	own, err := repo.PushObject(t.Context(), &registry.Object{Type: registry.StatusType, Layers: []registry.Layer{{registry.StatusType, []byte("{}")}}})
	if err != nil || own == "" {
		t.Fatal(err)
	}
	if packs, err := reg.Packs(t.Context()); err != nil || len(packs) != 0 {
		t.Errorf("packs %q, %v", packs, err)
	}
	if _, err := reg.Repository(registry.StatusName); !errors.Is(err, registry.ErrName) {
		t.Errorf("repository: %v", err)
	}
	if _, err := registry.NewArtifact(registry.StatusName, "1.0.0", []byte("{}")); !errors.Is(err, registry.ErrName) {
		t.Errorf("artifact: %v", err)
	}
	if _, err := registry.ParseRef(registry.StatusName+"@1.0.0", "oci:./x"); !errors.Is(err, registry.ErrName) {
		t.Errorf("reference: %v", err)
	}
}
