package stack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// The names under which registry and token service know each other.
const (
	tokenIssuer = "packgate-tests"
	tokenAsked  = "registry"
)

// tokenService gives out the tokens that docker-registry wants (the distribution
// project's "Token Authentication Specification").
type tokenService struct {
	server         *httptest.Server
	key            *ecdsa.PrivateKey
	certificate    []byte // DER
	bundle         string // file of the certificate, which the registry reads
	user, password string
}

func newTokenService(dir, user, password string) (*tokenService, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: tokenIssuer},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	s := &tokenService{key: key, certificate: der, bundle: filepath.Join(dir, "tokens.pem"), user: user, password: password}
	if err := os.WriteFile(s.bundle, cryptoutils.PEMEncode(cryptoutils.CertificatePEMType, der), 0o644); err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(http.HandlerFunc(s.give))
	return s, nil
}

// config is the part of docker-registry's configuration that names the service.
func (s *tokenService) config() string {
	return fmt.Sprintf("auth: {token: {realm: %q, service: %q, issuer: %q, rootcertbundle: %q}}\n",
		s.server.URL+"/token", tokenAsked, tokenIssuer, s.bundle)
}

// access is a right to a repository.
type access struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Actions []string `json:"actions"`
}

// give answers with a token for the rights that are asked for.
func (s *tokenService) give(w http.ResponseWriter, r *http.Request) {
	user, password, ok := r.BasicAuth()
	if !ok || user != s.user || subtle.ConstantTimeCompare([]byte(password), []byte(s.password)) != 1 {
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
		return
	}
	var rights []access
	for _, scope := range r.URL.Query()["scope"] {
		if part := strings.SplitN(scope, ":", 3); len(part) == 3 {
			rights = append(rights, access{part[0], part[1], strings.Split(part[2], ",")})
		}
	}
	text, err := s.sign(rights)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, map[string]any{"token": text, "expires_in": 300})
}

func (s *tokenService) sign(rights []access) (string, error) {
	chain := []string{base64.StdEncoding.EncodeToString(s.certificate)}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: s.key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("x5c", chain))
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(map[string]any{
		"iss": tokenIssuer, "aud": tokenAsked, "sub": s.user, "jti": rand.Text(), "access": rights,
		"nbf": now.Add(-time.Minute).Unix(), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}).Serialize()
}
