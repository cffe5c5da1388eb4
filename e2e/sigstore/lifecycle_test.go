package sigstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestLife takes a version from its publication to its end, and asks at every point
// what may be done with it.
func TestLife(t *testing.T) {
	t.Parallel()
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
		wantOneVersion(t, v.repository)

		v.packgate(t, "pin", "prod", short, "--reason", "first").want(t, 0)
		consumer(t, "verify", v.registry+"/"+packID+":env-prod").want(t, usable, packID+"@"+version+"+prod.1")
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
// refuses the first with different content.
func TestNextVersion(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	v.edit(t, packFile, `"max": 50000`, `"max": 40000`)
	v.action(t, "publish", nil).want(t, 1, "in the registry with different bytes")
	wantOneVersion(t, v.repository)
	v.packgate(t, "bump", "packs/support", "--base", "HEAD^").want(t, 0)
	v.run.Before, v.run.SHA = v.run.SHA, commit(t, v.dir, "bump")
	o := v.action(t, "publish", nil)
	o.want(t, 0)
	list := o.published(t)
	if len(list) != 3 || !strings.Contains(list[0].Ref, packID+":1.1.0@") {
		t.Fatalf("the output published is %v; wanted the version and its bundles", list)
	}
	h := look(t, v.registry, packID)
	if list[0].Digest != h.tags["1.1.0"] || h.tags[version] != v.digest {
		t.Errorf("published %v, and the tags are %v; wanted 1.0.0 as it was", list, h.tags)
	}
	consumer(t, "verify", list[0].Ref).want(t, usable, v.digest[:19])
}

// TestBundles pins an environment with overlays, and changes the overlay alone: what runs
// there is the signed bundle that its record names, and nothing else.
func TestBundles(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	short, env := packID+"@"+version, v.registry+"/"+packID+":env-staging"
	pulled := func(args ...string) string {
		t.Helper()
		o := consumer(t, append([]string{"pull", env, "--output", "-"}, args...)...)
		o.want(t, 0)
		return o.stdout
	}
	v.packgate(t, "pin", "staging", short).want(t, 0)
	first := pulled()
	if !strings.Contains(first, "internal://payments-sandbox") || strings.Contains(v.read(t, packFile), "internal://payments-sandbox") {
		t.Error("what staging runs is not the pack with its overlay")
	}
	if pulled("--source") != v.read(t, packFile) {
		t.Error("the version's own pack has other bytes than those of the pack file")
	}
	v.edit(t, "packs/support/overlays/staging.json", `"value": 5000`, `"value": 4000`)
	v.edit(t, "packs/support/golden/refund-in-staging.case.json", "              5000\n", "              4000\n")
	v.packgate(t, "compile", packFile, "--update").want(t, 0)
	v.run.Before, v.run.SHA = v.run.SHA, commit(t, v.dir, "the snapshot")
	o := v.action(t, "publish", nil)
	o.want(t, 0)
	if list := o.published(t); len(list) != 1 || !strings.Contains(list[0].Ref, ":"+version+"_staging.2@") {
		t.Errorf("the output published is %v; wanted the second bundle of staging", list)
	}
	if pulled() != first {
		t.Error("a bundle that is published runs before it is pinned")
	}
	v.packgate(t, "pin", "staging", short).want(t, 0)
	second := pulled()
	if second == first || !strings.Contains(second, "4000") {
		t.Error("the second bundle does not run")
	}
	file := filepath.Join(t.TempDir(), "pack.json")
	for content, status := range map[string]int{second: usable, strings.Replace(second, "4000", "4001", 1): untrusted} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		consumer(t, "verify", file, "--registry", v.registry).want(t, status)
	}
	v.packgate(t, "audit").want(t, 0)
}
