package sigstore

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// What verify ends with.
const (
	usable     = 0
	deprecated = 3
	revoked    = 4
	untrusted  = 5
	unknown    = 6
)

// release is a published version.
type release struct {
	*repository
	ref, digest string
	bundle      []byte
}

// newRelease publishes a version from the action.
func newRelease(t *testing.T, r *repository) release {
	t.Helper()
	r.action(t, "publish", nil).want(t, 0)
	return releaseOf(t, r)
}

// releaseOf returns the version that a repository has published.
func releaseOf(t *testing.T, r *repository) release {
	t.Helper()
	out := release{repository: r, ref: r.registry + "/" + packID + ":" + version}
	out.digest, out.bundle = wantOneVersion(t, r)
	return out
}

// changed returns the bundle after a change of its JSON.
func changed(t *testing.T, bundle []byte, change func(material, envelope map[string]any)) []byte {
	t.Helper()
	var b map[string]any
	if err := json.Unmarshal(bundle, &b); err != nil {
		t.Fatal(err)
	}
	change(b["verificationMaterial"].(map[string]any), b["dsseEnvelope"].(map[string]any))
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBundleFiles verifies files offline: the very ones, and ones that differ.
func TestBundleFiles(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	content := v.read(t, packFile)
	other := artifact(t, "ctxpack.other", version, `{"pack_id":"ctxpack.other","pack_version":"1.0.0"}`)
	for name, c := range map[string]struct {
		content string
		bundle  []byte
		status  int
		words   []string
	}{
		"the same":            {content, v.bundle, usable, nil},
		"another byte":        {strings.Replace(content, "50000", "50001", 1), v.bundle, untrusted, []string{"the signed statement is about content"}},
		"a byte more":         {content + "\n", v.bundle, untrusted, []string{"the signed statement is about content"}},
		"of another pack":     {content, signAs(t, v.run, summaryOf(t, v.registry, other)), untrusted, []string{"ctxpack.other"}},
		"no summary":          {content, signAs(t, v.run, revocationOf(t, artifact(t, packID, version, content))), untrusted, []string{"passed the checks"}},
		"no bundle":           {content, []byte("{}"), untrusted, []string{"the bundle cannot be read"}},
		"other statement":     {content, changed(t, v.bundle, alterStatement), untrusted, []string{"the signature does not match"}},
		"no timestamp":        {content, changed(t, v.bundle, without("timestampVerificationData")), untrusted, []string{"no trusted timestamp"}},
		"no log entry":        {content, changed(t, v.bundle, without("tlogEntries")), untrusted, []string{"no entry of a transparency log"}},
		"another certificate": {content, changed(t, v.bundle, certificateOf(t, signAs(t, v.run, summaryOf(t, v.registry, other)))), untrusted, []string{"the signature does not match"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, bundle := filepath.Join(dir, "pack.json"), filepath.Join(dir, "bundle.json")
			for path, data := range map[string][]byte{file: []byte(c.content), bundle: c.bundle} {
				if err := os.WriteFile(path, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			consumer(t, "verify", file, "--bundle", bundle).want(t, c.status, c.words...)
		})
	}
}

// alterStatement gives the statement another class, and keeps the signature.
func alterStatement(_, envelope map[string]any) {
	text, _ := base64.StdEncoding.DecodeString(envelope["payload"].(string))
	envelope["payload"] = base64.StdEncoding.EncodeToString(bytes.Replace(text, []byte(`"initial"`), []byte(`"patch"`), 1))
}

func without(name string) func(material, envelope map[string]any) {
	return func(material, _ map[string]any) { delete(material, name) }
}

// certificateOf puts the certificate of another bundle into one.
func certificateOf(t *testing.T, from []byte) func(material, envelope map[string]any) {
	return func(material, _ map[string]any) {
		changed(t, from, func(theirs, _ map[string]any) { material["certificate"] = theirs["certificate"] })
	}
}

// TestStrangers publishes as those that are not trusted.
func TestStrangers(t *testing.T) {
	t.Parallel()
	host := referrersRegistry(t)
	for name, c := range map[string]struct {
		run  stack.Run
		word string
	}{
		"issuer":     {stack.Run{Issuer: services.Other}, stack.OtherIssuer},
		"workflow":   {stack.Run{Workflow: "other.yml"}, "other.yml"},
		"branch":     {stack.Run{Ref: "refs/heads/other"}, "refs/heads/other"},
		"repository": {stack.Run{Repository: "mallory/packs"}, "mallory/packs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newRelease(t, newRepository(t, host+"/"+name+"/packs", c.run))
			consumer(t, "verify", v.ref).want(t, untrusted, c.word)
			out := filepath.Join(t.TempDir(), "pack.json")
			consumer(t, "pull", v.ref, "--output", out).want(t, untrusted, c.word)
			if _, err := os.Stat(out); err == nil {
				t.Error("pull wrote a version that is not trusted")
			}
		})
	}
}

// TestRunsThatMayNotPublish are refused before anything is pushed.
func TestRunsThatMayNotPublish(t *testing.T) {
	t.Parallel()
	host := referrersRegistry(t)
	for name, c := range map[string]struct {
		run    stack.Run
		status int // 0 for any that is not 0
		words  []string
	}{
		"expired token":      {stack.Run{Expired: true}, 0, []string{"400"}},
		"no permission":      {stack.Run{NoToken: true}, 0, []string{"id-token: write"}},
		"schedule":           {stack.Run{Event: "schedule"}, 2, []string{"schedule"}},
		"fork's target":      {stack.Run{Event: "pull_request_target"}, 2, []string{"pull_request_target"}},
		"another repository": {stack.Run{Repository: "mallory/packs"}, 1, []string{"mallory/packs", "acme/packs"}},
		"another branch":     {stack.Run{Ref: "refs/heads/other"}, 1, []string{"refs/heads/other"}},
		"another workflow":   {stack.Run{Workflow: "other.yml"}, 1, []string{"other.yml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := host + "/" + strings.NewReplacer(" ", "-", "'", "").Replace(name) + "/packs"
			r := newRepository(t, base, stack.Run{})
			commits := r.run
			r.run = c.run
			r.run.Issuer, r.run.Before, r.run.SHA = services.GitHub, commits.Before, commits.SHA
			o := r.action(t, "publish", nil)
			if o.status == 0 {
				t.Errorf("ended with status 0:\n%s%s", o.stdout, o.stderr)
			}
			o.want(t, cmp.Or(c.status, o.status), c.words...)
			resp, err := http.Get("http://" + host + "/v2/" + strings.SplitN(base, "/", 2)[1] + "/" + packID + "/tags/list")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("the registry's answer for the pack is %s; wanted 404", resp.Status)
			}
		})
	}
}

// shelf is where a registry keeps a version, and two artifacts that both say that they
// are this version.
type shelf struct {
	base        string
	mine, other *registry.Artifact
}

// hold puts an artifact there under its content tag, and signs for another one or the
// same.
func (s shelf) hold(t *testing.T, a, signed *registry.Artifact) {
	t.Helper()
	place(t, s.base, a, registry.ContentTag(version, a.Digest))
	attach(t, s.base, a, signAs(t, stack.Run{Issuer: services.GitHub}, summaryOf(t, s.base, signed)), statement.TypeSummary)
}

// tag puts an artifact there under the version's tag.
func (s shelf) tag(t *testing.T, a *registry.Artifact) {
	t.Helper()
	place(t, s.base, a, version)
}

// revoke revokes an artifact as the run of a repository does.
func (s shelf) revoke(t *testing.T, a *registry.Artifact, repository string) {
	t.Helper()
	run := stack.Run{Issuer: services.GitHub, Repository: repository}
	attach(t, s.base, a, signAs(t, run, revocationOf(t, a)), statement.TypeState)
}

// contents are what a registry may hold of a version, how verify ends, and what it says.
var contents = map[string]struct {
	fill   func(*testing.T, shelf)
	status int
	word   string
}{
	"nothing":         {func(*testing.T, shelf) {}, untrusted, "has no"},
	"as it should be": {func(t *testing.T, s shelf) { s.hold(t, s.mine, s.mine); s.tag(t, s.mine) }, usable, "usable"},
	"unsigned":        {func(t *testing.T, s shelf) { s.tag(t, s.mine) }, untrusted, "no statement of the trusted identity"},
	"moved tag":       {func(t *testing.T, s shelf) { s.hold(t, s.mine, s.mine); s.tag(t, s.other) }, untrusted, `the tag "1.0.0" names`},
	"two statements": {func(t *testing.T, s shelf) {
		s.hold(t, s.mine, s.mine)
		s.hold(t, s.other, s.other)
		s.tag(t, s.mine)
	}, untrusted, "two digests"},
	"one of two revoked": {func(t *testing.T, s shelf) {
		s.hold(t, s.mine, s.mine)
		s.hold(t, s.other, s.other)
		s.tag(t, s.mine)
		s.revoke(t, s.other, "acme/packs")
	}, usable, "usable"},
	"statement of other bytes": {func(t *testing.T, s shelf) { s.hold(t, s.mine, s.other); s.tag(t, s.mine) }, untrusted, "is about the manifest"},
	"revoked": {func(t *testing.T, s shelf) {
		s.hold(t, s.mine, s.mine)
		s.tag(t, s.mine)
		s.revoke(t, s.mine, "acme/packs")
	}, revoked, "of a test"},
	"revoked by a stranger": {func(t *testing.T, s shelf) {
		s.hold(t, s.mine, s.mine)
		s.tag(t, s.mine)
		s.revoke(t, s.mine, "mallory/packs")
	}, usable, "mallory/packs"},
}

// TestRegistryContent verifies versions of a registry that something is wrong with.
func TestRegistryContent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/acme-support/" + packFile)
	if err != nil {
		t.Fatal(err)
	}
	mine, other := artifact(t, packID, version, string(text)), artifact(t, packID, version, string(text)+"\n")
	eachRegistry(t, func(t *testing.T, host string) {
		for name, c := range contents {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := shelf{host + "/" + strings.ReplaceAll(name, " ", "-") + "/packs", mine, other}
				c.fill(t, s)
				consumer(t, "verify", s.base+"/"+packID+":"+version).want(t, c.status, c.word)
			})
		}
	})
}

