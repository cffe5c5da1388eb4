package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/contextosai/packgate/finding/fault"
	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	"google.golang.org/protobuf/encoding/protojson"
)

const (
	full  = withCT | withTSA | withLog1
	full2 = withCT | withTSA | withLog2
)

// verifier returns one that trusts the instance and acme.
func (in *instance) verifier(parts int, change ...func(*Identity)) *Verifier {
	in.t.Helper()
	id := acme
	for _, c := range change {
		c(&id)
	}
	v, err := NewVerifier(must(TrustRoot(in.root(parts))), id)
	if err != nil {
		in.t.Fatal(err)
	}
	return v
}

// parsed returns the members of a bundle.
func parsed(src []byte) *protobundle.Bundle {
	b := &protobundle.Bundle{}
	if err := protojson.Unmarshal(src, b); err != nil {
		panic(err)
	}
	return b
}

// edited returns the bundle with a change to its members.
func edited(src []byte, change func(*protobundle.Bundle)) []byte {
	b := parsed(src)
	change(b)
	return must(protojson.Marshal(b))
}

// refused checks that a bundle is refused for the reason, and for that alone.
func refused(t *testing.T, v *Verifier, b []byte, kind error, message string) {
	t.Helper()
	got, err := v.Verify(b)
	var e *fault.Error
	if !errors.As(err, &e) || got != nil {
		t.Fatalf("got %+v and the error %v", got, err)
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("not printable: %q", err)
	}
	if e.Kind != kind || !errors.Is(err, kind) || !strings.Contains(err.Error(), message) {
		t.Errorf("got  %v: %v\nwant %v: %s", e.Kind, err, kind, message)
	}
}

// Each case issues a certificate that is sound but for one thing.
func TestVerifyRefusesWhoIsNotTrusted(t *testing.T) {
	for name, c := range map[string]struct {
		claim, value string
		kind         error
		message      string
	}{
		"issuer":              {"iss", "https://token.example.com", ErrIssuer, `signed by the issuer "https://token.example.com", wanted "https://token.actions.githubusercontent.com"`},
		"workflow":            {"job_workflow_ref", "acme/packs/.github/workflows/other.yml@refs/heads/main", ErrWorkflow, `signed by the workflow "https://github.com/acme/packs/.github/workflows/other.yml@refs/heads/main", wanted "` + workflow + `"`},
		"branch":              {"job_workflow_ref", "acme/packs/.github/workflows/packs.yml@refs/heads/mainly", ErrWorkflow, `packs.yml@refs/heads/mainly"`},
		"pull request":        {"job_workflow_ref", "acme/packs/.github/workflows/packs.yml@refs/pull/7/merge", ErrWorkflow, `@refs/pull/7/merge"`},
		"repository":          {"repository", "alice/packs", ErrRepository, `signed by the repository "https://github.com/alice/packs", wanted "https://github.com/acme/packs"`},
		"repository prefix":   {"repository", "acme/packs-2", ErrRepository, `acme/packs-2`},
		"repository deleted":  {"repository_id", "12", ErrRepository, `the repository with the ID "12", wanted "11"`},
		"owner deleted":       {"repository_owner_id", "23", ErrRepository, `the repository owner with the ID "23", wanted "22"`},
		"branch that calls":   {"ref", "refs/heads/evil", ErrWorkflow, `the ref "refs/heads/evil", wanted "refs/heads/main"`},
		"trigger":             {"event_name", "schedule", ErrTrigger, `the trigger "schedule", wanted one of ["push" "workflow_dispatch"]`},
		"trigger of a fork":   {"event_name", "pull_request_target", ErrTrigger, `the trigger "pull_request_target"`},
		"no trigger":          {"event_name", "", ErrTrigger, `the trigger ""`},
		"letters of the case": {"repository", "Acme/packs", ErrRepository, `"https://github.com/Acme/packs"`},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstance(t)
			in.claims[c.claim] = c.value
			refused(t, in.verifier(full), in.bundle(full, sample()), c.kind, c.message)
		})
	}
}

func TestVerifyAcceptsEachTrigger(t *testing.T) {
	for _, trigger := range []string{"push", "workflow_dispatch"} {
		in := newInstance(t)
		in.claims["event_name"] = trigger
		got, err := in.verifier(full).Verify(in.bundle(full, sample()))
		if err != nil || got.Signer.Trigger != trigger {
			t.Errorf("%s: %v", trigger, err)
		}
	}
	in := newInstance(t)
	in.claims["event_name"] = "release"
	b := in.bundle(full, sample())
	refused(t, in.verifier(full), b, ErrTrigger, "release")
	if _, err := in.verifier(full, func(id *Identity) { id.Triggers = []string{"release"} }).Verify(b); err != nil {
		t.Error(err)
	}
}

