package stack

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"

	ctclient "github.com/google/certificate-transparency-go/client"
	"github.com/google/certificate-transparency-go/jsonclient"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/sigstore/fulcio/pkg/ca/ephemeralca"
	"github.com/sigstore/fulcio/pkg/config"
	fulciopb "github.com/sigstore/fulcio/pkg/generated/protobuf"
	"github.com/sigstore/fulcio/pkg/server"
	v1 "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/grpc/metadata"
)

// issuerConfig is Fulcio's entry for an issuer of tokens of GitHub's workflows.
const issuerConfig = `
  ISSUER:
    issuer-url: ISSUER
    client-id: sigstore
    type: ci-provider
    ci-provider: github-workflow`

// providerConfig is how Fulcio's public instance makes a certificate of the claims
// (config/identity/config.yaml in sigstore/fulcio).
const providerConfig = `
ci-issuer-metadata:
  github-workflow:
    default-template-values:
      url: "https://github.com"
      environment: ""
    extension-templates:
      github-workflow-trigger: "event_name"
      github-workflow-sha: "sha"
      github-workflow-name: "workflow"
      github-workflow-repository: "repository"
      github-workflow-ref: "ref"
      build-signer-uri: "{{ .url }}/{{ .job_workflow_ref }}"
      build-signer-digest: "job_workflow_sha"
      runner-environment: "runner_environment"
      source-repository-uri: "{{ .url }}/{{ .repository }}"
      source-repository-digest: "sha"
      source-repository-ref: "ref"
      source-repository-identifier: "repository_id"
      source-repository-owner-uri: "{{ .url }}/{{ .repository_owner }}"
      source-repository-owner-identifier: "repository_owner_id"
      build-config-uri: "{{ .url }}/{{ .workflow_ref }}"
      build-config-digest: "workflow_sha"
      build-trigger: "event_name"
      run-invocation-uri: "{{ .url }}/{{ .repository }}/actions/runs/{{ .run_id }}/attempts/{{ .run_attempt }}"
      source-repository-visibility-at-signing: "repository_visibility"
    subject-alternative-name-template: "{{ .url }}/{{ .job_workflow_ref }}"
`

// fulcio is Fulcio's service in this process, behind the gateway that makes HTTP of
// its gRPC.
type fulcio struct {
	url    string
	root   *x509.Certificate
	server *httptest.Server
}

// newFulcio starts Fulcio for the issuers, which it asks for their keys; its
// certificates carry a timestamp of the log.
func newFulcio(log *ctLog, issuers ...*Issuer) (*fulcio, error) {
	text := "oidc-issuers:"
	for _, i := range issuers {
		text += strings.ReplaceAll(issuerConfig, "ISSUER", i.Name)
	}
	cfg, err := config.Read([]byte(text + providerConfig))
	if err != nil {
		return nil, err
	}
	authority, err := ephemeralca.NewEphemeralCA()
	if err != nil {
		return nil, err
	}
	algorithms, err := signature.NewAlgorithmRegistryConfig([]v1.PublicKeyDetails{v1.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256})
	if err != nil {
		return nil, err
	}
	client, err := ctclient.New(log.url, http.DefaultClient, jsonclient.Options{})
	if err != nil {
		return nil, err
	}
	mux := runtime.NewServeMux(runtime.WithMetadata(func(_ context.Context, r *http.Request) metadata.MD {
		return metadata.Pairs(server.MetadataOIDCTokenKey, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	service := server.NewGRPCCAServer(client, authority, algorithms, server.NewIssuerPool(cfg))
	if err := fulciopb.RegisterCAHandlerServer(context.Background(), mux, service); err != nil {
		return nil, err
	}
	chain, _ := authority.GetSignerWithChain()
	f := &fulcio{root: chain[len(chain)-1]}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(config.With(r.Context(), cfg)))
	}))
	f.url = f.server.URL
	return f, nil
}
