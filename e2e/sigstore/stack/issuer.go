package stack

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// GitHubIssuer is the issuer of the tokens of GitHub's workflows.
const GitHubIssuer = "https://token.actions.githubusercontent.com"

// tokenPath is where a runner asks for a job's token, as on GitHub.
const tokenPath = "/_apis/idtoken"

// Claims are the claims of an identity token.
type Claims map[string]any

// Issuer stands in for GitHub's OpenID Connect provider and for the address at which
// a runner asks it for the token of a job. Its tokens, its discovery document and its
// keys are what GitHub documents in "OpenID Connect reference"; the name it goes by
// can be GitHub's own, see redirect.
type Issuer struct {
	// Name is the issuer that its tokens name.
	Name string

	url    string // where it listens
	key    *rsa.PrivateKey
	server *httptest.Server

	mu   sync.Mutex
	jobs map[string]*Job // by the token with which the job asks
}

// Job is one job of a workflow, as far as its issuer knows it.
type Job struct {
	// RequestURL and RequestToken are what the runner gives to the job as
	// ACTIONS_ID_TOKEN_REQUEST_URL and ACTIONS_ID_TOKEN_REQUEST_TOKEN.
	RequestURL, RequestToken string

	claims   Claims
	lifetime time.Duration
}

// newIssuer starts an issuer that calls itself by that name.
func newIssuer(name string) (*Issuer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	i := &Issuer{Name: name, key: key, jobs: map[string]*Job{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /.well-known/jwks", i.keys)
	mux.HandleFunc("GET "+tokenPath, i.token)
	i.server = httptest.NewServer(mux)
	i.url = i.server.URL
	return i, nil
}

// Job makes a job whose tokens carry the claims and live for that long: a lifetime
// below zero makes tokens that have expired.
func (i *Issuer) Job(c Claims, lifetime time.Duration) *Job {
	j := &Job{
		RequestURL:   i.url + tokenPath + "?api-version=2.0",
		RequestToken: rand.Text(), claims: c, lifetime: lifetime,
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.jobs[j.RequestToken] = j
	return j
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{
		"issuer": i.Name, "jwks_uri": i.Name + "/.well-known/jwks",
		"subject_types_supported":               []string{"public", "pairwise"},
		"response_types_supported":              []string{"id_token"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
		Key: i.key.Public(), KeyID: "test", Algorithm: string(jose.RS256), Use: "sig",
	}}})
}

// token answers a job. Cosign writes the scheme in lower case.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	i.mu.Lock()
	j := i.jobs[secret]
	i.mu.Unlock()
	if j == nil || !strings.EqualFold(scheme, "Bearer") {
		http.Error(w, "no such job", http.StatusUnauthorized)
		return
	}
	text, err := i.sign(j, r.URL.Query().Get("audience"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, map[string]any{"count": len(text), "value": text})
}

func (i *Issuer) sign(j *Job, audience string) (string, error) {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.key, KeyID: "test"}},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	now := time.Now()
	c := maps.Clone(j.claims)
	c["iss"], c["aud"], c["jti"] = i.Name, audience, rand.Text()
	c["nbf"], c["iat"], c["exp"] = now.Add(-10*time.Minute).Unix(), now.Unix(), now.Add(j.lifetime).Unix()
	return jwt.Signed(signer).Claims(map[string]any(c)).Serialize()
}

// redirect makes this process reach the issuers under the names that they go by, and
// nothing else over TLS; it returns what undoes that. Fulcio, which runs in this
// process, so takes tokens that name GitHub as their issuer. No TLS is spoken: what
// DialTLSContext returns counts as a connection past its handshake.
func redirect(issuers ...*Issuer) (undo func()) {
	hosts := map[string]string{}
	for _, i := range issuers {
		hosts[strings.TrimPrefix(i.Name, "https://")+":443"] = strings.TrimPrefix(i.url, "http://")
	}
	before := http.DefaultTransport
	transport := before.(*http.Transport).Clone()
	transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, ok := hosts[address]
		if !ok {
			return nil, fmt.Errorf("nothing here speaks to %s", address)
		}
		var d net.Dialer
		return d.DialContext(ctx, network, host)
	}
	http.DefaultTransport = transport
	return func() { http.DefaultTransport = before }
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that has gone
}
