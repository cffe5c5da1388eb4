package repo

import (
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/schemas"
)

// What is taken, so that the refusals say something.
func TestRegistriesThatAreTaken(t *testing.T) {
	for _, name := range []string{
		"ghcr.io/acme/packs", "ghcr.io", "localhost/packs", "localhost:5000", "127.0.0.1:5000/a/b", "[::1]:5000/packs", "registry.acme.example/a_b/c-d.e",
		"oci:./registry", "oci:registry", "oci:.", "oci:a/../b", "oci:/srv/packs", "oci:with blank",
	} {
		c, err := ParseConfig(ConfigName, []byte("publish: {registry: '"+name+"'}\n"))
		if err != nil || c.Publish.Registry.Value != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIdentitiesThatAreTaken(t *testing.T) {
	for _, c := range []struct{ workflow, repository, uri, of string }{
		{packsWorkflow, "", "https://github.com/" + packsWorkflow, "https://github.com/acme/packs"},
		{"https://git.example/" + packsWorkflow, "", "https://git.example/" + packsWorkflow, "https://git.example/acme/packs"},
		{"Acme-X/a.b_c/.github/workflows/p q.yaml@refs/heads/release/1.x", "", "", ""}, // a blank: refused
		{"Acme-X/a.b_c/.github/workflows/p.yaml@refs/heads/release/1.x", "other/packs",
			"https://github.com/Acme-X/a.b_c/.github/workflows/p.yaml@refs/heads/release/1.x", "https://github.com/other/packs"},
		{packsWorkflow, "https://git.example/other/packs", "https://github.com/" + packsWorkflow, "https://git.example/other/packs"},
	} {
		src := "publish:\n  identity:\n    issuer: http://localhost:8080/a/\n    workflow: " + c.workflow + "\n"
		if c.repository != "" {
			src += "    repository: " + c.repository + "\n"
		}
		config, err := ParseConfig(ConfigName, []byte(src))
		if c.uri == "" {
			if err == nil {
				t.Errorf("%s is taken", c.workflow)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.workflow, err)
			continue
		}
		id := config.Publish.Identity
		if id.WorkflowURI() != c.uri || id.RepositoryURI() != c.of {
			t.Errorf("%s: %s of %s", c.workflow, id.WorkflowURI(), id.RepositoryURI())
		}
	}
	if id := DefaultConfig().Publish.Identity; id.WorkflowURI() != "" || id.RepositoryURI() != "" {
		t.Errorf("without a config: %q, %q", id.WorkflowURI(), id.RepositoryURI())
	}
}

// What a class demands; one that is not known demands all there is.
func TestReviewsOf(t *testing.T) {
	c, err := ParseConfig(ConfigName, []byte(`reviews:
  patch: [owner]
  minor: [security, owner, security]
  major: [architecture]
  roles: {owner: [kim, "robot[bot]", kim_acme], security: ["@acme/sec_team"], architecture: [Ann-1], spare: []}
`))
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string][]string{
		"none": {"owner"}, "patch": {"owner"}, "minor": {"owner", "security"}, "major": {"architecture"}, "initial": {"architecture"},
		"": {"architecture", "owner", "security"}, "huge": {"architecture", "owner", "security"},
	} {
		if got := c.Reviews.Of(class); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", class, got, want)
		}
	}
	none := DefaultConfig().Reviews
	if !c.Reviews.Demanded() || none.Demanded() || len(none.Of("major"))+len(none.Members()) > 0 {
		t.Errorf("without a config: %+v", none)
	}
}

// An editor shows the words of the schema: each key of publish and reviews has some.
func TestPublishIsDescribed(t *testing.T) {
	for pointer, least := range map[string]int{"/publish": 4, "/publish/identity": 5, "/reviews": 4} {
		if known, open := schemas.KnownMembers("config", pointer); open || len(known) < least {
			t.Errorf("%s: %q", pointer, known)
		}
	}
}

// Earlier identities are listed with their end, and none of them is one that signs anything else.
func TestEarlierIdentities(t *testing.T) {
	const identity = "publish:\n  identity: {workflow: " + packsWorkflow + "}\n"
	const old = "acme/packs/.github/workflows/old.yml@refs/heads/main"
	c, err := ParseConfig(ConfigName, []byte(identity+"  earlier:\n    - workflow: "+old+"\n      until: 2026-03-01T12:00:00Z\n    - {workflow: "+old+"2}\n"))
	if err != nil || len(c.Publish.Earlier.Items) != 2 {
		t.Fatalf("%+v: %v", c, err)
	}
	if e := c.Publish.Earlier.Items; e[0].WorkflowURI() != "https://github.com/"+old || e[0].Ended().Unix() != 1772366400 || !e[1].Ended().IsZero() {
		t.Errorf("read as %+v", e)
	}
	for src, want := range map[string]string{
		"publish:\n  earlier: [{workflow: " + old + "}]\n":                                        "publish names none",
		identity + "  earlier: [{workflow: " + packsWorkflow + "}]\n":                             "is that of publish.identity",
		identity + "  earlier: [{workflow: old.yml}]\n":                                           "the workflow",
		identity + "  earlier: [{workflow: " + old + ", until: yesterday}]\n":                     "until",
		identity + "  freshness: {workflow: " + old + "}\n  earlier: [{workflow: " + old + "}]\n": "signs timestamps",
		identity + "  earlier: [" + strings.Repeat("{workflow: "+old+"}, ", 33) + "]\n":           "at most 32",
	} {
		if _, err := ParseConfig(ConfigName, []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", src, err, want)
		}
	}
}
