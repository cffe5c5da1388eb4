package attest

import (
	"encoding/base64"
	"testing"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"

	"github.com/contextosai/packgate/publish/statement"
)

// A bundle is told to be of the trusted identity by what it names, whatever is wrong with it.
func TestClaim(t *testing.T) {
	in := newInstance(t)
	good, v := in.bundle(full, sample()), in.verifier(full)
	payload := func(src string) []byte {
		return edited(good, func(b *protobundle.Bundle) { b.GetDsseEnvelope().Payload = []byte(src) })
	}
	of := func(claim, value string) []byte {
		other := newInstance(t)
		other.claims[claim] = value
		return other.bundle(full, sample())
	}
	chain := edited(good, func(b *protobundle.Bundle) {
		m := b.GetVerificationMaterial()
		m.Content = &protobundle.VerificationMaterial_X509CertificateChain{X509CertificateChain: &protocommon.X509CertificateChain{
			Certificates: []*protocommon.X509Certificate{m.GetCertificate()}}}
	})
	for name, c := range map[string]struct {
		bundle []byte
		want   Claim
	}{
		"whole":                   {good, Claim{true, statement.TypeState}},
		"another payload":         {payload(`{"predicateType":"` + statement.TypePin + `"}`), Claim{true, statement.TypePin}},
		"a payload that is none":  {payload(`{"predicateType":`), Claim{true, ""}},
		"an old shape":            {chain, Claim{true, statement.TypeState}},
		"the trigger differs":     {of("event_name", "schedule"), Claim{true, statement.TypeState}},
		"the repository differs":  {of("repository_id", "12"), Claim{true, statement.TypeState}},
		"another workflow":        {of("job_workflow_ref", "acme/packs/.github/workflows/other.yml@refs/heads/main"), Claim{false, statement.TypeState}},
		"another branch":          {of("job_workflow_ref", "acme/packs/.github/workflows/packs.yml@refs/heads/evil"), Claim{false, statement.TypeState}},
		"another issuer":          {of("iss", "https://token.example.com"), Claim{false, statement.TypeState}},
		"no bundle":               {[]byte("garbage"), Claim{}},
		"nothing":                 {nil, Claim{}},
		"a bundle that is cut":    {good[:len(good)/2], Claim{}},
		"larger than any that is": {append(good, make([]byte, MaxBytes)...), Claim{}},
		"no certificate":          {edited(good, func(b *protobundle.Bundle) { b.VerificationMaterial = nil }), Claim{false, statement.TypeState}},
		"a certificate that is cut": {edited(good, func(b *protobundle.Bundle) {
			c := b.GetVerificationMaterial().GetCertificate()
			c.RawBytes = c.RawBytes[:99]
		}), Claim{false, statement.TypeState}},
	} {
		if got := v.Claim(c.bundle); got != c.want {
			t.Errorf("%s: %+v, wanted %+v", name, got, c.want)
		}
	}
}

// With a key it is the hint that names it; one without may be of any key.
func TestClaimOfAKey(t *testing.T) {
	signer := must(NewKeySigner(pkcs8Of(newKey()), nil))
	v := must(NewVerifier(must(TrustKey(signer.PublicKey())), Identity{}))
	good := must(signer.Sign(t.Context(), sample()))
	hinted := func(hint string) []byte {
		return edited(good, func(b *protobundle.Bundle) { b.GetVerificationMaterial().GetPublicKey().Hint = hint })
	}
	for name, c := range map[string]struct {
		bundle []byte
		ours   bool
	}{
		"its own":       {good, true},
		"no hint":       {hinted(""), true},
		"another key":   {hinted(base64.StdEncoding.EncodeToString(make([]byte, 32))), false},
		"no hint at it": {hinted("?"), false},
		"a workflow's":  {newInstance(t).bundle(full, sample()), false},
	} {
		if got := v.Claim(c.bundle); got.Ours != c.ours || got.Type != statement.TypeState {
			t.Errorf("%s: %+v, wanted ours %v", name, got, c.ours)
		}
	}
	if got := newInstance(t).verifier(full).Claim(good); got.Ours {
		t.Errorf("a key's bundle is of no workflow: %+v", got)
	}
}
