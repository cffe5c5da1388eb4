package sigstore

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestKillPins kills the program while it applies a pins file, before each request after which
// something is there that was not. Nothing that it signs is kept on the disk, so that the next run
// may be that of another machine. It ends with what a run leaves that nobody killed. With the referrers API the line moves the environment on, and
// without, it is the first one.
func TestKillPins(t *testing.T) {
	t.Parallel()
	eachOwnRegistry(t, func(t *testing.T, registry *stack.Registry) {
		r, gate := behindOneGate(t, registry.Host)
		r.write(t, "environments/prod.json", pinsOfCatalog.ReplaceAllString(r.read(t, "environments/prod.json"), ""))
		r.keepsStatus(t)
		to := version
		if strings.HasSuffix(t.Name(), "referrers_API") {
			r.wants(t, "prod", version, r.read(t, packFile))
			r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "the first version")
			r.action(t, "publish", nil).want(t, 0)
			to = r.next(t, "50000", "40000")
		} else {
			newRelease(t, r)
		}
		r.wants(t, "prod", to, r.read(t, packFile))
		r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "what is to run")
		restore, err := registry.Keep()
		if err != nil {
			t.Fatal(err)
		}
		gate.Set(nil)
		r.packgate(t, "pin").want(t, 0, to+" from now on")
		requests, wanted := gate.Seen(), shapeOf(t, r, to)
		if wanted.environment != to {
			t.Fatalf("prod runs %s; wanted %s", wanted.environment, to)
		}
		kills := 0
		for i, request := range requests {
			if !leaves(request) {
				continue
			}
			kills++
			t.Run(fmt.Sprintf("before %d", i+1), func(t *testing.T) {
				if err := restore(); err != nil {
					t.Fatal(err)
				}
				cmd, _ := r.job(t, nil, "pin")
				killAt(t, cmd, gate, i+1, false)
				r.packgate(t, "pin").want(t, 0)
				r.packgate(t, "audit").want(t, 0)
				if got := shapeOf(t, r, to); !reflect.DeepEqual(got, wanted) {
					t.Errorf("killed before %s there is in the end %+v; wanted %+v", request, got, wanted)
				}
			})
		}
		t.Logf("killed %d times in %d requests", kills, len(requests))
		if kills < 10 {
			t.Errorf("applying a pins file was killed %d times; wanted more: %q", kills, requests)
		}
	})
}

// shape is what a registry holds of a pack without what differs between two runs that do the
// same: digests of what is signed.
type shape struct {
	environment string              // the version that prod runs
	tags        []string            // without the ends that are digests
	attached    map[string][]string // by version
	statuses    []string            // tags of the publisher's status
}

func shapeOf(t *testing.T, r *repository, versions ...string) shape {
	t.Helper()
	h := look(t, r.registry, packID)
	s := shape{tags: withoutDigests(h), attached: map[string][]string{}, statuses: withoutDigests(look(t, r.registry, "packgate.status"))}
	for _, v := range append(versions, version) {
		s.attached[v] = kinds(h.attached[h.tags[v]])
		if h.tags[v] == h.tags["env-prod"] {
			s.environment = v
		}
	}
	return s
}

// withoutDigests returns the tags, sorted, each without the beginning of a digest at its end.
func withoutDigests(h holding) (tags []string) {
	for tag, digest := range h.tags {
		hex := strings.TrimPrefix(digest, "sha256:")
		tags = append(tags, strings.TrimSuffix(tag, "-"+hex[:12]))
	}
	slices.Sort(tags)
	return tags
}
