// Package stack runs a private Sigstore and OCI registries on the loopback interface,
// and is the GitHub runner of a job that uses them: Fulcio, a certificate transparency
// log, the timestamp authority, a TUF repository and issuers of identity tokens in this
// process, Rekor and Debian's docker-registry as processes that it starts and ends.
// The programs are the real ones; issuers and certificate log are stand-ins that speak
// the real formats.
package stack

import (
	"crypto"
	"encoding/hex"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	fulciolog "github.com/sigstore/fulcio/pkg/log"
	prototrustroot "github.com/sigstore/protobuf-specs/gen/pb-go/trustroot/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	tsalog "github.com/sigstore/timestamp-authority/v2/pkg/log"
	"go.uber.org/zap"
)

// OtherIssuer is a second issuer whose tokens Fulcio takes.
const OtherIssuer = "https://token.actions.example.com"

// Services are the addresses of what signing needs. An empty one is left out of a
// signing config.
type Services struct{ Fulcio, TSA, Rekor string }

// Stack is a running Sigstore.
type Stack struct {
	// GitHub and Other issue tokens under the names GitHubIssuer and OtherIssuer.
	GitHub, Other *Issuer
	// Services are where it listens.
	Services Services
	// TrustedRoot and SigningConfig are files that describe it, in the forms of
	// Sigstore's trusted_root.json and signing_config.json (protobuf-specs,
	// sigstore_trustroot.proto). TUFRoot is the first root of the TUF repository at
	// TUFURL that holds both.
	TrustedRoot, SigningConfig, TUFRoot string
	TUFURL                              string

	close []func()
}

// Start starts everything with its files in dir; rekor is the program of the
// transparency log. The caller closes the stack. As it changes the process's default
// transport, there is one stack at a time.
func Start(dir, rekor string) (*Stack, error) {
	s := &Stack{}
	if err := s.start(dir, rekor); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends everything that Start started.
func (s *Stack) Close() {
	for _, end := range s.close {
		defer end()
	}
	s.close = nil
}

func (s *Stack) start(dir, rekorProgram string) (err error) {
	if err := logTo(filepath.Join(dir, "services.log")); err != nil {
		return err
	}
	if s.GitHub, err = newIssuer(GitHubIssuer); err != nil {
		return err
	}
	s.closeServer(s.GitHub.server)
	if s.Other, err = newIssuer(OtherIssuer); err != nil {
		return err
	}
	s.closeServer(s.Other.server)
	s.close = append(s.close, redirect(s.GitHub, s.Other))
	log, err := newCTLog()
	if err != nil {
		return err
	}
	s.closeServer(log.server)
	ca, err := newFulcio(log, s.GitHub, s.Other)
	if err != nil {
		return err
	}
	s.closeServer(ca.server)
	stamps, err := newTSA()
	if err != nil {
		return err
	}
	s.closeServer(stamps.server)
	entries, err := newRekor(rekorProgram, dir)
	if err != nil {
		return err
	}
	s.close = append(s.close, entries.Close)
	s.Services = Services{Fulcio: ca.url, TSA: stamps.url, Rekor: entries.url}
	trusted, err := trustedRoot(log, ca, stamps, entries)
	if err != nil {
		return err
	}
	return s.describe(dir, trusted)
}

// logTo makes Fulcio and the timestamp authority, which log to package variables,
// write to a file.
func logTo(file string) error {
	config := zap.NewProductionConfig()
	config.OutputPaths = []string{file}
	logger, err := config.Build()
	if err != nil {
		return err
	}
	fulciolog.Logger, tsalog.Logger = logger.Sugar(), logger.Sugar()
	return nil
}

func (s *Stack) closeServer(server *httptest.Server) {
	s.close = append(s.close, func() {
		server.CloseClientConnections() // a client may hang in a drill
		server.Close()
	})
}

// describe writes the files and serves them as a TUF repository.
func (s *Stack) describe(dir string, trusted []byte) error {
	config, err := SigningConfig(s.Services)
	if err != nil {
		return err
	}
	repository, err := newTUF(map[string][]byte{"trusted_root.json": trusted, "signing_config.v0.2.json": config})
	if err != nil {
		return err
	}
	s.closeServer(repository.server)
	s.TUFURL = repository.url
	s.TrustedRoot = filepath.Join(dir, "trusted_root.json")
	s.SigningConfig = filepath.Join(dir, "signing_config.json")
	s.TUFRoot = filepath.Join(dir, "tuf_root.json")
	for file, data := range map[string][]byte{s.TrustedRoot: trusted, s.SigningConfig: config, s.TUFRoot: repository.root} {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// validSince is from when on keys and services are valid.
func validSince() time.Time { return time.Now().Add(-time.Hour) }

// trustedRoot names the keys that a verifier rests on.
func trustedRoot(log *ctLog, ca *fulcio, stamps *tsa, entries *rekor) ([]byte, error) {
	since, last := validSince(), len(stamps.chain)-1
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01,
		[]root.CertificateAuthority{&root.FulcioCertificateAuthority{Root: ca.root, ValidityPeriodStart: since, URI: ca.url}},
		map[string]*root.TransparencyLog{hex.EncodeToString(log.id[:]): transparencyLog(log.url, log.id[:], log.key.Public(), since)},
		[]root.TimestampingAuthority{&root.SigstoreTimestampingAuthority{
			Leaf: stamps.chain[0], Intermediates: stamps.chain[1:last], Root: stamps.chain[last], ValidityPeriodStart: since, URI: stamps.url,
		}},
		map[string]*root.TransparencyLog{hex.EncodeToString(entries.id): transparencyLog(entries.url, entries.id, entries.key, since)})
	if err != nil {
		return nil, err
	}
	return trusted.MarshalJSON()
}

func transparencyLog(url string, id []byte, key crypto.PublicKey, since time.Time) *root.TransparencyLog {
	return &root.TransparencyLog{
		BaseURL: url, ID: id, ValidityPeriodStart: since, PublicKey: key,
		HashFunc: crypto.SHA256, SignatureHashFunc: crypto.SHA256,
	}
}

// SigningConfig returns a signing config that names the services, as JSON.
func SigningConfig(s Services) ([]byte, error) {
	service := func(url string, version uint32) []root.Service {
		if url == "" {
			return nil
		}
		return []root.Service{{URL: url, MajorAPIVersion: version, ValidityPeriodStart: validSince(), Operator: "packgate's tests"}}
	}
	any := root.ServiceConfiguration{Selector: prototrustroot.ServiceSelector_ANY}
	c, err := root.NewSigningConfig(root.SigningConfigMediaType02,
		service(s.Fulcio, 1), nil, service(s.Rekor, 2), any, service(s.TSA, 1), any)
	if err != nil {
		return nil, err
	}
	return c.MarshalJSON()
}