// IDs that the identity does not give are not compared; the repository is, always.
func TestVerifyDerivesTheRepository(t *testing.T) {
	in := newInstance(t)
	in.claims["repository"], in.claims["repository_id"] = "bob/packs", "99"
	b := in.bundle(full, sample())
	noIDs := func(id *Identity) { id.RepositoryID, id.OwnerID = "", "" }
	refused(t, in.verifier(full, noIDs), b, ErrRepository, `"https://github.com/bob/packs", wanted "https://github.com/acme/packs"`)
	called := func(id *Identity) { noIDs(id); id.Repository = "https://github.com/bob/packs" }
	if _, err := in.verifier(full, called).Verify(b); err != nil {
		t.Errorf("a reusable workflow called by the trusted repository: %v", err)
	}
}

func TestVerifyRefusesASecondName(t *testing.T) {
	in := newInstance(t)
	in.sans = []string{"https://github.com/alice/x"}
	refused(t, in.verifier(full), in.bundle(full, sample()), ErrWorkflow, "the certificate names 2 subjects")
}

func TestVerifyRefusesACertificateOfNobody(t *testing.T) {
	in := newInstance(t)
	in.nobody = true
	refused(t, in.verifier(full), in.bundle(full, sample()), ErrCertificate, "the certificate names no signer")
}

// A root without a certificate log asks for less, and for the identity all the same.
func TestVerifyHoldsTheIdentityWithoutACertificateLog(t *testing.T) {
	in := newInstance(t)
	in.noSCT, in.claims["event_name"] = true, "schedule"
	refused(t, in.verifier(withTSA|withLog1), in.bundle(full, sample()), ErrTrigger, "schedule")
}

func TestVerifyRefusesWhatWasChanged(t *testing.T) {
	in := newInstance(t)
	good := in.bundle(full, sample())
	v := in.verifier(full)
	for name, change := range map[string]func(*protodsse.Envelope){
		"statement": func(e *protodsse.Envelope) {
			e.Payload = bytes.Replace(e.Payload, []byte("leaks"), []byte("worse"), 1)
		},
		"signature": func(e *protodsse.Envelope) { e.Signatures[0].Sig[8] ^= 1 },
		"pack": func(e *protodsse.Envelope) {
			e.Payload = bytes.ReplaceAll(e.Payload, []byte("ctxpack.support"), []byte("ctxpack.another"))
		},
		"another statement's signature": func(e *protodsse.Envelope) {
			other := parsed(in.bundle(full, bytes.Replace(sample(), []byte("leaks"), []byte("fine"), 1)))
			e.Signatures = other.GetDsseEnvelope().Signatures
		},
	} {
		b := edited(good, func(b *protobundle.Bundle) { change(b.GetDsseEnvelope()) })
		t.Run(name, func(t *testing.T) { refused(t, v, b, ErrSignature, "the signature does not match the statement") })
	}
	t.Run("another certificate", func(t *testing.T) {
		other := parsed(in.bundle(full, sample()))
		b := edited(good, func(b *protobundle.Bundle) { b.VerificationMaterial.Content = other.VerificationMaterial.Content })
		refused(t, v, b, ErrSignature, "the signature does not match")
	})
	t.Run("another pack's bundle", func(t *testing.T) {
		got, err := v.Verify(in.bundle(full, bytes.ReplaceAll(sample(), []byte("ctxpack.support"), []byte("ctxpack.another"))))
		if err != nil || got.Statement.Version().Pack != "ctxpack.another@1.2.0" {
			t.Errorf("a sound bundle of another pack has to name it for the caller: %v", err)
		}
	})
}

