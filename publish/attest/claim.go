package attest

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/contextosai/packgate/publish/statement"
)

// Claim is what a bundle says of itself. None of it is verified: it tells whose statement a
// bundle pretends to be that does not verify, and decides over nothing that is trusted.
type Claim struct {
	Ours bool   // it names the identity that is trusted, or the key
	Type string // of the statement; "" where it cannot be read
}

// MayBeState tells whether the statement may be one of a state, such as a revocation.
func (c Claim) MayBeState() bool { return c.Type == "" || c.Type == statement.TypeState }

// Claim reads what a bundle says of itself: the subject and the issuer of its certificate, or
// the hint of its key, and the type of its statement. A bundle that was damaged is read as far as
// it can be. One by a key that does not say by which may be by the one that is trusted; one that
// names nobody else and no workflow is of nobody.
func (v *Verifier) Claim(src []byte) (c Claim) {
	b := &protobundle.Bundle{}
	if len(src) > MaxBytes || (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(src, b) != nil {
		return c
	}
	var said struct {
		PredicateType string `json:"predicateType"`
	}
	if json.Unmarshal(b.GetDsseEnvelope().GetPayload(), &said) == nil {
		c.Type = said.PredicateType
	}
	material := b.GetVerificationMaterial()
	if v.trust.key != "" {
		_, byKey := material.GetContent().(*protobundle.VerificationMaterial_PublicKey)
		hint := material.GetPublicKey().GetHint()
		c.Ours = byKey && (hint == "" || hintOf(hint) == v.trust.key)
		return c
	}
	leaves := [][]byte{material.GetCertificate().GetRawBytes()}
	for _, one := range material.GetX509CertificateChain().GetCertificates() {
		leaves = append(leaves, one.GetRawBytes())
	}
	c.Ours = slices.ContainsFunc(leaves, v.named)
	return c
}

// hintOf returns the fingerprint in the hint of a key, "" where it holds none.
func hintOf(hint string) string {
	sum, err := base64.StdEncoding.DecodeString(hint)
	if err != nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(sum)
}

// named tells whether a certificate names the identity, or an earlier one.
func (v *Verifier) named(der []byte) bool {
	return v.identity.named(der) || slices.ContainsFunc(v.earlier, func(e *earlier) bool { return e.identity.named(der) })
}

// named tells whether a certificate names the workflow, and no other issuer than the one that
// vouches for it.
func (id Identity) named(der []byte) bool {
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return false
	}
	workflow := false
	for _, uri := range leaf.URIs {
		workflow = workflow || uri.String() == id.Workflow
	}
	summary, err := certificate.SummarizeCertificate(leaf)
	return workflow && (err != nil || summary.Issuer == "" || summary.Issuer == id.Issuer)
}
