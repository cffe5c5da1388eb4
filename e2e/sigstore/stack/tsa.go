package stack

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/timestamp-authority/v2/pkg/server"
	"github.com/spf13/viper"
)

// tsa is Sigstore's timestamp authority (RFC 3161) with a key in memory.
type tsa struct {
	url    string
	chain  []*x509.Certificate // leaf first
	server *httptest.Server
}

// newTSA starts the authority. It reads its settings from a package variable, so that
// a process has one.
func newTSA() (*tsa, error) {
	const policy = "1.3.6.1.4.1.57264.2" // Sigstore's
	for name, value := range map[string]any{
		"timestamp-signer": "memory", "timestamp-signer-hash": "sha256",
		"default-policy-oid": policy, "accepted-policy-oids": []string{policy},
		"max-request-body-size": uint64(1 << 20),
	} {
		viper.Set(name, value)
	}
	api := server.NewRestAPIServer("127.0.0.1", 0, []string{"http"}, false, 10*time.Second, 10*time.Second)
	t := &tsa{server: httptest.NewServer(api.GetHandler())}
	t.url = t.server.URL + "/api/v1/timestamp"
	resp, err := http.Get(t.url + "/certchain")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if t.chain, err = cryptoutils.UnmarshalCertificatesFromPEM(text); err != nil {
		return nil, err
	}
	if len(t.chain) < 2 {
		return nil, fmt.Errorf("the timestamp authority has a chain of %d certificates; wanted leaf and root", len(t.chain))
	}
	return t, nil
}
