package attest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
)

// fileBundle returns a bundle over the bytes of a file, as cosign sign-blob makes it.
func (in *instance) fileBundle(content string) []byte {
	in.t.Helper()
	k := must(NewKeyless(context.Background(), in.options(full2)))
	key := must(sign.NewEphemeralKeypair(nil))
	options := must(k.options(context.Background(), token(run())))
	b, err := sign.Bundle(&sign.PlainData{Data: []byte(content)}, key, *options)
	if err != nil {
		in.t.Fatal(err)
	}
	return must(protojson.Marshal(b))
}

// A file is what its evaluator signed, or the error says what is wrong.
func TestVerifyFile(t *testing.T) {
	const content = `{"pack": "ctxpack.a@1.0.0"}`
	in := newInstance(t)
	v, b := in.verifier(full2), in.fileBundle(content)
	got, err := v.VerifyFile([]byte(content), b)
	if err != nil || got.Signer.Workflow != workflow || got.Statement != nil || got.Time.IsZero() {
		t.Fatalf("got %+v, %v", got, err)
	}
	other := newInstance(t)
	stranger := newInstance(t)
	stranger.claims["job_workflow_ref"] = "mallory/packs/.github/workflows/packs.yml@refs/heads/main"
	for name, c := range map[string]struct {
		v       *Verifier
		content string
		bundle  []byte
		kind    error
		message string
	}{
		"another file":       {v, content + " ", b, ErrSignature, "the signature does not match the file"},
		"no file":            {v, "", b, ErrSignature, "the signature does not match the file"},
		"another file's":     {v, content, in.fileBundle(content + " "), ErrSignature, "the signature does not match the file"},
		"another instance":   {other.verifier(full2), content, b, ErrLog, "no entry of a trusted transparency log"},
		"another workflow":   {stranger.verifier(full2), content, stranger.fileBundle(content), ErrWorkflow, "mallory/packs"},
		"a statement":        {v, content, in.bundle(full2, sample()), ErrMalformed, "wanted the signature of a file, as made by cosign sign-blob"},
		"no bundle":          {v, content, []byte("{}"), ErrMalformed, "cannot be read"},
		"a pack's signature": {v, string(sample()), in.bundle(full2, sample()), ErrMalformed, "the bundle contains a statement"},
		"nothing":            {v, content, nil, ErrMalformed, "cannot be read"},
	} {
		got, err := c.v.VerifyFile([]byte(c.content), c.bundle)
		if got != nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for at := 0; at < len(b); at += 7 {
		changed := append([]byte{}, b...)
		changed[at] ^= 2
		if got, err := v.VerifyFile([]byte(content), changed); err == nil && got.Signer.Workflow != workflow {
			t.Errorf("with another byte at %d it was signed by %+v", at, got.Signer)
		}
	}
	if _, err := v.Verify(b); !errors.Is(err, ErrMalformed) {
		t.Errorf("a file's signature is taken for a statement's: %v", err)
	}
}
