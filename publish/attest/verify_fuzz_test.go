package attest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"testing"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
)

// fixedKey returns the key of a name, the same in every process.
func fixedKey(name string) *ecdsa.PrivateKey {
	scalar := sha256.Sum256([]byte("packgate's tests: " + name))
	return must(ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar[:]))
}

// fixedCertificate issues a certificate with the same bytes in every process: without
// a source of randomness a signature follows from the key and what is signed (RFC 6979).
func fixedCertificate(template, parent *x509.Certificate, of, by *ecdsa.PrivateKey) *x509.Certificate {
	template.SerialNumber = big.NewInt(1)
	return must(x509.ParseCertificate(must(x509.CreateCertificate(nil, template, parent, of.Public(), by))))
}

// fixedInstance returns an instance with the same keys, certificates and times in
// every process, but for its log of version 1. A fuzzer runs in several processes and
// keeps what it finds for later ones: what verifies in one verifies in all.
func fixedInstance(t testing.TB) *instance {
	t.Helper()
	in := newInstance(t)
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	// The library puts the time of the machine into a timestamp too, and wants it
	// within the certificate.
	start, end := now.Add(-time.Hour), now.AddDate(100, 0, 0)
	in.issued, in.expires, in.stamped, in.logged = now, now.Add(10*time.Minute), now.Add(time.Minute), now.Add(time.Minute)
	in.tsaKey, in.ctKey, in.logKey2, in.fulcioKey = fixedKey("timestamps"), fixedKey("certificate log"), fixedKey("log"), fixedKey("certificates")

	authority := func(name string, usage ...x509.ExtKeyUsage) *x509.Certificate {
		return &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, NotBefore: start, NotAfter: end, KeyUsage: x509.KeyUsageCertSign,
			ExtKeyUsage: usage, BasicConstraintsValid: true, IsCA: true,
		}
	}
	rootKey, stamperKey := fixedKey("root"), fixedKey("timestamp certificates")
	self := authority("root")
	top := fixedCertificate(self, self, rootKey, rootKey)
	issuer := fixedCertificate(authority("issuer", x509.ExtKeyUsageCodeSigning), top, in.fulcioKey, rootKey)
	stamper := fixedCertificate(authority("stamper", x509.ExtKeyUsageTimeStamping), top, stamperKey, rootKey)
	// The usage has to be critical (RFC 3161, 2.3), which the field for it cannot say.
	leaf := fixedCertificate(&x509.Certificate{
		NotBefore: start, NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{
			Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true,
			Value: must(asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})),
		}},
	}, stamper, in.tsaKey, stamperKey)
	in.fulcio = &root.FulcioCertificateAuthority{Root: top, Intermediates: []*x509.Certificate{issuer}, ValidityPeriodStart: start, ValidityPeriodEnd: end, URI: "https://fulcio.test"}
	in.tsa = &root.SigstoreTimestampingAuthority{Root: top, Intermediates: []*x509.Certificate{stamper}, Leaf: leaf, ValidityPeriodStart: start, ValidityPeriodEnd: end, URI: "https://tsa.test"}
	return in
}

// What one instance signs another one verifies, as if it were in another process.
func TestFixedInstancesTrustEachOther(t *testing.T) {
	one, other := fixedInstance(t), fixedInstance(t)
	if !bytes.Equal(one.root(full2), other.root(full2)) {
		t.Error("two fixed instances have two roots")
	}
	got, err := one.verifier(full2).Verify(other.bundle(full2, sample()))
	if err != nil || got.Statement.Version().Pack != "ctxpack.support@1.2.0" || !got.Time.Equal(one.stamped) {
		t.Errorf("verified %+v, %v", got, err)
	}
	for _, k := range []crypto.Signer{one.tsaKey, one.ctKey, one.logKey2, one.fulcioKey} {
		if k.Public().(*ecdsa.PublicKey).Equal(newInstance(t).tsaKey.Public()) {
			t.Error("an instance that is not fixed has a fixed key")
		}
	}
}

// FuzzVerify holds that nothing but the very statement verifies, whatever the
// bytes around it.
func FuzzVerify(f *testing.F) {
	in := fixedInstance(f)
	good := in.bundle(full2, sample())
	v := in.verifier(full2)
	if _, err := v.Verify(good); err != nil {
		f.Fatalf("the bundle to begin with does not verify: %v", err)
	}
	f.Add(good)
	f.Add([]byte(base64.StdEncoding.EncodeToString(good)))
	f.Add(edited(good, func(b *protobundle.Bundle) { b.VerificationMaterial.TlogEntries = nil }))
	f.Add(edited(good, func(b *protobundle.Bundle) { b.VerificationMaterial.TimestampVerificationData = nil }))
	f.Add(edited(good, func(b *protobundle.Bundle) { b.GetDsseEnvelope().Payload[40] ^= 1 }))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) <= 1<<16 {
			judged(t, v, src)
		}
	})
}