// TestRegistryThatLies serves other bytes than those of the digest.
func TestRegistryThatLies(t *testing.T) {
	t.Parallel()
	r, gate := behindOneGate(t, referrersRegistry(t))
	v := newRelease(t, r)
	consumer(t, "verify", v.ref).want(t, usable)
	another := func(body []byte) []byte { return bytes.Replace(body, []byte("50000"), []byte("50001"), 1) }
	padded := func(body []byte) []byte { return append(body, ' ') }
	for name, rule := range map[string]stack.Rule{
		"blob":     stack.Always(stack.Fault{Change: another}, func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }),
		"manifest": stack.Always(stack.Fault{Change: padded}, method(http.MethodGet, v.digest)),
	} {
		gate.Set(rule)
		o := consumer(t, "verify", v.ref)
		if o.status != untrusted {
			t.Errorf("%s: verify ended with %d; wanted %d\n%s%s", name, o.status, untrusted, o.stdout, o.stderr)
		}
		o = consumer(t, "pull", v.ref, "--output", "-")
		if o.status != untrusted || o.stdout != "" {
			t.Errorf("%s: pull ended with %d and wrote to stdout; wanted %d and nothing there\n%s", name, o.status, untrusted, o.stdout)
		}
	}
	gate.Set(stack.Always(stack.Fault{Status: http.StatusServiceUnavailable}, stack.Any))
	consumer(t, "verify", v.ref).want(t, unknown)
}
