package repo

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
)

// MarshalBinary returns the recording as bytes, the same for the same one. There is no
// error.
func (rec Recording) MarshalBinary() ([]byte, error) {
	out := binary.AppendUvarint(nil, uint64(len(rec.facts)))
	for _, f := range rec.facts {
		out = appendText(append(out, f.how), f.name)
		switch {
		case f.absent:
			out = append(out, 0)
			continue
		case f.how == lookStat, f.how == lookLstat:
			out = binary.AppendUvarint(append(out, 1), uint64(f.kind))
			continue
		case f.how == lookRead:
			out = binary.AppendUvarint(append(out, 1), uint64(f.size))
		default:
			out = append(out, 1)
		}
		out = append(out, f.digest[:]...)
	}
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary returned. The error is that of other bytes.
func (rec *Recording) UnmarshalBinary(src []byte) error {
	in := recordingReader{src: src}
	n := in.number(math.MaxInt32)
	var facts []fact
	for i := uint64(0); i < n && !in.cut; i++ {
		facts = append(facts, in.fact())
	}
	if in.cut || len(in.src) > 0 {
		return errors.New("these bytes are no recording")
	}
	rec.facts = facts
	return nil
}

// recordingReader reads a recording from the beginning of bytes. From the first byte
// that does not fit, or is missing, it reads nothing.
type recordingReader struct {
	src []byte
	cut bool
}

func (in *recordingReader) number(most uint64) uint64 {
	v, n := binary.Uvarint(in.src)
	if n <= 0 || v > most || in.cut {
		in.cut = true
		return 0
	}
	in.src = in.src[n:]
	return v
}

func (in *recordingReader) bytes(n uint64) []byte {
	if in.cut || n > uint64(len(in.src)) {
		in.cut = true
		return nil
	}
	out := in.src[:n]
	in.src = in.src[n:]
	return out
}

func (in *recordingReader) fact() (f fact) {
	f.how = byte(in.number(math.MaxInt8)) // a letter is its own number
	f.name = string(in.bytes(in.number(math.MaxInt32)))
	if f.absent = in.number(1) == 0; f.absent {
		return f
	}
	switch f.how {
	case lookStat, lookLstat:
		f.kind = fs.FileMode(in.number(math.MaxUint32))
		return f
	case lookRead:
		f.size = int64(in.number(math.MaxInt64))
	case lookList:
	default:
		in.cut = true
	}
	copy(f.digest[:], in.bytes(sha256.Size))
	return f
}

// appendText appends a text with its length before it.
func appendText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}
