package sigstore

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/publish/statement"
)

// The drills of docs/operations.md, "Five incidents": each step is a command that the page
// names, run on real services. How long the answer takes is logged, and nothing depends on it.

// drill is an incident that is being answered.
type drill struct {
	*repository
	started time.Time
}

// incident begins to measure: what was published before is no part of the answer.
func incident(r *repository) *drill { return &drill{r, time.Now()} }

// over logs how long the answer took.
func (d *drill) over(t *testing.T) {
	t.Helper()
	t.Logf("answered in %d ms", time.Since(d.started).Milliseconds())
}

// next publishes the next version, with another bound, and returns its number.
func (r *repository) next(t *testing.T, was, is string) string {
	t.Helper()
	r.edit(t, packFile, `"max": `+was, `"max": `+is)
	r.packgate(t, "bump", "packs/support", "--base", "HEAD^").want(t, 0)
	r.run.Before, r.run.SHA = r.run.SHA, commit(t, r.dir, "bump")
	r.action(t, "publish", nil).want(t, 0)
	list := strings.Fields(r.packgate(t, "log", packID).stdout)
	for _, word := range list {
		if strings.Count(word, ".") == 2 && word > version {
			return word
		}
	}
	t.Fatalf("the log has no second version: %q", list)
	return ""
}

// A bad version is found after it was promoted: the environment goes back, and the version is
// revoked.
func TestDrillBadVersion(t *testing.T) {
	t.Parallel()
	r := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{})).repository
	r.packgate(t, "pin", "prod", packID+"@"+version, "--reason", "first").want(t, 0)
	bad := r.next(t, "50000", "40000")
	r.packgate(t, "pin", "prod", packID+"@"+bad, "--reason", "release").want(t, 0)

	d := incident(r)
	r.action(t, "rollback", map[string]string{"environment": "prod", "ref": packID, "reason": "pays twice"}).want(t, 0)
	consumer(t, "verify", r.registry+"/"+packID+":env-prod").want(t, usable, version)
	r.action(t, "revoke", map[string]string{"ref": packID + "@" + bad, "reason": "pays twice"}).want(t, 0)
	consumer(t, "verify", r.registry+"/"+packID+":"+bad).want(t, revoked, "pays twice")
	r.packgate(t, "audit").want(t, 0)
	d.over(t)
	// What is revoked does not come back by another rollback.
	r.action(t, "rollback", map[string]string{"environment": "prod", "ref": packID, "reason": "again"}).want(t, 1)
	consumer(t, "verify", r.registry+"/"+packID+":env-prod").want(t, usable, version)
}

// Somebody ran the workflow who must not publish. What he published is revoked, the workflow
// gets another name, and what the old one signs from then on counts for nothing.
func TestDrillLeakedWorkflow(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	old := v.run
	evil := artifact(t, packID, "6.6.6", strings.Replace(v.read(t, packFile), `"pack_version": "1.0.0"`, `"pack_version": "6.6.6"`, 1))
	place(t, v.registry, evil, "6.6.6")
	attach(t, v.registry, evil, signAs(t, old, summaryOf(t, v.registry, evil)), statement.TypeSummary)
	consumer(t, "verify", v.registry+"/"+packID+"@"+evil.Digest).want(t, usable)

	d := incident(v.repository)
	v.action(t, "revoke", map[string]string{"ref": v.registry + "/" + packID + "@" + evil.Digest, "reason": "none of us published it"}).want(t, 0)
	consumer(t, "verify", v.registry+"/"+packID+"@"+evil.Digest).want(t, revoked)
	until := time.Now().UTC().Add(time.Second).Truncate(time.Second)
	v.run.Workflow = "publish-2.yml"
	config := strings.Replace(v.read(t, ".packgate.yaml"), workflow, v.run.JobWorkflow(), 1)
	config = strings.TrimRight(config, "\n") + "\n  earlier:\n    - issuer: " + stack.GitHubIssuer + "\n      workflow: " + workflow + "\n      until: " + until.Format(time.RFC3339) + "\n"
	v.write(t, ".packgate.yaml", config)
	v.run.Before, v.run.SHA = v.run.SHA, commit(t, v.dir, "another workflow publishes")
	d.over(t)

	// What the old one signed in time counts, the revocation too, and the new one goes on from it.
	v.packgate(t, "verify", packID+"@"+version).want(t, usable)
	v.packgate(t, "verify", v.registry+"/"+packID+"@"+evil.Digest).want(t, revoked)
	time.Sleep(time.Until(until.Add(2 * time.Second)))
	late := artifact(t, packID, "7.0.0", strings.Replace(v.read(t, packFile), `"pack_version": "1.0.0"`, `"pack_version": "7.0.0"`, 1))
	place(t, v.registry, late, "7.0.0")
	attach(t, v.registry, late, signAs(t, old, summaryOf(t, v.registry, late)), statement.TypeSummary)
	v.packgate(t, "verify", v.registry+"/"+packID+"@"+late.Digest).want(t, untrusted, "which is trusted until")
	v.packgate(t, "audit").want(t, 1, "which is trusted until")
}

