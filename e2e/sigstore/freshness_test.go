package sigstore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// timestampFile is the workflow that signs timestamps, and nothing else.
const timestampFile = "packs-timestamp.yml"

// timestamping returns the repository in a run of that workflow, which a clock started.
func (r *repository) timestamping() *repository {
	own := *r
	own.run.Workflow, own.run.Event = timestampFile, "schedule"
	return &own
}

// keepsStatus makes the repository one whose publisher keeps a status, which that workflow
// timestamps.
func (r *repository) keepsStatus(t *testing.T) {
	t.Helper()
	r.write(t, ".packgate.yaml", r.read(t, ".packgate.yaml")+"  freshness: {workflow: acme/packs/.github/workflows/"+timestampFile+"@refs/heads/main}\n")
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "freshness")
}

// fresh is consumer for somebody who wants the registry to be fresh.
func fresh(t *testing.T, args ...string) outcome { return consumer(t, wantingFresh(args)...) }

// freshLater is fresh so much later.
func freshLater(t *testing.T, ahead time.Duration, args ...string) outcome {
	t.Helper()
	cmd := consuming(t, stack.Clock, wantingFresh(args)...)
	cmd.Env = append(cmd.Env, "AHEAD="+ahead.String())
	return run(t, cmd)
}

func wantingFresh(args []string) []string {
	return append(args, "--freshness-workflow", "acme/packs/.github/workflows/"+timestampFile+"@refs/heads/main")
}

// TestFreshness lets the workflow of the timestamps say that the registry is the newest. Who
// wants that loads nothing before it, nothing once it is too long ago, and nothing by a
// timestamp of anybody else, the publisher included.
func TestFreshness(t *testing.T) {
	t.Parallel()
	eachRegistry(t, func(t *testing.T, host string) {
		r := newRepository(t, host+"/acme/packs", stack.Run{})
		r.keepsStatus(t)
		newRelease(t, r)
		r.packgate(t, "pin", "prod", packID+"@"+version, "--reason", "first").want(t, 0)
		ref, env := r.registry+"/"+packID+":"+version, r.registry+"/"+packID+":env-prod"
		consumer(t, "verify", ref).want(t, usable) // who does not ask for it
		fresh(t, "verify", ref).want(t, unknown, "has no timestamp")

		publisher := *r
		publisher.run.Event = "workflow_dispatch"
		publisher.packgate(t, "timestamp").want(t, 3, "this run has the workflow")
		fresh(t, "verify", ref).want(t, unknown, "has no timestamp")
		clock := r.timestamping()
		clock.action(t, "publish", nil).want(t, 2)
		clock.packgate(t, "revoke", packID+"@"+version, "--reason", "by a clock").want(t, 2)

		clock.action(t, "timestamp", nil).want(t, 0)
		file := filepath.Join(t.TempDir(), "pack.json")
		for _, one := range []string{ref, env} {
			fresh(t, "verify", one).want(t, usable, "status 2")
		}
		fresh(t, "pull", env, "--output", file).want(t, 0)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A consumer who wants less patience than the timestamp has does not get it.
		fresh(t, "verify", ref, "--freshness-expiry", "2d").want(t, unknown, "valid until")

		other := filepath.Join(t.TempDir(), "pack.json")
		for later, word := range map[time.Duration]string{25 * time.Hour: "is older than", 8 * 24 * time.Hour: "expired at"} {
			freshLater(t, later, "verify", ref).want(t, unknown, word)
			freshLater(t, later, "verify", env).want(t, unknown, word)
			freshLater(t, later, "pull", env, "--output", other).want(t, unknown, word)
			freshLater(t, later, "pull", env, "--output", other, "--freshness-on-stale", "keep 30d").want(t, unknown, word)
			if _, err := os.Stat(other); err == nil {
				t.Errorf("%s after the timestamp a pack is loaded", later)
			}
		}
		// What runs goes on for as long as that is wanted.
		keep := []string{"pull", env, "--output", file, "--freshness-on-stale", "keep 48h"}
		freshLater(t, 25*time.Hour, keep...).want(t, 0)
		freshLater(t, (24+49)*time.Hour, keep...).want(t, unknown)
		if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, content) {
			t.Errorf("what runs was changed: %v", err)
		}
		// Nor does an earlier timestamp count once a later status is known to be there.
		r.action(t, "revoke", map[string]string{"ref": packID + "@" + version, "reason": "leaks"}).want(t, 0)
		fresh(t, "verify", ref).want(t, revoked)
		clock.packgate(t, "timestamp").want(t, 0)
		fresh(t, "verify", ref).want(t, revoked, "status 3")
	})
}
