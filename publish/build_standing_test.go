package publish

import (
	"testing"

	"github.com/contextosai/packgate/publish/registry"
)

// A bundle whose bytes have several tags and no statement gets the same revision in every run.
func TestStandingOfSeveralTags(t *testing.T) {
	r, err := registry.Open("oci:"+t.TempDir(), registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := r.Repository("ctxpack.a")
	if err != nil {
		t.Fatal(err)
	}
	b := &registry.Build{Artifact: registry.Artifact{Pack: "ctxpack.a", Version: "1.0.0", Digest: "sha256:aa"}, Environment: "prod"}
	for range 50 {
		s := &builds{version: "1.0.0", tags: map[registry.BuildTag]string{}, holdings: map[string]*buildHolding{b.Digest: {digest: b.Digest}}}
		for revision := 1; revision <= 8; revision++ {
			s.tags[registry.BuildTag{Version: "1.0.0", Environment: "prod", Revision: revision}] = b.Digest
		}
		if got := s.standing(repo, b).Name.Revision; got != 1 {
			t.Fatalf("the revision is %d, wanted 1", got)
		}
	}
}
