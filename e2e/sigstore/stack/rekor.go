package stack

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sigstore/rekor-tiles/v2/pkg/note"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// rekorOrigin is the name under which the log signs its checkpoints. A verifier takes
// it from the host of the log's address in the trusted root, so both are equal.
const rekorOrigin = "127.0.0.1"

// rekor is the transparency log, version 2, with its tiles in a folder. Its server
// cannot be imported, so it is a process of its own.
type rekor struct {
	*child
	url string
	id  []byte
	key crypto.PublicKey
}

// newRekor starts the program with its tiles in dir.
func newRekor(program, dir string) (*rekor, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	text, err := cryptoutils.MarshalPrivateKeyToPEM(private)
	if err != nil {
		return nil, err
	}
	keyFile := filepath.Join(dir, "rekor.pem")
	if err := os.WriteFile(keyFile, text, 0o600); err != nil {
		return nil, err
	}
	r := &rekor{key: public}
	if _, r.id, err = note.KeyHash(rekorOrigin, public); err != nil {
		return nil, err
	}
	r.child, err = startChild(dir, "rekor", program, 3, func(ports []int) ([]string, string) {
		r.url = "http://127.0.0.1:" + strconv.Itoa(ports[0])
		return []string{
			"serve", "--hostname=" + rekorOrigin,
			"--http-address=127.0.0.1", "--http-port=" + strconv.Itoa(ports[0]),
			"--grpc-address=127.0.0.1", "--grpc-port=" + strconv.Itoa(ports[1]),
			"--http-metrics-port=" + strconv.Itoa(ports[2]),
			"--storage-dir=" + filepath.Join(dir, "log"), "--signer-filepath=" + keyFile,
			// An entry waits for the next checkpoint: the least that the log allows.
			"--checkpoint-interval=100ms", "--batch-max-age=50ms", "--batch-max-size=1",
		}, r.url + "/healthz"
	})
	return r, err
}
