package cache

import (
	"crypto/hmac"
	"crypto/sha256"
)

// overhead is how many bytes an entry has beside its value.
const overhead = sha256.Size

// purpose is what is sealed before key and value, so that the secret means nothing
// elsewhere.
const purpose = "packgate cache entry 1\x00"

// sealed returns a value as its entry: the HMAC-SHA256 of purpose, key and value under
// the secret, and the value. It takes the place of a digest, for it tells of every
// fault that a digest tells of.
func sealed(secret []byte, key Key, value []byte) []byte {
	return append(seal(secret, key, value), value...)
}

// unsealed returns the value of an entry; ok is false where it was not sealed with this
// secret for this key.
func unsealed(secret []byte, key Key, entry []byte) (value []byte, ok bool) {
	if len(entry) < overhead {
		return nil, false
	}
	value = entry[overhead:]
	return value, hmac.Equal(entry[:overhead], seal(secret, key, value))
}

func seal(secret []byte, key Key, value []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(purpose))
	m.Write(key[:])
	m.Write(value)
	return m.Sum(make([]byte, 0, overhead+len(value)))
}