func TestVerifyWantsLogTimeAndCertificate(t *testing.T) {
	t.Run("no log entry", func(t *testing.T) {
		in := newInstance(t)
		refused(t, in.verifier(full), in.bundle(withCT|withTSA, sample()), ErrLog, "no entry of a transparency log")
	})
	t.Run("another log", func(t *testing.T) {
		in, other := newInstance(t), newInstance(t)
		in.log1 = other.log1
		b := in.bundle(full, sample())
		in.log1 = newInstance(t).log1
		refused(t, in.verifier(full), b, ErrLog, "no entry of a trusted transparency log")
	})
	t.Run("another signature's entry", func(t *testing.T) {
		in := newInstance(t)
		other := parsed(in.bundle(full, sample()))
		b := edited(in.bundle(full, sample()), func(b *protobundle.Bundle) {
			b.VerificationMaterial.TlogEntries = other.VerificationMaterial.TlogEntries
		})
		refused(t, in.verifier(full), b, ErrLog, "does not match")
	})
	t.Run("no timestamp", func(t *testing.T) {
		in := newInstance(t)
		b := edited(in.bundle(full2, sample()), func(b *protobundle.Bundle) { b.VerificationMaterial.TimestampVerificationData = nil })
		refused(t, in.verifier(full2), b, ErrTimestamp, "no trusted timestamp")
	})
	t.Run("another signature's timestamp", func(t *testing.T) {
		in := newInstance(t)
		other := parsed(in.bundle(full2, sample()))
		b := edited(in.bundle(full2, sample()), func(b *protobundle.Bundle) {
			b.VerificationMaterial.TimestampVerificationData = other.VerificationMaterial.TimestampVerificationData
		})
		refused(t, in.verifier(full2), b, ErrTimestamp, "no trusted timestamp")
	})
	t.Run("certificate not in its log", func(t *testing.T) {
		in := newInstance(t)
		in.noSCT = true
		b := in.bundle(full, sample())
		refused(t, in.verifier(full), b, ErrSCT, "not in a trusted certificate log")
		if _, err := in.verifier(withTSA | withLog1).Verify(b); err != nil {
			t.Errorf("with a root that names no certificate log: %v", err)
		}
	})
	t.Run("another authority", func(t *testing.T) {
		in, other := newInstance(t), newInstance(t)
		b := in.bundle(full, sample())
		in.fulcio = other.fulcio
		refused(t, in.verifier(full), b, ErrCertificate, "not from a trusted authority")
	})
}

func TestVerifyWantsTheSignatureWithinTheCertificate(t *testing.T) {
	for name, change := range map[string]func(*instance){
		"timestamp before": func(in *instance) { in.stamped = in.issued.Add(-time.Second) },
		"timestamp after":  func(in *instance) { in.stamped = in.expires.Add(time.Second) },
		"log before":       func(in *instance) { in.logged = in.issued.Add(-time.Second) },
		"log after":        func(in *instance) { in.logged = in.expires.Add(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstance(t)
			in.expires = in.issued.Add(2 * time.Minute)
			change(in)
			refused(t, in.verifier(full), in.bundle(full, sample()), ErrCertificate, "wanted a time at which its certificate was valid")
		})
	}
}

func TestVerifyRefusesOtherShapes(t *testing.T) {
	in := newInstance(t)
	good := in.bundle(full, sample())
	v := in.verifier(full)
	cert := func(b *protobundle.Bundle) []byte { return b.GetVerificationMaterial().GetCertificate().GetRawBytes() }
	for name, c := range map[string]struct {
		b       []byte
		kind    error
		message string
	}{
		"empty":         {nil, ErrMalformed, "the bundle cannot be read"},
		"garbage":       {[]byte("\x00\xffgarbage"), ErrMalformed, "the bundle cannot be read"},
		"unprintable":   {[]byte("{\"\u202e\x1b\": 1}"), ErrMalformed, "the bundle cannot be read: proto: "},
		"another JSON":  {[]byte(`{"a":1}`), ErrMalformed, "the bundle cannot be read"},
		"named twice":   {bytes.Replace(good, []byte(`{`), []byte(`{"mediaType":"x",`), 1), ErrMalformed, "the bundle cannot be read"},
		"huge":          {bytes.Repeat([]byte(" "), MaxBytes+1), ErrMalformed, "the bundle has 4194305 bytes, wanted at most 4194304"},
		"older version": {edited(good, func(b *protobundle.Bundle) { b.MediaType = "application/vnd.dev.sigstore.bundle+json;version=0.2" }), ErrMalformed, `version=0.2", wanted "application/vnd.dev.sigstore.bundle.v0.3+json"`},
		"no material":   {edited(good, func(b *protobundle.Bundle) { b.VerificationMaterial = nil }), ErrMalformed, "missing verification material"},
		"no content":    {edited(good, func(b *protobundle.Bundle) { b.Content = nil }), ErrMalformed, "missing bundle content"},
		"no signature":  {edited(good, func(b *protobundle.Bundle) { b.GetDsseEnvelope().Signatures = nil }), ErrMalformed, "the envelope has 0 signatures, wanted 1"},
		"two signatures": {edited(good, func(b *protobundle.Bundle) {
			e := b.GetDsseEnvelope()
			e.Signatures = append(e.Signatures, e.Signatures[0])
		}), ErrMalformed, "the envelope has 2 signatures, wanted 1"},
		"payload type": {edited(good, func(b *protobundle.Bundle) { b.GetDsseEnvelope().PayloadType = "text/plain" }), ErrMalformed, `the envelope contains "text/plain"`},
		"chain": {edited(good, func(b *protobundle.Bundle) {
			b.VerificationMaterial.Content = &protobundle.VerificationMaterial_X509CertificateChain{X509CertificateChain: &common.X509CertificateChain{
				Certificates: []*common.X509Certificate{{RawBytes: cert(b)}, {RawBytes: in.fulcio.Intermediates[0].Raw}},
			}}
		}), ErrMalformed, "cannot be X.509 certificate chain"},
		"two certificates": {edited(good, func(b *protobundle.Bundle) {
			c := b.GetVerificationMaterial().GetCertificate()
			c.RawBytes = append(bytes.Clone(c.RawBytes), c.RawBytes...)
		}), ErrMalformed, "the certificate of the bundle cannot be read"},
		"no certificate": {edited(good, func(b *protobundle.Bundle) { b.GetVerificationMaterial().GetCertificate().RawBytes = nil }), ErrMalformed, "the certificate of the bundle cannot be read"},
		"message signature": {edited(good, func(b *protobundle.Bundle) {
			b.Content = &protobundle.Bundle_MessageSignature{MessageSignature: &common.MessageSignature{
				MessageDigest: &common.HashOutput{Algorithm: common.HashAlgorithm_SHA2_256, Digest: make([]byte, 32)}, Signature: []byte("x"),
			}}
		}), ErrMalformed, "the signature of a message, wanted that of a statement"},
		"huge statement": {edited(good, func(b *protobundle.Bundle) { b.GetDsseEnvelope().Payload = make([]byte, 1<<20+1) }), ErrMalformed, "the statement has 1048577 bytes, wanted at most 1048576"},
		"key": {edited(good, func(b *protobundle.Bundle) {
			b.VerificationMaterial.Content = &protobundle.VerificationMaterial_PublicKey{PublicKey: &common.PublicKeyIdentifier{Hint: "x"}}
		}), ErrUntrusted, "the bundle was signed with a key, wanted the workflow"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, v, c.b, c.kind, c.message) })
	}
}

