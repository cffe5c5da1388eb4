package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
)

// repositoryWith makes a folder with a config the current one.
func repositoryWith(t *testing.T, config string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(".packgate.yaml", []byte("version: 1\n"+config), 0o644); err != nil {
		t.Fatal(err)
	}
}

func environment(values map[string]string) *Env {
	return &Env{Version: "test", Getenv: func(name string) string { return values[name] }}
}

const (
	workflowHere  = "acme/packs/.github/workflows/packs.yml@refs/heads/main"
	workflowThere = "other/packs/.github/workflows/publish.yml@refs/heads/release"
	identityOf    = "publish:\n  identity:\n    issuer: https://token.actions.githubusercontent.com\n    workflow: "
)

// Whose signature counts: the flags win over the config, and the config over the run.
func TestIdentity(t *testing.T) {
	here := attest.Identity{Issuer: githubIssuer, Workflow: "https://github.com/" + workflowHere, Repository: "https://github.com/acme/packs"}
	there := attest.Identity{Issuer: githubIssuer, Workflow: "https://github.com/" + workflowThere, Repository: "https://github.com/other/packs"}
	with := func(id attest.Identity, change func(*attest.Identity)) attest.Identity {
		change(&id)
		return id
	}
	for name, c := range map[string]struct {
		config string
		env    map[string]string
		flags  registryOptions
		want   attest.Identity
		err    string // a part of it
	}{
		"config": {config: identityOf + workflowHere + "\n", want: here},
		"config with ids": {config: identityOf + workflowHere + "\n    repository_id: \"12\"\n    owner_id: \"34\"\n",
			want: with(here, func(id *attest.Identity) { id.RepositoryID, id.OwnerID = "12", "34" })},
		"config over the run": {config: identityOf + workflowHere + "\n", env: map[string]string{"GITHUB_WORKFLOW_REF": workflowThere}, want: here},
		"run":                 {env: map[string]string{"GITHUB_WORKFLOW_REF": workflowThere}, want: there},
		"run on a server of one's own": {env: map[string]string{"GITHUB_WORKFLOW_REF": workflowThere, "GITHUB_SERVER_URL": "https://git.acme.example/"},
			want: attest.Identity{Issuer: githubIssuer, Workflow: "https://git.acme.example/" + workflowThere, Repository: "https://git.acme.example/other/packs"}},
		"flag over the config": {config: identityOf + workflowHere + "\n    repository_id: \"12\"\n", flags: registryOptions{workflow: workflowThere}, want: there},
		"flag with a server":   {flags: registryOptions{workflow: "https://github.com/" + workflowThere}, want: there},
		"issuer": {flags: registryOptions{workflow: workflowThere, issuer: "https://issuer.example"},
			want: with(there, func(id *attest.Identity) { id.Issuer = "https://issuer.example" })},
		"repository": {flags: registryOptions{workflow: workflowThere, repository: "acme/packs"},
			want: with(there, func(id *attest.Identity) { id.Repository = "https://github.com/acme/packs" })},
		"nobody":            {err: "it is not stated whose signature counts"},
		"a run of a tag":    {env: map[string]string{"GITHUB_WORKFLOW_REF": "acme/packs/.github/workflows/packs.yml@refs/tags/v1"}, err: "refs/tags/v1"},
		"a flag of a file":  {flags: registryOptions{workflow: "packs.yml@refs/heads/main"}, err: `the workflow is "packs.yml@refs/heads/main"`},
		"a flag of no ref":  {flags: registryOptions{workflow: "acme/packs/.github/workflows/packs.yml"}, err: "the workflow is"},
		"a repository only": {flags: registryOptions{repository: "acme/packs"}, err: "it is not stated whose signature counts"},
	} {
		t.Run(name, func(t *testing.T) {
			repositoryWith(t, c.config)
			c.flags.color = "auto"
			h, err := openHouse(environment(c.env), c.flags)
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.identity()
			if c.err == "" {
				if err != nil || got.Issuer != c.want.Issuer || got.Workflow != c.want.Workflow || got.Repository != c.want.Repository ||
					got.RepositoryID != c.want.RepositoryID || got.OwnerID != c.want.OwnerID {
					t.Errorf("%+v, %v; want %+v", got, err, c.want)
				}
				return
			}
			var usage *repo.Problem
			if !errors.As(err, &usage) || !strings.Contains(usage.Message, c.err) || usage.Hint == "" {
				t.Errorf("error %v, want wrong use with %q and a hint", err, c.err)
			}
		})
	}
}

// A relative folder starts at the config that names it, and at the current folder
// where a flag or a reference does.
func TestRegistryStartsWhereItIsNamed(t *testing.T) {
	repositoryWith(t, "publish: {registry: \"oci:./shelf\"}\n")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for folder, pack := range map[string]string{"shelf": "ctxpack.shelf", "deep/shelf": "ctxpack.deep-shelf"} {
		reg, err := registry.Open("oci:"+filepath.Join(root, folder), registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		repository, err := reg.Repository(pack)
		if err != nil {
			t.Fatal(err)
		}
		artifact, err := registry.NewArtifact(pack, "1.0.0", []byte("{}"))
		if err := errors.Join(err, repository.Push(t.Context(), artifact)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("deep")
	for name, c := range map[string]struct{ flag, ref, want string }{
		"config":    {"", "", "ctxpack.shelf"},
		"flag":      {"oci:./shelf", "", "ctxpack.deep-shelf"},
		"reference": {"", "oci:./shelf", "ctxpack.deep-shelf"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := openHouse(environment(nil), registryOptions{registry: c.flag})
			if err != nil {
				t.Fatal(err)
			}
			reg, err := h.open(c.ref)
			if err != nil {
				t.Fatal(err)
			}
			packs, err := reg.Packs(t.Context())
			if err != nil || len(packs) != 1 || packs[0] != c.want {
				t.Errorf("%q, %v; want %q", packs, err, c.want)
			}
		})
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"https://github.com/" + workflowHere: "https://github.com/" + workflowHere,
		"refs/heads/a;b":                     "'refs/heads/a;b'",
		"refs/heads/$(id)":                   "'refs/heads/$(id)'",
		"it's":                               `'it'\''s'`,
		"a b":                                "'a b'",
		"":                                   "''",
		"line\nnext":                         "'line\nnext'",
	} {
		if got := shellWord(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
