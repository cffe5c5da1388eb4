package stack

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// tuf serves files as a TUF repository of one key with consistent snapshots, which is
// the form of Sigstore's own.
type tuf struct {
	url    string
	root   []byte // the anchor that a client starts from
	server *httptest.Server
}

func newTUF(targets map[string][]byte) (*tuf, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	files, err := tufFiles(private, targets)
	if err != nil {
		return nil, fmt.Errorf("making the TUF repository: %w", err)
	}
	t := &tuf{root: files["/1.root.json"]}
	t.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data) // a client that has gone
	}))
	t.url = t.server.URL
	return t, nil
}

// tufFiles returns the files of the repository by their paths.
func tufFiles(private ed25519.PrivateKey, targets map[string][]byte) (map[string][]byte, error) {
	key, err := metadata.KeyFromPublicKey(private.Public())
	if err != nil {
		return nil, err
	}
	signer, err := signature.LoadED25519Signer(private)
	if err != nil {
		return nil, err
	}
	expires := time.Now().Add(24 * time.Hour).UTC()
	root, list := metadata.Root(expires), metadata.Targets(expires)
	snapshot, timestamp := metadata.Snapshot(expires), metadata.Timestamp(expires)
	root.Signed.ConsistentSnapshot = true
	for _, role := range metadata.TOP_LEVEL_ROLE_NAMES {
		if err := root.Signed.AddKey(key, role); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{}
	for name, data := range targets {
		if list.Signed.Targets[name], err = metadata.TargetFile().FromBytes(name, data, "sha256"); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		files["/targets/"+hex.EncodeToString(sum[:])+"."+name] = data
	}
	for name, role := range map[string]interface {
		Sign(signature.Signer) (*metadata.Signature, error)
		ToBytes(bool) ([]byte, error)
	}{"/1.root.json": root, "/1.targets.json": list, "/1.snapshot.json": snapshot, "/timestamp.json": timestamp} {
		if _, err := role.Sign(signer); err != nil {
			return nil, err
		}
		if files[name], err = role.ToBytes(false); err != nil {
			return nil, err
		}
	}
	return files, nil
}
