package registry_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
)

var secret = strings.Repeat("s3", 12)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// demand lets through what carries this Authorization, and sends the challenge to the
// rest.
func (f *fake) demand(authorization, challenge string) {
	f.on(".", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Authorization") == authorization {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

// sent returns each Authorization that the fake was sent, once.
func (f *fake) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(f.auth)))
}

// tokenService hands out the token "exchanged" for the secret.
func tokenService(t *testing.T) (*httptest.Server, func() []string) {
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != basic("packgate", secret) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"token": "exchanged"})
	}))
	t.Cleanup(s.Close)
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Compact(slices.Sorted(slices.Values(seen)))
	}
}

func TestBearerToken(t *testing.T) {
	f := newFake(t)
	service, seen := tokenService(t)
	f.demand("Bearer exchanged", fmt.Sprintf(`Bearer realm="%s/token",service="registry"`, service.URL))
	o := options()
	o.Token, o.TokenHost = secret, strings.ToUpper(f.host())
	_, repo := open(t, f.host()+"/acme/packs", o)
	a := artifact(t, "1.0.0", "{}")
	if err := put(t.Context(), repo, a, bundle("b")); err != nil {
		t.Fatal(err)
	}
	wantPublished(t, repo, a, bundle("b"))
	if got := f.sent(); !slices.Equal(got, []string{"", "Bearer exchanged"}) {
		t.Errorf("the registry was sent %q", got)
	}
	if got := seen(); !slices.Equal(got, []string{basic("packgate", secret)}) {
		t.Errorf("the token service was sent %q", got)
	}
}

func TestTokenStaysWithItsHost(t *testing.T) {
	f := newFake(t)
	service, seen := tokenService(t)
	f.demand("Bearer exchanged", fmt.Sprintf(`Bearer realm="%s/token",service="registry"`, service.URL))
	o := options()
	o.Token, o.TokenHost = secret, "ghcr.io"
	_, repo := open(t, f.host()+"/acme/packs", o)
	_, err := repo.Resolve(t.Context(), "1.0.0")
	wantKind(t, err, registry.ErrUnauthorized)
	if got := append(f.sent(), seen()...); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("a host that the token is not for was sent %q", got)
	}
}

func TestBasic(t *testing.T) {
	f := newFake(t)
	f.demand(basic("robot", secret), `Basic realm="registry"`)
	o := options()
	o.Username, o.Token, o.TokenHost = "robot", secret, f.host()
	_, repo := open(t, f.host()+"/acme/packs", o)
	a := artifact(t, "1.0.0", "{}")
	if err := put(t.Context(), repo, a, bundle("b")); err != nil {
		t.Fatal(err)
	}
	_, err := f.open(t).Resolve(t.Context(), "1.0.0")
	if e := wantKind(t, err, registry.ErrUnauthorized); !strings.Contains(e.Error(), "none are configured") {
		t.Errorf("message is %q", e.Error())
	}
	o.Username = "other"
	_, repo = open(t, f.host()+"/acme/packs", o)
	_, err = repo.Resolve(t.Context(), "1.0.0")
	if e := wantKind(t, err, registry.ErrUnauthorized); strings.Contains(e.Error(), secret) {
		t.Errorf("error shows the token: %s", e)
	}
}

