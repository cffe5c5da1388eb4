package stack

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// push pushes a manifest with oras-go's client and asks for it; it returns its digest.
func push(t *testing.T, r *Registry, user, password string) (string, error) {
	t.Helper()
	repository, err := remote.NewRepository(r.Host + "/acme/packs/one")
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	repository.Client = &auth.Client{
		Client:     http.DefaultClient,
		Credential: auth.StaticCredential(r.Host, auth.Credential{Username: user, Password: password}),
	}
	pushed, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "application/vnd.example", oras.PackManifestOptions{})
	if err != nil {
		return "", err
	}
	found, err := repository.Resolve(t.Context(), pushed.Digest.String())
	return found.Digest.String(), err
}

func TestRegistries(t *testing.T) {
	password := strings.Repeat("p", 12)
	private, err := NewPrivateRegistry(t.TempDir(), "octocat", password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(private.Close)
	public, err := NewDockerRegistry(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(public.Close)
	referrers := NewReferrersRegistry()
	t.Cleanup(referrers.Close)
	for r, want := range map[*Registry]int{private: http.StatusNotFound, public: http.StatusNotFound, referrers: http.StatusOK} {
		digest, err := push(t, r, "octocat", password)
		if err != nil {
			t.Error(err)
			continue
		}
		resp, err := http.Get("http://" + r.Host + "/v2/acme/packs/one/referrers/" + digest)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("the referrers API answers a stranger %s; wanted %d", resp.Status, want)
		}
	}
	for _, r := range []*Registry{public, referrers} {
		wantKept(t, r)
	}
	if _, err := push(t, private, "octocat", password+"x"); err == nil {
		t.Error("the private registry takes another password; wanted it to refuse")
	}
}

// wantKept holds that a registry goes back to what it held.
func wantKept(t *testing.T, r *Registry) {
	t.Helper()
	restore, err := r.Keep()
	if err != nil {
		t.Fatal(err)
	}
	repository, err := remote.NewRepository(r.Host + "/acme/packs/one")
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	list := func() (tags []string) {
		err := repository.Tags(t.Context(), "", func(some []string) error {
			tags = append(tags, some...)
			return nil
		})
		if response := new(errcode.ErrorResponse); errors.As(err, &response) && response.StatusCode == http.StatusNotFound {
			return nil // it had nothing before
		}
		if err != nil {
			t.Fatal(err)
		}
		return tags
	}
	digest, err := push(t, r, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a restored one is kept as well
		if _, err := oras.Tag(t.Context(), repository, digest, "later"); err != nil {
			t.Fatal(err)
		}
		if tags := list(); !slices.Contains(tags, "later") {
			t.Errorf("the tags are %q; wanted later", tags)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if tags := list(); slices.Contains(tags, "later") {
			t.Errorf("the tags are %q; wanted those before", tags)
		}
		if digest, err = push(t, r, "", ""); err != nil {
			t.Fatal(err)
		}
	}
}
