package attest

import (
	"context"
	"crypto"
	"net/http"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"
	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	rekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	tiles "github.com/sigstore/rekor-tiles/v2/pkg/generated/protobuf"
	rekornote "github.com/sigstore/rekor-tiles/v2/pkg/note"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"google.golang.org/protobuf/encoding/protojson"
)

// logID2 is the log's identifier: the key hash of its signed notes, cut short.
func (in *instance) logID2() []byte {
	id := keyID(in.logKey2)
	return id[:]
}

// add2 answers as a log of version 2 does: a tree of this one entry, and its
// signed checkpoint.
func (in *instance) add2(w http.ResponseWriter, body []byte) {
	req := &tiles.CreateEntryRequest{}
	if err := protojson.Unmarshal(body, req); err != nil {
		panic(err)
	}
	record := req.GetHashedRekordRequestV002()
	entry := &tiles.Entry{ApiVersion: "0.0.2", Kind: "hashedrekord", Spec: &tiles.Spec{Spec: &tiles.Spec_HashedRekordV002{
		HashedRekordV002: &tiles.HashedRekordLogEntryV002{
			Data:      &common.HashOutput{Algorithm: common.HashAlgorithm_SHA2_256, Digest: record.GetDigest()},
			Signature: record.GetSignature(),
		},
	}}}
	canonical := must(jsoncanonicalizer.Transform(must(protojson.Marshal(entry))))
	hash := rfc6962.DefaultHasher.HashLeaf(canonical)
	const origin = "rekor2.test"
	signer := must(rekornote.NewNoteSigner(context.Background(), origin, must(signature.LoadECDSASignerVerifier(in.logKey2, crypto.SHA256))))
	text := log.Checkpoint{Origin: origin, Size: 1, Hash: hash}.Marshal()
	checkpoint := must(note.Sign(&note.Note{Text: string(text)}, signer))
	out := &rekor.TransparencyLogEntry{
		LogId:             &common.LogId{KeyId: in.logID2()},
		KindVersion:       &rekor.KindVersion{Kind: "hashedrekord", Version: "0.0.2"},
		CanonicalizedBody: canonical,
		InclusionProof: &rekor.InclusionProof{
			TreeSize: 1, RootHash: hash, Checkpoint: &rekor.Checkpoint{Envelope: string(checkpoint)},
		},
	}
	w.WriteHeader(http.StatusCreated)
	if _, err := w.Write(must(protojson.Marshal(out))); err != nil {
		panic(err)
	}
}