// The signer is right and the statement is not one of packgate.
func TestVerifyRefusesAnotherStatement(t *testing.T) {
	in := newInstance(t)
	src := []byte(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"x","digest":{"sha256":"` + strings.Repeat("a", 64) + `"}}],"predicateType":"https://spdx.dev/Document","predicate":{}}`)
	refused(t, in.verifier(full), in.bundle(full, src), ErrMalformed, "the signed statement is not one of packgate's: member \"/subject\" of the statement has 1 item, wanted 2")
}

func TestNewVerifierRefusesIdentities(t *testing.T) {
	in := newInstance(t)
	trust := must(TrustRoot(in.root(full)))
	for want, id := range map[string]Identity{
		`the issuer is ""`:               {Workflow: workflow},
		`the issuer is "github"`:         {Workflow: workflow, Issuer: "github"},
		`the workflow is ""`:             {Issuer: gitHub},
		`the workflow is "acme/packs`:    {Issuer: gitHub, Workflow: strings.TrimPrefix(workflow, "https://github.com/")},
		`packs.yml", wanted an address`:  {Issuer: gitHub, Workflow: strings.TrimSuffix(workflow, "@refs/heads/main")},
		`is not part of its address`:     {Issuer: gitHub, Workflow: "https://gitlab.com/acme/packs//.gitlab-ci.yml@refs/heads/main"},
		`the repository is "acme/packs"`: {Issuer: gitHub, Workflow: workflow, Repository: "acme/packs"},
		`the trigger is "schedule"`:      {Issuer: gitHub, Workflow: workflow, Triggers: []string{"push", "schedule"}},
		`the trigger is "pull_request"`:  {Issuer: gitHub, Workflow: workflow, Triggers: []string{"pull_request"}},
	} {
		if _, err := NewVerifier(trust, id); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v\ngot  %v\nwant %s", id, err, want)
		}
	}
	if got := acme.String(); got != workflow+" ("+gitHub+")" {
		t.Errorf("identity is shown as %q", got)
	}
}

func TestTrustRootRefuses(t *testing.T) {
	in := newInstance(t)
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in.root(full), &members); err != nil {
		t.Fatal(err)
	}
	without := func(names ...string) []byte {
		m := maps.Clone(members)
		for _, n := range names {
			delete(m, n)
		}
		return must(json.Marshal(m))
	}
	for want, src := range map[string][]byte{
		"the trusted root cannot be read":      []byte("{"),
		"names no certificate authority":       without("certificateAuthorities"),
		"neither a timestamp authority nor a ": without("timestampAuthorities", "tlogs"),
	} {
		if _, err := TrustRoot(src); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	in := newInstance(b)
	v := in.verifier(full)
	src, err := must(NewKeyless(context.Background(), in.options(full))).Sign(context.Background(), sample())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := v.Verify(src); err != nil {
			b.Fatal(err)
		}
	}
}
