// Package weight measures how large the release binary and the image are, and how
// much of the binary each module is.
package weight

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// The budgets, in bytes: some 1 % more than there was when they were set, so that a
// dependency which weighs something is seen.
const (
	MostBinary = 37_850_000
	MostPacked = 15_990_000
	MostImage  = 16_160_000
)

// Sizes are what is measured of a binary, in bytes.
type Sizes struct {
	Binary       int64 // as the linker wrote it, without symbols
	Packed       int64 // with gzip at its best
	Layer        int64 // as a layer of an image
	Certificates int64 // the other layer; that of an empty file where there are none
}

// Image returns the size of the image as it is loaded: its layers, which are
// compressed. Its config and manifest, some 2 kB, are not counted.
func (s Sizes) Image() int64 { return s.Layer + s.Certificates }

// Measure measures a binary. It returns no error but those of compression.
func Measure(binary []byte) (s Sizes, err error) {
	s.Binary = int64(len(binary))
	if s.Packed, err = packed(gzip.BestCompression, binary); err != nil {
		return s, err
	}
	s.Layer, err = Layer(binary)
	return s, err
}

// Within returns an error that names each size which is beyond its budget, nil where
// none is.
func (s Sizes) Within() error {
	var errs []error
	for _, b := range s.budgets() {
		if b.size > b.most {
			errs = append(errs, fmt.Errorf("the %s has %d bytes, wanted at most %d; find what it has more with go run ./bench/size", b.what, b.size, b.most))
		}
	}
	return errors.Join(errs...)
}

type budget struct {
	what       string
	size, most int64
}

func (s Sizes) budgets() []budget {
	return []budget{
		{"release binary", s.Binary, MostBinary}, {"release binary with gzip -9", s.Packed, MostPacked}, {"image, compressed with gzip", s.Image(), MostImage},
	}
}

// Layer returns the size of a layer of an image that holds one file: a tar archive,
// compressed as Docker and BuildKit do it unless they are told otherwise.
func Layer(file []byte) (int64, error) {
	var n counter
	z := gzip.NewWriter(&n)
	archive := tar.NewWriter(z)
	if err := archive.WriteHeader(&tar.Header{Name: "file", Mode: 0o755, Size: int64(len(file))}); err != nil {
		return 0, err
	}
	if _, err := archive.Write(file); err != nil {
		return 0, err
	}
	if err := errors.Join(archive.Close(), z.Close()); err != nil {
		return 0, err
	}
	return int64(n), nil
}

func packed(level int, data []byte) (int64, error) {
	var n counter
	z, err := gzip.NewWriterLevel(&n, level)
	if err != nil {
		return 0, err
	}
	if _, err := z.Write(data); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return int64(n), nil
}

// counter counts what is written to it.
type counter int64

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