// The registry is emptied. The audit says so, since the pins file does, and a copy brings it back.
func TestDrillEmptiedRegistry(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	v.packgate(t, "pin", "prod", packID+"@"+version, "--reason", "first").want(t, 0)
	for _, environment := range []string{"prod", "staging"} { // whose catalogs pin versions too
		file := "environments/" + environment + ".json"
		v.write(t, file, pinsOfCatalog.ReplaceAllString(v.read(t, file), ""))
	}
	v.wants(t, "prod", version, v.read(t, packFile))
	v.run.Before, v.run.SHA = v.run.SHA, commit(t, v.dir, "pins")
	v.packgate(t, "audit").want(t, 0)
	tags := slices.Sorted(maps.Keys(look(t, v.registry, packID).tags))
	copies := filepath.Join(t.TempDir(), "copies")
	for _, tag := range tags {
		client(t, stack.ORAS, "copy", "-r", "--from-plain-http", "--to-oci-layout", v.registry+"/"+packID+":"+tag, copies+":"+tag).want(t, 0)
	}

	d := incident(v.repository)
	empty(t, v.registry, packID)
	v.packgate(t, "audit").want(t, 1, "the registry does not have it")
	consumer(t, "verify", v.registry+"/"+packID+":env-prod").want(t, untrusted)
	for _, tag := range tags {
		client(t, stack.ORAS, "copy", "-r", "--from-oci-layout", "--to-plain-http", "--to-distribution-spec", "v1.1-referrers-api", copies+":"+tag, v.registry+"/"+packID+":"+tag).want(t, 0)
	}
	v.packgate(t, "audit").want(t, 0)
	d.over(t)
	consumer(t, "verify", v.registry+"/"+packID+":env-prod").want(t, usable, version)
}

// empty deletes everything that a registry has of a pack: each tag, and each manifest.
func empty(t *testing.T, registry, pack string) {
	t.Helper()
	held := look(t, registry, pack)
	names := slices.Collect(maps.Keys(held.tags))
	for digest, attached := range held.attached {
		names = append(names, digest)
		for _, a := range attached {
			names = append(names, a.digest)
		}
	}
	host, path, _ := strings.Cut(registry, "/")
	for _, name := range names {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+host+"/v2/"+path+"/"+pack+"/manifests/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusAccepted && answer.StatusCode != http.StatusNotFound {
			t.Fatalf("the registry answers %s to deleting %s", answer.Status, name)
		}
	}
	if left := look(t, registry, pack); len(left.tags) > 0 {
		t.Fatalf("the registry still has %v", left.tags)
	}
}

// The service that signs is down. Nothing is published or revoked meanwhile, everything that was
// published still verifies, and the same run does it once the service is back.
func TestDrillSigningDown(t *testing.T) {
	t.Parallel()
	g := gates{&stack.Gate{}, &stack.Gate{}, &stack.Gate{}, &stack.Gate{}, &stack.Gate{}}
	v := newRelease(t, behindGates(t, referrersRegistry(t), g))
	short := packID + "@" + version
	g.fulcio.Set(stack.Always(longest, stack.Any))
	d := incident(v.repository)
	revocation := map[string]string{"ref": short, "reason": "leaks"}
	v.action(t, "revoke", revocation).want(t, 3)
	consumer(t, "verify", v.ref).want(t, usable)
	g.fulcio.Set(nil)
	v.action(t, "revoke", revocation).want(t, 0)
	d.over(t)
	consumer(t, "verify", v.ref).want(t, revoked, "leaks")
}

// A version has to go at once, at night: one run revokes it and names the environment, and the
// rollback that it names has nothing to go back to, so the environment is stopped.
func TestDrillRevocationAtNight(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	short := packID + "@" + version
	v.packgate(t, "pin", "prod", short, "--reason", "first").want(t, 0)

	d := incident(v.repository)
	v.action(t, "revoke", map[string]string{"ref": short, "reason": "leaks"}).want(t, 0, "prod", "packgate rollback prod")
	consumer(t, "verify", v.registry+"/"+packID+":env-prod").want(t, revoked)
	v.action(t, "rollback", map[string]string{"environment": "prod", "ref": packID, "reason": "leaks"}).want(t, 1)
	v.action(t, "rollback", map[string]string{"environment": "prod", "ref": packID, "reason": "leaks", "stop": "true"}).want(t, 0)
	d.over(t)
	consumer(t, "verify", v.registry+"/"+packID+":env-prod").want(t, untrusted)
	if file := filepath.Join(t.TempDir(), "pack.json"); consumer(t, "pull", v.registry+"/"+packID+":env-prod", "--output", file).status == 0 {
		t.Error("what is stopped can be pulled")
	} else if _, err := os.Stat(file); err == nil {
		t.Error("what is stopped is written")
	}
}
