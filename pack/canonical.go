package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Digest is "sha256:" and 64 hexadecimal digits.
type Digest string

// DigestOf returns the SHA-256 digest of the bytes as they are.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// Canonical returns the JSON Canonicalization Scheme form (RFC 8785) of a JSON
// document: the same bytes for the same content, whatever its formatting and
// member order. The error says why a document has none.
func Canonical(src []byte) ([]byte, error) {
	b, err := jcs.Transform(src)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return b, nil
}

// errFaults says that a document is not one to sign or to compare: two that
// differ in a number beyond 2^53 alone could share a canonical form.
var errFaults = errors.New("canonical form: the document has faults")

// CanonicalDigest returns the digest of the canonical form of the document.
// It fails for a document in which the reader found a fault.
func (d *Document) CanonicalDigest() (Digest, error) {
	if d.refused {
		return "", errFaults
	}
	b, err := Canonical(d.Source)
	if err != nil {
		return "", err
	}
	return DigestOf(b), nil
}
