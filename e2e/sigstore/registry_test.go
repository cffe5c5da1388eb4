package sigstore

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// The media types of what is attached to a version.
const (
	bundleType  = "application/vnd.dev.sigstore.bundle.v0.3+json"
	reportType  = "application/vnd.contextos.gate-report.v1+json"
	summaryType = "https://slsa.dev/verification_summary/v1"
	// What an environment makes of a version, which refers to it, and what is signed of that.
	buildType       = "application/vnd.contextos.context-pack-bundle.v1+json"
	environmentType = "https://github.com/contextosai/packgate/bundle/v1"
)

// eachRegistry runs a test on a registry with the referrers API and on one without,
// each for itself.
func eachRegistry(t *testing.T, test func(t *testing.T, host string)) {
	t.Helper()
	eachOwnRegistry(t, func(t *testing.T, r *stack.Registry) { test(t, r.Host) })
}

// eachOwnRegistry is eachRegistry for a test that takes what the registry holds back.
func eachOwnRegistry(t *testing.T, test func(t *testing.T, r *stack.Registry)) {
	t.Helper()
	eachKind(t, func(t *testing.T, start func(*testing.T) *stack.Registry) { test(t, start(t)) })
}

// eachKind is eachRegistry for a test that starts several, one for each of its runs.
func eachKind(t *testing.T, test func(t *testing.T, start func(*testing.T) *stack.Registry)) {
	t.Helper()
	for name, start := range map[string]func(*testing.T) *stack.Registry{"referrers API": startReferrers, "tag fallback": startDocker} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start)
		})
	}
}

func startReferrers(t *testing.T) *stack.Registry {
	r := stack.NewReferrersRegistry()
	t.Cleanup(r.Close)
	return r
}

func startDocker(t *testing.T) *stack.Registry {
	t.Helper()
	r, err := stack.NewDockerRegistry(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// referrersRegistry starts a registry with the referrers API and returns its host.
func referrersRegistry(t *testing.T) string {
	t.Helper()
	return startReferrers(t).Host
}

// holding is what a registry holds of one pack.
type holding struct {
	tags     map[string]string       // digest by tag, without those of the referrers' tag fallback
	attached map[string][]attachment // by digest of the manifest that it is attached to
}

// attachment is a referrer with one layer.
type attachment struct {
	kind, predicate string // artifact type; predicate type of a bundle
	digest          string // of the referrer's manifest
	content         []byte
}

// look lists everything that the registry holds of the pack, with oras-go's client.
func look(t *testing.T, registry, pack string) holding {
	t.Helper()
	ctx := t.Context()
	repository, err := remote.NewRepository(registry + "/" + pack)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	h := holding{tags: map[string]string{}, attached: map[string][]attachment{}}
	err = repository.Tags(ctx, "", func(tags []string) error {
		for _, tag := range tags {
			found, err := repository.Resolve(ctx, tag)
			if err != nil {
				return err
			}
			if strings.HasPrefix(tag, "sha256-") {
				continue
			}
			h.tags[tag] = found.Digest.String()
			if h.attached[found.Digest.String()] != nil {
				continue
			}
			if h.attached[found.Digest.String()], err = attachedTo(ctx, repository, found); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// attachedTo returns what refers to a manifest, without what the registry says of it:
// registries differ in that.
func attachedTo(ctx context.Context, repository *remote.Repository, to ocispec.Descriptor) ([]attachment, error) {
	list := []attachment{}
	err := repository.Referrers(ctx, to, "", func(found []ocispec.Descriptor) error {
		for _, d := range found {
			text, err := content.FetchAll(ctx, repository, d)
			if err != nil {
				return err
			}
			var m ocispec.Manifest
			if err := json.Unmarshal(text, &m); err != nil {
				return err
			}
			a := attachment{kind: m.ArtifactType, predicate: m.Annotations["dev.sigstore.bundle.predicateType"], digest: d.Digest.String()}
			for _, layer := range m.Layers {
				if a.content, err = content.FetchAll(ctx, repository, layer); err != nil {
					return err
				}
			}
			list = append(list, a)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b attachment) int { return strings.Compare(a.kind+a.predicate, b.kind+b.predicate) })
	return list, err
}

// kinds are what is attached, as artifact types or, for bundles, predicate types.
func kinds(list []attachment) []string {
	var names []string
	for _, a := range list {
		if a.kind == bundleType {
			names = append(names, a.predicate)
		} else {
			names = append(names, a.kind)
		}
	}
	slices.Sort(names)
	return names
}

// wantOneVersion holds that the registry holds the pack once: the version, and its bundle in
// each environment of the repository, each with two tags of one digest, one signed statement
// and one report. It returns the digest of the version and its bundle.
func wantOneVersion(t *testing.T, r *repository) (digest string, bundle []byte) {
	t.Helper()
	h := look(t, r.registry, packID)
	wanted := 2
	digest, bundle = h.wantOnce(t, version, summaryType)
	environments, err := os.ReadDir(filepath.Join(r.dir, "environments"))
	if err != nil {
		t.Fatal(err)
	}
	for _, environment := range environments {
		place := version + "_" + strings.TrimSuffix(environment.Name(), ".json") + ".1"
		h.wantOnce(t, place, environmentType)
		wanted += 2
	}
	// Each of them is a record of the history, with two tags as well.
	for n := range len(environments) + 1 {
		place := fmt.Sprintf("log-%d", n+1)
		record := h.tags[place]
		if own := place + "-" + strings.TrimPrefix(record, "sha256:")[:min(12, len(record))]; record == "" || h.tags[own] != record {
			t.Errorf("the tags are %v; wanted %s and %s of one digest", h.tags, place, own)
		}
		wanted += 2
	}
	if len(h.tags) != wanted {
		t.Errorf("the tags are %v; wanted %d", h.tags, wanted)
	}
	return digest, bundle
}

// wantOnce holds that a tag and that of its digest name a manifest with one signed statement
// and one report, and returns its digest and the Sigstore bundle of the statement.
func (h holding) wantOnce(t *testing.T, tag, statement string) (digest string, bundle []byte) {
	t.Helper()
	if digest = h.tags[tag]; digest == "" {
		t.Fatalf("there is no tag %s in %v", tag, h.tags)
	}
	if own := tag + "-" + strings.TrimPrefix(digest, "sha256:")[:12]; h.tags[own] != digest {
		t.Errorf("the tags are %v; wanted %s and %s of one digest", h.tags, tag, own)
	}
	// The bundles of the environments refer to the version too.
	attached := slices.DeleteFunc(slices.Clone(h.attached[digest]), func(a attachment) bool { return a.kind == buildType })
	if got, want := kinds(attached), []string{reportType, statement}; !slices.Equal(got, want) {
		t.Fatalf("what is attached to %s is %q; wanted %q", tag, got, want)
	}
	for _, a := range attached {
		if a.kind == bundleType {
			bundle = a.content
		}
	}
	return digest, bundle
}
