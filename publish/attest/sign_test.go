package attest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/statement"
)

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// sample is a statement of packgate.
func sample() []byte {
	return must(statement.State{
		Version: statement.Version{Pack: "ctxpack.support@1.2.0", Manifest: digestOf("a"), Content: digestOf("b")},
		State:   statement.StateRevoked, Reason: "leaks", Actor: "ada", Time: time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC),
	}.Statement())
}

func TestKeylessSignsWithEitherLog(t *testing.T) {
	for name, parts := range map[string]int{"version 1": withCT | withTSA | withLog1, "version 1 alone": withCT | withLog1, "version 2": withCT | withTSA | withLog2, "no log": withTSA} {
		t.Run(name, func(t *testing.T) {
			in := newInstance(t)
			k, err := NewKeyless(context.Background(), in.options(parts))
			if err != nil {
				t.Fatal(err)
			}
			b, err := k.Sign(context.Background(), sample())
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.verifier.Verify(b)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(b)
			if got.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
				t.Errorf("digest %s", got.Digest)
			}
			if want := in.stamped.UTC(); !got.Time.Equal(want) {
				t.Errorf("time %s, wanted %s", got.Time, want)
			}
			want := SignerInfo{
				Issuer: gitHub, Workflow: workflow, Repository: "https://github.com/acme/packs", Commit: strings.Repeat("1", 40),
				Ref: "refs/heads/main", Trigger: "push", RunURL: "https://github.com/acme/packs/actions/runs/1/attempts/1",
			}
			if got.Signer != want {
				t.Errorf("signer %+v, wanted %+v", got.Signer, want)
			}
			if v := got.Statement.Version(); v.Pack != "ctxpack.support@1.2.0" || v.Manifest != digestOf("a") {
				t.Errorf("version %+v", v)
			}
			for _, sent := range in.tokens {
				if !strings.HasPrefix(sent, "fulcio.test ") {
					t.Errorf("the token went to %.20s", sent)
				}
			}
		})
	}
}

// One signer and one verifier serve several packs at a time.
func TestSignAndVerifyAtTheSameTime(t *testing.T) {
	in := newInstance(t)
	k, err := NewKeyless(context.Background(), in.options(full))
	if err != nil {
		t.Fatal(err)
	}
	in.faults["tsa.test"] = fails(3, answer(500, ""))
	failed := make(chan error)
	for range 6 {
		go func() {
			b, err := k.Sign(context.Background(), sample())
			if err == nil {
				_, err = k.verifier.Verify(b)
			}
			failed <- err
		}()
	}
	for range 6 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if len(in.keys) != 9 {
		t.Errorf("%d keys, wanted one for each of 6 signatures and of 3 that failed", len(in.keys))
	}
}