func TestRedirectedBlobsTakeNoCredentials(t *testing.T) {
	f, storage := newFake(t), newFake(t)
	f.demand(basic("packgate", secret), `Basic realm="registry"`)
	o := options()
	o.Token, o.TokenHost = secret, f.host()
	_, repo := open(t, f.host()+"/acme/packs", o)
	a := artifact(t, "1.0.0", `{"a":1}`)
	if err := put(t.Context(), repo, a); err != nil {
		t.Fatal(err)
	}
	f.heal()
	f.on("^GET .*/blobs/", -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, storage.URL+"/store?signature="+secret, http.StatusTemporaryRedirect)
	})
	f.demand(basic("packgate", secret), `Basic realm="registry"`)
	storage.on("^GET /store", 1, serve("application/octet-stream", a.Content))
	wantPublished(t, repo, a)
	for _, code := range []int{401, 403, 503} {
		storage.heal()
		storage.on("^GET /store", -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("WWW-Authenticate", `Basic realm="storage"`)
			w.WriteHeader(code)
		})
		_, err := repo.Pull(t.Context(), a.Digest)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("error is %v, wanted one without the signature", err)
		}
	}
	if got := storage.sent(); !slices.Equal(got, []string{""}) {
		t.Errorf("the storage was sent %q", got)
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	f := newFake(t)
	o := options()
	o.Token, o.TokenHost = secret, f.host()
	for _, code := range []int{400, 403, 500} {
		f.heal()
		f.on(".", -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			if r.Header.Get("Authorization") == "" {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":"you\u001b[1m sent %s and %s"}]}`, r.Header.Get("Authorization"), secret)
		})
		_, repo := open(t, f.host()+"/acme/packs", o)
		_, err := repo.Tags(t.Context())
		if err == nil || !strings.Contains(err.Error(), "denied") || !strings.Contains(err.Error(), "***") {
			t.Fatalf("error is %v, wanted the registry's words", err)
		}
		for _, hidden := range []string{secret, strings.TrimPrefix(basic("packgate", secret), "Basic "), "\x1b"} {
			if strings.Contains(fmt.Sprintf("%v", err), hidden) {
				t.Errorf("error shows %q: %v", hidden, err)
			}
		}
	}
}

// config writes a docker config and returns what looks it up.
func config(t *testing.T, content string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(name string) string { return map[string]string{"DOCKER_CONFIG": dir}[name] }
}

func TestDockerConfig(t *testing.T) {
	bin := t.TempDir()
	for name, script := range map[string]string{
		"good": "cat >/dev/null; echo '{\"Username\":\"robot\",\"Secret\":\"" + secret + "\"}'",
		"bad":  "cat >/dev/null; echo 'the secret is " + secret + "'; exit 1",
	} {
		if err := os.WriteFile(filepath.Join(bin, "docker-credential-packgate"+name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	f := newFake(t)
	f.demand(basic("robot", secret), `Basic realm="registry"`)
	entry := strings.TrimPrefix(basic("robot", secret), "Basic ")
	for name, test := range map[string]struct{ config, want string }{
		"entry":             {fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, f.host(), entry), ""},
		"helper":            {`{"credsStore":"packgategood"}`, ""},
		"helper of a host":  {fmt.Sprintf(`{"credHelpers":{%q:"packgategood"},"credsStore":"packgatebad"}`, f.host()), ""},
		"entry of another":  {fmt.Sprintf(`{"auths":{"ghcr.io":{"auth":%q}}}`, entry), "none are configured"},
		"failing helper":    {`{"credsStore":"packgatebad"}`, "the credential helper or the entry"},
		"no such helper":    {`{"credsStore":"packgatenone"}`, "not installed"},
		"no docker config":  {secret, "cannot be read as a docker config"},
		"entry not base64":  {fmt.Sprintf(`{"auths":{%q:{"auth":"!%s"}}}`, f.host(), secret), "the credential helper or the entry"},
		"empty":             {`{}`, "none are configured"},
		"a token elsewhere": {`{"auths":{}}`, "none are configured"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Getenv = config(t, test.config)
			o.Token, o.TokenHost = strings.Repeat("t", 30), "ghcr.io"
			_, repo := open(t, f.host()+"/acme/packs", o)
			_, err := repo.Tags(t.Context())
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e := wantKind(t, err, registry.ErrUnauthorized)
			if !strings.Contains(e.Error(), test.want) || strings.Contains(e.Error(), secret) {
				t.Errorf("error is %q, wanted %q and no secret", e.Error(), test.want)
			}
		})
	}
}
