package sigstore

import (
	"fmt"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestKillPins kills the program while it applies a pins file, before each request after which
// something is there that was not. With the referrers API the line moves the environment on, and
// without, it is the first one.
func TestKillPins(t *testing.T) {
	t.Parallel()
	eachOwnRegistry(t, func(t *testing.T, registry *stack.Registry) {
		k := pinsOfProd(t, registry)
		r, to := k.r, version
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
		k.command = func() *exec.Cmd { cmd, _ := r.job(t, nil, "pin"); return cmd }
		if is := k.each(t, to); is.environment != to {
			t.Errorf("prod runs %s; wanted %s", is.environment, to)
		}
	})
}

// TestKillNewBundle is TestKillPins for a catalog that changes alone: the action is killed that
// moves the environment to the new bundle of the version, once it has published that.
func TestKillNewBundle(t *testing.T) {
	t.Parallel()
	k := pinsOfProd(t, startDocker(t))
	r := k.r
	r.wants(t, "prod", version, r.read(t, packFile))
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "the first version")
	r.action(t, "publish", nil).want(t, 0)
	r.edit(t, "environments/prod.json", `"internal://payments": {`, `"internal://payments": {"capabilities": {"issue_refund": "destructive"},`)
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "the catalog")
	k.after = "/manifests/" + version + "_prod.2"
	k.command = func() *exec.Cmd {
		cmd, _ := r.job(t, map[string]string{"command": "publish"}, "action")
		return cmd
	}
	k.each(t)
	consumer(t, "verify", r.registry+"/"+packID+":env-prod").want(t, usable, packID+"@"+version+"+prod.2")
}

// pinsOfProd returns a repository whose status is kept, and that has no pins of prod yet.
func pinsOfProd(t *testing.T, registry *stack.Registry) *killing {
	t.Helper()
	r, gate := behindOneGate(t, registry.Host)
	r.write(t, "environments/prod.json", pinsOfCatalog.ReplaceAllString(r.read(t, "environments/prod.json"), ""))
	r.keepsStatus(t)
	return &killing{r: r, gate: gate, registry: registry}
}

// killing is a command that is killed at each of its requests that leave something.
type killing struct {
	r        *repository
	gate     *stack.Gate
	registry *stack.Registry
	after    string // it is killed after the first request that ends like that
	command  func() *exec.Cmd
}

// each kills the command at each such request, and holds that the next run ends with what a run
// leaves that nobody killed, which it returns. Nothing that it signs is kept on the disk, so that
// the next run may be that of another machine.
func (k *killing) each(t *testing.T, versions ...string) shape {
	t.Helper()
	restore, err := k.registry.Keep()
	if err != nil {
		t.Fatal(err)
	}
	k.gate.Set(nil)
	run(t, k.command()).want(t, 0)
	requests, wanted := k.gate.Seen(), shapeOf(t, k.r, versions...)
	first := slices.IndexFunc(requests, func(request string) bool { return strings.HasSuffix(request, k.after) })
	kills := 0
	for i, request := range requests {
		if i < first || !leaves(request) {
			continue
		}
		kills++
		t.Run(fmt.Sprintf("before %d", i+1), func(t *testing.T) {
			if err := restore(); err != nil {
				t.Fatal(err)
			}
			killAt(t, k.command(), k.gate, i+1, false)
			run(t, k.command()).want(t, 0)
			k.r.packgate(t, "audit").want(t, 0)
			if got := shapeOf(t, k.r, versions...); !reflect.DeepEqual(got, wanted) {
				t.Errorf("killed before %s there is in the end %+v; wanted %+v", request, got, wanted)
			}
		})
	}
	t.Logf("killed %d times in %d requests", kills, len(requests))
	if first < 0 || kills < 10 {
		t.Errorf("it was killed %d times; wanted more: %q", kills, requests)
	}
	return wanted
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
