package model

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
)

// maxSealed bounds what a sealed pack may unfold to, in bytes.
const maxSealed = MaxRead

// ErrNotSealed is wrapped by the errors of Unseal: the bytes are not what Seal returned.
var ErrNotSealed = errors.New("not a sealed pack")

// sealers and unsealers keep what compresses: making one costs more than one pack.
var (
	sealers = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails for an unknown level alone
		return w
	}}
	unsealers = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}
)

// sealedLayout tells the form of this version from that of others.
var sealedLayout = sync.OnceValue(func() []byte {
	sum := sha256.Sum256([]byte("binary form 2 " + layoutOf(reflect.TypeFor[Pack]())))
	return sum[:8]
})

// Seal returns what is said of a pack in a compact form, which Unseal reads. The same
// pack gives the same bytes. The form is that of this version of packgate alone. The
// error is that of a pack of more than 64 MiB, or with a value that is none of JSON.
func Seal(p *Pack) ([]byte, error) {
	src, err := appendBinary(bytes.Clone(sealedLayout()), reflect.ValueOf(p).Elem(), 0)
	if err != nil {
		return nil, fmt.Errorf("seal the report of %q: %w", p.Path, err)
	}
	if len(src) > maxSealed {
		return nil, fmt.Errorf("seal the report of %q: it has more than %d bytes", p.Path, maxSealed)
	}
	var out bytes.Buffer
	w := sealers.Get().(*flate.Writer)
	defer sealers.Put(w)
	w.Reset(&out)
	if _, err := w.Write(src); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(out.Bytes()), nil // without the room to grow
}

// Unseal returns the pack that was sealed, equal in everything. The error is
// ErrNotSealed where the bytes are cut, changed, too many, or of another version.
func Unseal(sealed []byte) (*Pack, error) {
	from := bytes.NewReader(sealed)
	r := unsealers.Get().(io.ReadCloser)
	defer unsealers.Put(r)
	if err := r.(flate.Resetter).Reset(from, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSealed, err)
	}
	src, err := io.ReadAll(io.LimitReader(r, maxSealed+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotSealed, err)
	case len(src) > maxSealed:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrNotSealed, maxSealed)
	case from.Len() > 0:
		return nil, fmt.Errorf("%w: bytes follow its end", ErrNotSealed)
	case !bytes.HasPrefix(src, sealedLayout()):
		return nil, fmt.Errorf("%w of this version", ErrNotSealed)
	}
	p, in := &Pack{}, binaryReader{src: src[len(sealedLayout()):]}
	in.value(reflect.ValueOf(p).Elem(), 0)
	if in.err == nil && len(in.src) > 0 {
		in.fail(errBinaryCut)
	}
	if in.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSealed, in.err)
	}
	return p, nil
}
