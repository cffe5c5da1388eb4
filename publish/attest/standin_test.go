package attest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
	ct "github.com/google/certificate-transparency-go"
	"github.com/google/certificate-transparency-go/tls"
	ctx509 "github.com/google/certificate-transparency-go/x509"
	"github.com/google/certificate-transparency-go/x509util"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	trustroot "github.com/sigstore/protobuf-specs/gen/pb-go/trustroot/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
)

const (
	gitHub   = "https://token.actions.githubusercontent.com"
	workflow = "https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main"
)

// acme is the identity that the tests trust.
var acme = Identity{Issuer: gitHub, Workflow: workflow, RepositoryID: "11", OwnerID: "22"}

// run is what a workflow run's token says of it.
func run() map[string]string {
	return map[string]string{
		"iss": gitHub, "aud": "sigstore", "sub": "repo:acme/packs:ref:refs/heads/main",
		"job_workflow_ref": "acme/packs/.github/workflows/packs.yml@refs/heads/main",
		"repository":       "acme/packs", "repository_id": "11", "repository_owner_id": "22",
		"event_name": "push", "ref": "refs/heads/main", "sha": strings.Repeat("1", 40),
	}
}

// token returns a token of the claims. Nobody in these tests looks at the
// signature.
func token(claims any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(`{"alg":"none"}`)) + "." + enc.EncodeToString(payload) + "." + enc.EncodeToString([]byte("x"))
}

