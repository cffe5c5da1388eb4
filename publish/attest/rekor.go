package attest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/go-openapi/runtime"
	httptransport "github.com/go-openapi/runtime/client"
	rekorv1 "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	rekorv2 "github.com/sigstore/rekor-tiles/v2/pkg/generated/protobuf"
	"github.com/sigstore/rekor/pkg/generated/client"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
)

// The clients of the transparency log take no transport, so that the library's
// would lose why a log refused and how long it asked to wait. These two are the
// same calls over ours.

// newRekor returns the log at an address, for version 1 or 2 of its API.
func newRekor(base string, version uint32, hc *http.Client) (sign.Transparency, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	options := &sign.RekorOptions{BaseURL: base, Version: version, Timeout: requestTimeout}
	if version == 2 {
		options.ClientV2 = &rekorWriter{address: u.JoinPath("api", "v2", "log", "entries").String(), http: hc}
		return sign.NewRekor(options), nil
	}
	path := u.Path
	if path == "" {
		path = client.DefaultBasePath
	}
	rt := httptransport.NewWithClient(u.Host, path, []string{u.Scheme}, hc)
	rt.Consumers["application/json"] = runtime.JSONConsumer()
	rt.Producers["application/json"] = runtime.JSONProducer()
	options.Client = client.New(rt, nil).Entries
	return sign.NewRekor(options), nil
}

// rekorWriter adds entries to a log of version 2
// (https://github.com/sigstore/rekor-tiles, POST /api/v2/log/entries).
type rekorWriter struct {
	address string
	http    *http.Client
}

// maxEntry bounds the answer of a log: an entry with its proof.
const maxEntry = 10 << 20

// Add sends one entry and returns it with the proof of its inclusion.
func (w *rekorWriter) Add(ctx context.Context, entry any) (*rekorv1.TransparencyLogEntry, error) {
	record, ok := entry.(*rekorv2.HashedRekordRequestV002)
	if !ok {
		return nil, fmt.Errorf("entry of type %T, wanted a hashedrekord", entry)
	}
	body, err := protojson.Marshal(&rekorv2.CreateEntryRequest{
		Spec: &rekorv2.CreateEntryRequest_HashedRekordRequestV002{HashedRekordRequestV002: record},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxEntry))
	if err != nil {
		return nil, err
	}
	out := &rekorv1.TransparencyLogEntry{}
	if err := protojson.Unmarshal(answer, out); err != nil {
		return nil, fmt.Errorf("the transparency log answered with no entry: %w", err)
	}
	return out, nil
}
