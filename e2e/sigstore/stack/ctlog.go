package stack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"

	ct "github.com/google/certificate-transparency-go"
	cttls "github.com/google/certificate-transparency-go/tls"
	ctx509 "github.com/google/certificate-transparency-go/x509"
)

// ctLog is a certificate transparency log (RFC 6962) that keeps no tree: what a
// verifier looks at is the signature of the timestamp alone.
type ctLog struct {
	url    string
	id     [sha256.Size]byte
	key    *ecdsa.PrivateKey
	server *httptest.Server
}

func newCTLog() (*ctLog, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	l := &ctLog{key: key, id: sha256.Sum256(public)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ct/v1/add-pre-chain", l.add)
	l.server = httptest.NewServer(mux)
	l.url = l.server.URL
	return l, nil
}

func (l *ctLog) add(w http.ResponseWriter, r *http.Request) {
	var asked ct.AddChainRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := l.timestamp(asked.Chain)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	writeJSON(w, answer)
}

// timestamp signs for a certificate before it carries the timestamp (RFC 6962,
// section 3.2).
func (l *ctLog) timestamp(raw [][]byte) (*ct.AddChainResponse, error) {
	var chain []*ctx509.Certificate
	for _, der := range raw {
		c, err := ctx509.ParseCertificate(der)
		if ctx509.IsFatal(err) {
			return nil, err
		}
		chain = append(chain, c)
	}
	now := uint64(time.Now().UnixMilli())
	leaf, err := ct.MerkleTreeLeafFromChain(chain, ct.PrecertLogEntryType, now)
	if err != nil {
		return nil, err
	}
	stamp := ct.SignedCertificateTimestamp{SCTVersion: ct.V1, LogID: ct.LogID{KeyID: l.id}, Timestamp: now}
	signed, err := ct.SerializeSCTSignatureInput(stamp, ct.LogEntry{Leaf: *leaf})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(signed)
	sig, err := ecdsa.SignASN1(rand.Reader, l.key, sum[:])
	if err != nil {
		return nil, err
	}
	wire, err := cttls.Marshal(ct.DigitallySigned{
		Algorithm: cttls.SignatureAndHashAlgorithm{Hash: cttls.SHA256, Signature: cttls.ECDSA}, Signature: sig,
	})
	if err != nil {
		return nil, err
	}
	return &ct.AddChainResponse{SCTVersion: ct.V1, ID: l.id[:], Timestamp: now, Signature: wire}, nil
}