// instance is a Sigstore instance in memory, reached as an http.RoundTripper: a
// certificate authority with a certificate log, a timestamp authority, and a
// transparency log with both versions of its API. What it certifies and when is
// for the test to say, and so is how it fails.
type instance struct {
	t testing.TB

	claims  map[string]string // of the run that signs
	sans    []string          // more names in the certificate
	noSCT   bool
	nobody  bool      // no name in the certificate
	issued  time.Time // start of the certificate
	expires time.Time // its end
	stamped time.Time // time of timestamps
	logged  time.Time // time of log entries

	fulcio                     *root.FulcioCertificateAuthority
	tsa                        *root.SigstoreTimestampingAuthority
	fulcioKey, tsaKey, logKey2 *ecdsa.PrivateKey
	ctKey                      *ecdsa.PrivateKey
	log1                       *ca.VirtualSigstore

	mu     sync.Mutex
	faults map[string][]func(*http.Request) (*http.Response, error)
	calls  map[string]int
	tokens []string
	keys   map[string]bool
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func newInstance(t testing.TB) *instance {
	t.Helper()
	now := time.Now().Truncate(time.Second)
	in := &instance{
		t: t, claims: run(), issued: now, expires: now.Add(10 * time.Minute), stamped: now.Add(time.Minute), logged: now.Add(time.Minute),
		tsaKey: newKey(), ctKey: newKey(), logKey2: newKey(), log1: must(ca.NewVirtualSigstore()),
		faults: map[string][]func(*http.Request) (*http.Response, error){}, calls: map[string]int{}, keys: map[string]bool{},
	}
	rootCert, rootKey, err := ca.GenerateRootCa()
	if err != nil {
		t.Fatal(err)
	}
	issuer, issuerKey, err := ca.GenerateFulcioIntermediate(rootCert, rootKey)
	if err != nil {
		t.Fatal(err)
	}
	in.fulcioKey = issuerKey
	start, end := now.Add(-time.Hour), now.Add(time.Hour)
	in.fulcio = &root.FulcioCertificateAuthority{Root: rootCert, Intermediates: []*x509.Certificate{issuer}, ValidityPeriodStart: start, ValidityPeriodEnd: end, URI: "https://fulcio.test"}
	stamper, stamperKey, err := ca.GenerateTSAIntermediate(rootCert, rootKey)
	if err != nil {
		t.Fatal(err)
	}
	leaf := must(ca.GenerateTSALeafCert(now.Add(-time.Minute), in.tsaKey, stamper, stamperKey))
	in.tsa = &root.SigstoreTimestampingAuthority{Root: rootCert, Intermediates: []*x509.Certificate{stamper}, Leaf: leaf, ValidityPeriodStart: start, ValidityPeriodEnd: end, URI: "https://tsa.test"}
	return in
}

func keyID(k *ecdsa.PrivateKey) [32]byte {
	return sha256.Sum256(must(x509.MarshalPKIXPublicKey(k.Public())))
}

// parts of a root or a signing config.
const (
	withCT = 1 << iota
	withTSA
	withLog1
	withLog2
)

// root returns the trusted_root.json of the parts, beside the certificate
// authority.
func (in *instance) root(parts int) []byte {
	now := in.issued
	log := func(address string, id []byte, key crypto.PublicKey) map[string]*root.TransparencyLog {
		return map[string]*root.TransparencyLog{hex.EncodeToString(id): {
			BaseURL: address, ID: id, ValidityPeriodStart: now.Add(-time.Hour), ValidityPeriodEnd: now.Add(time.Hour),
			HashFunc: crypto.SHA256, PublicKey: key, SignatureHashFunc: crypto.SHA256,
		}}
	}
	var cts, logs map[string]*root.TransparencyLog
	var tsas []root.TimestampingAuthority
	if parts&withCT != 0 {
		id := keyID(in.ctKey)
		cts = log("https://ct.test", id[:], in.ctKey.Public())
	}
	if parts&withTSA != 0 {
		tsas = append(tsas, in.tsa)
	}
	if parts&withLog1 != 0 {
		for id, l := range in.log1.RekorLogs() {
			logs = log(l.BaseURL, must(hex.DecodeString(id)), l.PublicKey)
		}
	}
	if parts&withLog2 != 0 {
		logs = log("https://rekor2.test", in.logID2(), in.logKey2.Public())
	}
	tr := must(root.NewTrustedRoot(root.TrustedRootMediaType01, []root.CertificateAuthority{in.fulcio}, cts, tsas, logs))
	return must(tr.MarshalJSON())
}

// config returns the signing_config.json of the parts.
func (in *instance) config(parts int) []byte {
	service := func(address string, version uint32) []root.Service {
		return []root.Service{{URL: address, MajorAPIVersion: version, ValidityPeriodStart: time.Now().Add(-time.Hour), Operator: "test"}}
	}
	any1 := root.ServiceConfiguration{Selector: trustroot.ServiceSelector_ANY}
	var tsas, logs []root.Service
	if parts&withTSA != 0 {
		tsas = service("https://tsa.test/api/v1/timestamp", 1)
	}
	if parts&withLog1 != 0 {
		logs = service("https://rekor1.test", 1)
	}
	if parts&withLog2 != 0 {
		logs = service("https://rekor2.test", 2)
	}
	sc := must(root.NewSigningConfig(root.SigningConfigMediaType02, service("https://fulcio.test", 1), nil, logs, any1, tsas, any1))
	return must(sc.MarshalJSON())
}

// RoundTrip answers for the services. A fault that the test has set for a service
// comes first, one for each call.
func (in *instance) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Host
	in.mu.Lock()
	in.calls[host]++
	var fault func(*http.Request) (*http.Response, error)
	if list := in.faults[host]; len(list) > 0 {
		fault, in.faults[host] = list[0], list[1:]
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		in.tokens = append(in.tokens, host+" "+bearer)
	}
	in.mu.Unlock()
	if fault != nil {
		return fault(r)
	}
	handlers := map[string]func(http.ResponseWriter, []byte){"fulcio.test": in.certify, "tsa.test": in.stamp, "rekor1.test": in.add1, "rekor2.test": in.add2}
	h, ok := handlers[host]
	if !ok {
		return nil, fmt.Errorf("no service at %q", host)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	h(w, body)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// certify answers as Fulcio does, for the key in the request and the claims of the
// test.
func (in *instance) certify(w http.ResponseWriter, body []byte) {
	var req struct {
		PublicKeyRequest struct {
			PublicKey struct {
				Content string `json:"content"`
			} `json:"publicKey"`
		} `json:"publicKeyRequest"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		panic(err)
	}
	block, _ := pem.Decode([]byte(req.PublicKeyRequest.PublicKey.Content))
	in.mu.Lock()
	in.keys[string(block.Bytes)] = true
	in.mu.Unlock()
	cert := in.leaf(must(x509.ParsePKIXPublicKey(block.Bytes)))
	answer := map[string]any{"signedCertificateEmbeddedSct": map[string]any{"chain": map[string]any{"certificates": []string{
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})),
	}}}}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

// leaf issues a certificate with Fulcio's extensions, and the promise of the
// certificate log embedded (RFC 6962, 3.3).
func (in *instance) leaf(public crypto.PublicKey) []byte {
	server := "https://github.com/"
	ext := func(n int, value string) pkix.Extension {
		return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, n}, Value: must(asn1.MarshalWithParams(value, "utf8"))}
	}
	c := in.claims
	t := &x509.Certificate{
		SerialNumber: big.NewInt(7), NotBefore: in.issued, NotAfter: in.expires,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{
			ext(8, c["iss"]), ext(12, server+c["repository"]), ext(13, c["sha"]), ext(14, c["ref"]), ext(15, c["repository_id"]),
			ext(17, c["repository_owner_id"]), ext(20, c["event_name"]), ext(21, server+c["repository"]+"/actions/runs/1/attempts/1"),
		},
	}
	for _, san := range append([]string{server + c["job_workflow_ref"]}, in.sans...) {
		t.URIs = append(t.URIs, must(url.Parse(san)))
	}
	if in.nobody {
		t.URIs = nil
	}
	issuer := in.fulcio.Intermediates[0]
	bare := must(x509.CreateCertificate(rand.Reader, t, issuer, public, in.fulcioKey))
	if in.noSCT {
		return bare
	}
	t.ExtraExtensions = append(t.ExtraExtensions, in.promise(must(x509.ParseCertificate(bare)), issuer))
	return must(x509.CreateCertificate(rand.Reader, t, issuer, public, in.fulcioKey))
}

// promise returns the extension with the signed certificate timestamp.
func (in *instance) promise(bare, issuer *x509.Certificate) pkix.Extension {
	sct := ct.SignedCertificateTimestamp{SCTVersion: ct.V1, LogID: ct.LogID{KeyID: keyID(in.ctKey)}, Timestamp: uint64(in.issued.UnixMilli())}
	entry := ct.LogEntry{Leaf: ct.MerkleTreeLeaf{Version: ct.V1, LeafType: ct.TimestampedEntryLeafType, TimestampedEntry: &ct.TimestampedEntry{
		Timestamp: sct.Timestamp, EntryType: ct.PrecertLogEntryType,
		PrecertEntry: &ct.PreCert{IssuerKeyHash: sha256.Sum256(issuer.RawSubjectPublicKeyInfo), TBSCertificate: bare.RawTBSCertificate},
	}}}
	digest := sha256.Sum256(must(ct.SerializeSCTSignatureInput(sct, entry)))
	sct.Signature = ct.DigitallySigned{
		Algorithm: tls.SignatureAndHashAlgorithm{Hash: tls.SHA256, Signature: tls.ECDSA},
		Signature: must(ecdsa.SignASN1(rand.Reader, in.ctKey, digest[:])),
	}
	list := must(x509util.MarshalSCTsIntoSCTList([]*ct.SignedCertificateTimestamp{&sct}))
	return pkix.Extension{Id: asn1.ObjectIdentifier(ctx509.OIDExtensionCTSCT), Value: must(asn1.Marshal(must(tls.Marshal(*list))))}
}

// stamp answers as a timestamp authority does (RFC 3161).
func (in *instance) stamp(w http.ResponseWriter, body []byte) {
	req := must(timestamp.ParseRequest(body))
	ts := timestamp.Timestamp{
		HashAlgorithm: req.HashAlgorithm, HashedMessage: req.HashedMessage, Time: in.stamped,
		Policy: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 2},
	}
	w.WriteHeader(http.StatusCreated)
	if _, err := w.Write(must(ts.CreateResponseWithOpts(in.tsa.Leaf, in.tsaKey, crypto.SHA256))); err != nil {
		panic(err)
	}
}

// add1 answers as a log of version 1 does.
func (in *instance) add1(w http.ResponseWriter, body []byte) {
	var req struct {
		Spec struct {
			Content struct {
				Envelope  string   `json:"envelope"`
				Verifiers [][]byte `json:"verifiers"`
			} `json:"proposedContent"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		panic(err)
	}
	var envelope dsse.Envelope
	if err := json.Unmarshal([]byte(req.Spec.Content.Envelope), &envelope); err != nil {
		panic(err)
	}
	block, _ := pem.Decode(req.Spec.Content.Verifiers[0])
	cert := must(x509.ParseCertificate(block.Bytes))
	sig := must(base64.StdEncoding.DecodeString(envelope.Signatures[0].Sig))
	e := must(in.log1.GenerateTlogEntry(cert, &envelope, sig, in.logged.Unix(), true)).TransparencyLogEntry()
	proof, logID := e.GetInclusionProof(), hex.EncodeToString(e.GetLogId().GetKeyId())
	promise := must(in.log1.RekorSignPayload(tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(e.GetCanonicalizedBody()), IntegratedTime: e.GetIntegratedTime(), LogIndex: e.GetLogIndex(), LogID: logID,
	}))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", "24296fb2")
	w.WriteHeader(http.StatusCreated)
	answer := map[string]any{"24296fb2": map[string]any{
		"body": e.GetCanonicalizedBody(), "integratedTime": e.GetIntegratedTime(), "logIndex": e.GetLogIndex(),
		"logID": logID,
		"verification": map[string]any{
			"signedEntryTimestamp": promise,
			"inclusionProof": map[string]any{
				"checkpoint": proof.GetCheckpoint().GetEnvelope(), "hashes": []string{}, "logIndex": proof.GetLogIndex(),
				"rootHash": hex.EncodeToString(proof.GetRootHash()), "treeSize": proof.GetTreeSize(),
			},
		},
	}}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

// options are those of a signer with the instance; the waits between tries take no
// time, and are counted.
func (in *instance) options(parts int) KeylessOptions {
	return KeylessOptions{
		Token:  func(context.Context) (string, error) { return token(in.claims), nil },
		Config: in.config(parts), Root: in.root(parts), Identity: acme, HTTP: in,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// bundle returns a bundle as the instance makes it, verified by nobody.
func (in *instance) bundle(parts int, src []byte) []byte {
	in.t.Helper()
	o := in.options(parts)
	o.Token = func(context.Context) (string, error) { return token(run()), nil }
	k := must(NewKeyless(context.Background(), o))
	b, err := k.once(context.Background(), src)
	if err != nil {
		in.t.Fatal(err)
	}
	return b
}

// answer returns a fault: the status, with headers as "Name: value".
func answer(status int, body string, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			h.Set(name, value)
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader([]byte(body))), Request: r}, nil
	}
}
