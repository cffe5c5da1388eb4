package sigstore

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestKillPins kills the program while it applies a pins file, before each request after which
// something is there that was not: a manifest or a tag in the registry, an entry in the log.
// Nothing that it signs is kept on the disk, so that a kill at any other request leaves what the
// next of these leaves, and the next run may be that of another machine. It ends with what a run
// leaves that nobody killed. With the referrers API the line moves the environment on, and
// without, it is the first one.
func TestKillPins(t *testing.T) {
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
			if !strings.HasPrefix(request, "PUT ") && !strings.HasSuffix(request, "/log/entries") || strings.Contains(request, "/blobs/") {
				continue
			}
			kills++
			t.Run(fmt.Sprintf("before %d", i+1), func(t *testing.T) {
				if err := restore(); err != nil {
					t.Fatal(err)
				}
				killPin(t, r, gate, i+1)
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

// killPin kills a run that applies the pins files before its nth request, and runs it again.
func killPin(t *testing.T, r *repository, gate *stack.Gate, n int) {
	t.Helper()
	cmd, _ := r.job(t, nil, "pin")
	gate.Set(func(i int, _ *http.Request) stack.Fault {
		if i != n {
			return stack.Fault{}
		}
		return stack.Fault{Cut: true, Then: func() {
			if err := cmd.Process.Kill(); err != nil {
				t.Errorf("killing it: %v", err)
			}
		}}
	})
	if o := run(t, cmd); o.status != -1 {
		t.Fatalf("ended with status %d at request %d; wanted it killed\n%s%s", o.status, n, o.stdout, o.stderr)
	}
	gate.Set(nil)
	r.packgate(t, "pin").want(t, 0)
	r.packgate(t, "audit").want(t, 0)
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
