package github

import (
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// server is git's own HTTP server around one repository. It notes who asked.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	callers []string
}

// serve starts a server; if password is not empty it asks for it.
func serve(t *testing.T, repository, password string) *server {
	t.Helper()
	backend := &cgi.Handler{
		Path: filepath.Join(gitIn(t, repository, "--exec-path"), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(repository), "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		},
		Stderr: t.Output(),
	}
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, given, _ := r.BasicAuth()
		s.mu.Lock()
		s.callers = append(s.callers, user+":"+given)
		s.mu.Unlock()
		if password != "" && given != password {
			http.Error(w, "<html>go away</html>", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// checkoutFrom makes a checkout without the base, whose origin is an address.
func (p *proposal) checkoutFrom(t *testing.T, address string) *Repository {
	t.Helper()
	dir := p.checkout(t, p.merge, "1")
	gitIn(t, dir, "remote", "set-url", "origin", address)
	return open(t, dir)
}

func TestFetchToken(t *testing.T) {
	p := newProposal(t)
	token := "ghs_" + strings.Repeat("x", 12)
	s := serve(t, p.origin, token)
	address := s.URL + "/" + filepath.Base(p.origin) + "/.git"
	ev := p.event()
	ev.ServerURL = s.URL

	base, err := p.checkoutFrom(t, address).Base(t.Context(), ev, token)
	must(t, err)
	wantFiles(t, base.Tree, p.tipFiles)
	if i := slices.IndexFunc(s.callers, func(c string) bool { return c != "x-access-token:"+token }); i >= 0 || len(s.callers) == 0 {
		t.Errorf("callers were %d, not all with the token", len(s.callers))
	}

	_, err = p.checkoutFrom(t, address).Base(t.Context(), ev, "")
	if !errors.Is(err, ErrBaseUnreadable) || !strings.Contains(err.Error(), "authentication required") {
		t.Errorf("without a token: got %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "<html>") {
		t.Errorf("the server's page is in the message: %v", err)
	}
}

// Origin may name any host; the token is for the event's own server.
func TestFetchTokenStaysHome(t *testing.T) {
	p := newProposal(t)
	token := "ghs_" + strings.Repeat("x", 12)
	s := serve(t, p.origin, "")
	address := s.URL + "/" + filepath.Base(p.origin) + "/.git"
	for _, own := range []string{"https://github.com", strings.Replace(s.URL, "http:", "https:", 1), "http://127.0.0.1:1", ""} {
		ev := p.event()
		ev.ServerURL = own
		base, err := p.checkoutFrom(t, address).Base(t.Context(), ev, token)
		must(t, err)
		wantFiles(t, base.Tree, p.tipFiles)
	}
	if i := slices.IndexFunc(s.callers, func(c string) bool { return c != ":" }); i >= 0 || len(s.callers) == 0 {
		t.Errorf("of %d callers number %d brought credentials", len(s.callers), i)
	}
}

// A redirect away from the event's server does not take the token along.
func TestFetchRedirect(t *testing.T) {
	p := newProposal(t)
	token := "ghs_" + strings.Repeat("x", 12)
	other := serve(t, p.origin, "")
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.RequestURI(), http.StatusFound)
	}))
	t.Cleanup(home.Close)
	ev := p.event()
	ev.ServerURL = home.URL
	_, err := p.checkoutFrom(t, home.URL+"/"+filepath.Base(p.origin)+"/.git").Base(t.Context(), ev, token)
	must(t, err)
	if i := slices.IndexFunc(other.callers, func(c string) bool { return c != ":" }); i >= 0 || len(other.callers) == 0 {
		t.Errorf("of %d callers number %d brought credentials", len(other.callers), i)
	}
}

// Where the token goes, what the address itself carries does not.
func TestAccess(t *testing.T) {
	token := strings.Repeat("x", 4)
	secret := "https://kim:" + strings.Repeat("p", 4) + "@github.com/acme/packs"
	for _, c := range []struct {
		origin, token, want string
		auth                bool
	}{
		{"https://github.com/acme/packs", token, "https://github.com/acme/packs", true},
		{"https://GitHub.com/acme/packs", token, "https://GitHub.com/acme/packs", true},
		{secret, token, "https://github.com/acme/packs", true},
		{secret, "", secret, false},
		{"http://github.com/acme/packs", token, "http://github.com/acme/packs", false},
		{"https://github.com.evil.example/acme/packs", token, "https://github.com.evil.example/acme/packs", false},
		{"https://github.com:8443/acme/packs", token, "https://github.com:8443/acme/packs", false},
		{"https://github.com@evil.example/acme/packs", token, "https://github.com@evil.example/acme/packs", false},
		{"/srv/git/packs", token, "/srv/git/packs", false},
	} {
		got, auth, err := access(c.origin, "https://github.com", c.token)
		if err != nil || got != c.want || (auth != nil) != c.auth {
			t.Errorf("access(%q) = %q, %v, %v, want %q, auth %v", c.origin, got, auth, err, c.want, c.auth)
		}
	}
	for _, origin := range []string{"ssh://git@github.com/x", "git://github.com/x", "ext::sh -c x", "http://[bad"} {
		if _, _, err := access(origin, "https://github.com", token); err == nil {
			t.Errorf("access(%q): wanted an error", origin)
		}
	}
}

// One commit is fetched and not what came before it.
func TestFetchDepth(t *testing.T) {
	p := newProposal(t)
	fetched, err := open(t, p.checkout(t, p.merge, "1")).fetch(t.Context(), "https://github.com", "", p.tip)
	must(t, err)
	tree, err := newTree(fetched, plumbing.NewHash(p.tip))
	must(t, err)
	wantFiles(t, tree, p.tipFiles)
	if _, err := newTree(fetched, plumbing.NewHash(p.fork)); !errors.Is(err, ErrBaseUnreadable) {
		t.Errorf("history was fetched too: got %v", err)
	}
}

func hexBytes(t *testing.T, s string) []byte {
	t.Helper()
	data, err := hex.DecodeString(s)
	must(t, err)
	return data
}
