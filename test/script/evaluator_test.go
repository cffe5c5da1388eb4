package script_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	bundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"google.golang.org/protobuf/encoding/protojson"
)

// authority certifies whatever workflow a transcript names, and a timestamp authority
// witnesses when it signed. There are no logs.
type authority struct {
	root, issuer *x509.Certificate
	key          *ecdsa.PrivateKey
	stamps       *ca.VirtualSigstore
}

// newAuthority makes one. The transcripts share the first; another is a stranger's.
func newAuthority() (*authority, error) {
	a := &authority{}
	var rootKey *ecdsa.PrivateKey
	var err error
	if a.root, rootKey, err = ca.GenerateRootCa(); err != nil {
		return nil, err
	}
	if a.issuer, a.key, err = ca.GenerateFulcioIntermediate(a.root, rootKey); err != nil {
		return nil, err
	}
	a.stamps, err = ca.NewVirtualSigstore()
	return a, err
}

var authorities = map[string]func() (*authority, error){"own": sync.OnceValues(newAuthority), "strange": sync.OnceValues(newAuthority)}

// trusted returns the trusted_root.json of the authority.
func (a *authority) trusted() ([]byte, error) {
	issuer := &root.FulcioCertificateAuthority{
		Root: a.root, Intermediates: []*x509.Certificate{a.issuer}, URI: "https://fulcio.test",
		ValidityPeriodStart: a.issuer.NotBefore, ValidityPeriodEnd: a.issuer.NotAfter,
	}
	r, err := root.NewTrustedRoot(root.TrustedRootMediaType01, []root.CertificateAuthority{issuer}, nil, a.stamps.TimestampingAuthorities(), nil)
	if err != nil {
		return nil, err
	}
	return r.MarshalJSON()
}

// certificate returns one of a workflow, owner/repository/.github/workflows/FILE@REF, that
// somebody started.
func (a *authority) certificate(workflow string, public any) ([]byte, error) {
	const server = "https://github.com/"
	repository, _, _ := strings.Cut(workflow, "/.github/workflows/")
	_, ref, _ := strings.Cut(workflow, "@")
	name, err := url.Parse(server + workflow)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(7), NotBefore: a.issuer.NotBefore, NotAfter: a.issuer.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}, URIs: []*url.URL{name},
	}
	for n, value := range map[int]string{8: "https://token.actions.githubusercontent.com", 12: server + repository, 14: ref, 20: "workflow_dispatch"} {
		src, err := asn1.MarshalWithParams(value, "utf8")
		if err != nil {
			return nil, err
		}
		t.ExtraExtensions = append(t.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, n}, Value: src})
	}
	return x509.CreateCertificate(rand.Reader, t, a.issuer, public, a.key)
}

// sign returns the bundle of a workflow's signature of a file.
func (a *authority) sign(workflow string, content []byte) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	certificate, err := a.certificate(workflow, key.Public())
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return nil, err
	}
	stamp, err := a.stamps.TimestampResponse(signature)
	if err != nil {
		return nil, err
	}
	return protojson.Marshal(&bundle.Bundle{
		MediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
		VerificationMaterial: &bundle.VerificationMaterial{
			Content:                   &bundle.VerificationMaterial_Certificate{Certificate: &common.X509Certificate{RawBytes: certificate}},
			TimestampVerificationData: &bundle.TimestampVerificationData{Rfc3161Timestamps: []*common.RFC3161SignedTimestamp{{SignedTimestamp: stamp}}},
		},
		Content: &bundle.Bundle_MessageSignature{MessageSignature: &common.MessageSignature{
			MessageDigest: &common.HashOutput{Algorithm: common.HashAlgorithm_SHA2_256, Digest: digest[:]}, Signature: signature,
		}},
	})
}

// evaluator signs files as a workflow of GitHub does, by the authority that a transcript
// trusts ("own") or by another ("strange"):
//
//	evaluator root AUTHORITY FILE            writes the trusted root
//	evaluator sign AUTHORITY WORKFLOW FILE   writes FILE.sigstore.json
func evaluator(ts *testscript.TestScript, _ bool, args []string) {
	a, err := authorities[args[1]]()
	ts.Check(err)
	switch args[0] {
	case "root":
		src, err := a.trusted()
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), src, 0o644))
	case "sign":
		src, err := a.sign(args[2], []byte(ts.ReadFile(args[3])))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[3])+".sigstore.json", src, 0o644))
	default:
		ts.Fatalf("evaluator has no command %q", args[0])
	}
}
