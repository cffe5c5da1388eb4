package sigstore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestLife takes a version from its publication to its end, and asks at every point
// what may be done with it.
func TestLife(t *testing.T) {
	eachRegistry(t, func(t *testing.T, host string) {
		v := newRelease(t, newRepository(t, host+"/acme/packs", stack.Run{}))
		short := packID + "@" + version
		verify := func(status int, words ...string) {
			t.Helper()
			for _, ref := range []string{v.ref, v.registry + "/" + packID + "@" + v.digest} {
				consumer(t, "verify", ref).want(t, status, words...)
			}
		}
		pull := func(status int) {
			t.Helper()
			file := filepath.Join(t.TempDir(), "pack.json")
			consumer(t, "pull", v.ref, "--output", file).want(t, status)
			content, err := os.ReadFile(file)
			if (err == nil) != (status == 0) || err == nil && string(content) != v.read(t, packFile) {
				t.Errorf("pull ended with %d and wrote %d bytes (%v)", status, len(content), err)
			}
		}
		verify(usable)
		pull(0)
		v.packgate(t, "verify", short).want(t, usable)
		v.packgate(t, "audit").want(t, 0)

		// Again: nothing is done.
		again := v.action(t, "publish", nil)
		again.want(t, 0)
		if list := again.published(t); len(list) != 0 {
			t.Errorf("publishing again published %v; wanted nothing", list)
		}
		wantOneVersion(t, v.registry)

		v.packgate(t, "pin", "prod", short, "--reason", "first").want(t, 0)
		consumer(t, "verify", v.registry+"/"+packID+":env-prod").want(t, usable)
		v.packgate(t, "deprecate", short, "--reason", "superseded").want(t, 0)
		verify(deprecated, "superseded")
		pull(0)
		v.packgate(t, "deprecate", short, "--reason", "superseded").want(t, 0)
		v.packgate(t, "pin", "staging", short, "--reason", "late").want(t, 1, "deprecated")
		v.packgate(t, "pin", "staging", short, "--reason", "late", "--replay").want(t, 0)
		v.action(t, "revoke", map[string]string{"ref": short, "reason": "leaks"}).want(t, 0)
		verify(revoked, "leaks")
		pull(revoked)
		v.packgate(t, "pin", "prod", short, "--reason", "back").want(t, 1, "revoked")
		v.packgate(t, "audit").want(t, 1, `environment "prod" runs "ctxpack.support@1.0.0", which is revoked`)
		v.packgate(t, "log", packID).want(t, 0, version, v.digest[:19], "revoked", "prod")
	})
}

// TestNextVersion publishes a second version, which is compared with the first, and
// refuses the first with other bytes.
func TestNextVersion(t *testing.T) {
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	v.edit(t, packFile, `"max": 50000`, `"max": 40000`)
	v.action(t, "publish", nil).want(t, 1, "in the registry with other bytes")
	wantOneVersion(t, v.registry)
	v.packgate(t, "bump", "packs/support", "--base", "HEAD^").want(t, 0)
	v.run.Before, v.run.SHA = v.run.SHA, commit(t, v.dir, "bump")
	o := v.action(t, "publish", nil)
	o.want(t, 0)
	list := o.published(t)
	if len(list) != 1 {
		t.Fatalf("the output published is %v; wanted one", list)
	}
	h := look(t, v.registry, packID)
	if list[0].Digest != h.tags["1.1.0"] || h.tags[version] != v.digest {
		t.Errorf("published %v, and the tags are %v; wanted 1.0.0 as it was", list, h.tags)
	}
	consumer(t, "verify", list[0].Ref).want(t, usable, v.digest[:19])
}
