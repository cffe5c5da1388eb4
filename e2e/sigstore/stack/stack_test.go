package stack

import (
	"bytes"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
	sigtuf "github.com/sigstore/sigstore-go/pkg/tuf"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"google.golang.org/protobuf/encoding/protojson"
)

var running *Stack

func TestMain(m *testing.M) { os.Exit(withStack(m)) }

func withStack(m *testing.M) int {
	dir, err := os.MkdirTemp("", "packgate-stack-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rekor := os.Getenv(heldProgram)
	if rekor == "" {
		if rekor, err = Rekor.Build(os.Stderr, dir); err != nil {
			log.Print(err)
			return 1
		}
	}
	if running, err = Start(dir, rekor); err != nil {
		log.Print(err)
		return 1
	}
	defer running.Close()
	if os.Getenv(heldProgram) != "" {
		return hold()
	}
	rekorProgram = rekor
	return m.Run()
}

// jobToken asks the issuer for a token as a job does.
func jobToken(t *testing.T, j *Job) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, j.RequestURL+"&audience=sigstore", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "bearer "+j.RequestToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Value string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return answer.Value
}

// signWith signs a message with Sigstore's own client and the files of the stack.
func signWith(t *testing.T, token string) (*bundle.Bundle, error) {
	t.Helper()
	trusted, err := root.NewTrustedRootFromPath(running.TrustedRoot)
	if err != nil {
		t.Fatal(err)
	}
	config, err := root.NewSigningConfigFromPath(running.SigningConfig)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := root.SelectService(config.FulcioCertificateAuthorityURLs(), sign.FulcioAPIVersions, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := sign.Bundle(&sign.DSSEData{Data: []byte("{}"), PayloadType: "application/vnd.in-toto+json"}, key, sign.BundleOptions{
		CertificateProvider: sign.NewFulcio(&sign.FulcioOptions{BaseURL: ca.URL}), CertificateProviderOptions: &sign.CertificateProviderOptions{IDToken: token},
		TimestampAuthorities: []*sign.TimestampAuthority{sign.NewTimestampAuthority(&sign.TimestampAuthorityOptions{URL: running.Services.TSA})},
		TransparencyLogs:     []sign.Transparency{sign.NewRekor(&sign.RekorOptions{BaseURL: running.Services.Rekor, Version: 2})},
		TrustedRoot:          trusted, Context: t.Context(),
	})
	if err != nil {
		return nil, err
	}
	return bundle.NewBundle(made)
}

// TestSign holds that the services are ones with which Sigstore's own client signs and
// verifies, and that certificates name GitHub and the workflow.
func TestSign(t *testing.T) {
	for issuer, by := range map[string]*Issuer{GitHubIssuer: running.GitHub, OtherIssuer: running.Other} {
		b, err := signWith(t, jobToken(t, by.Job(Run{}.Claims(), time.Minute)))
		if err != nil {
			t.Fatalf("%s: %v", issuer, err)
		}
		trusted, err := root.NewTrustedRootFromPath(running.TrustedRoot)
		if err != nil {
			t.Fatal(err)
		}
		v, err := verify.NewVerifier(trusted, verify.WithSignedCertificateTimestamps(1), verify.WithTransparencyLog(1), verify.WithSignedTimestamps(1))
		if err != nil {
			t.Fatal(err)
		}
		const workflow = "https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main"
		id, err := verify.NewShortCertificateIdentity(issuer, "", workflow, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(b, verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithCertificateIdentity(id))); err != nil {
			text, _ := protojson.Marshal(b)
			t.Errorf("%s: %v\n%s", issuer, err, text)
		}
	}
}

func TestExpiredTokenIsRefused(t *testing.T) {
	_, err := signWith(t, jobToken(t, running.GitHub.Job(Run{}.Claims(), -time.Minute)))
	if err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("signing with a token that has expired: %v; wanted 400", err)
	}
}

func TestJobIsKnownByItsToken(t *testing.T) {
	j := running.GitHub.Job(Run{}.Claims(), time.Minute)
	j.RequestToken += "x"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, j.RequestURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+j.RequestToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the issuer answers a stranger %s; wanted 401", resp.Status)
	}
}

// TestTUF holds that a TUF client gets the same files.
func TestTUF(t *testing.T) {
	anchor, err := os.ReadFile(running.TUFRoot)
	if err != nil {
		t.Fatal(err)
	}
	client, err := sigtuf.New(sigtuf.DefaultOptions().WithRepositoryBaseURL(running.TUFURL).WithRoot(anchor).WithCachePath(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for target, file := range map[string]string{"trusted_root.json": running.TrustedRoot, "signing_config.v0.2.json": running.SigningConfig} {
		got, err := client.GetTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the target %s is not the file", target)
		}
	}
}
