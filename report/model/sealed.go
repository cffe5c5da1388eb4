package model

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
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
// pack gives the same bytes. Only this version of packgate reads the form. The error is
// for a pack of more than 64 MiB, or one with a value that JSON does not have.
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

// Unseal returns the pack that was sealed, equal in every respect. The error is
// ErrNotSealed if the bytes are cut, changed, too many, or of another version, or if the
// state of a gate does not follow from its findings.
func Unseal(sealed []byte) (*Pack, error) {
	p, err := unseal(sealed)
	if err != nil {
		return nil, err
	}
	if err := p.consistent(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSealed, err)
	}
	return p, nil
}

// unseal is Unseal for bytes that have never left this process: whoever sealed the pack
// answers for what it says.
func unseal(sealed []byte) (*Pack, error) {
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

// The binary form of a value of the model is its fields in their order, and nothing
// else: what is absent and what is empty stay apart, and a text keeps its bytes
// whatever they are. Renderings depend on both, and JSON keeps neither. The reader has
// to have the same types as the writer, which layoutOf tells.
//
//	bool, pointer  one byte; behind a pointer that is not nil stands its value
//	int            a varint
//	float64        its 64 bits
//	string         its length and its bytes
//	slice, map     its length and 1, and its elements; 0 for nil; maps sorted by name
//	any            one byte for the kind, and its value

// maxNested bounds how deep values of the kind any are nested.
const maxNested = 1000

var (
	errBinaryCut   = errors.New("it ends too early or has a length that it cannot hold")
	errBinaryValue = errors.New("it holds a value that cannot exist")

	rawType = reflect.TypeFor[json.RawMessage]()
	mapType = reflect.TypeFor[map[string]any]()
	// anyTypes are the types of a value of the type any, by the byte before it, that of nil first.
	anyTypes = []reflect.Type{
		nil, reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[float64](), reflect.TypeFor[string](),
		reflect.TypeFor[json.Number](), reflect.TypeFor[[]any](), mapType,
	}
)

// appendBinary puts the binary form of a value behind dst. The depth is that of values
// of the type any around it. The error is that of a value of a type that the form does
// not know, or that is nested too deep.
func appendBinary(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	var err error
	switch v.Kind() {
	case reflect.Bool:
		return append(dst, truth(v.Bool())), nil
	case reflect.Int:
		return binary.AppendVarint(dst, v.Int()), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float())), nil
	case reflect.String:
		return appendText(dst, v.String()), nil
	case reflect.Pointer:
		dst = append(dst, truth(!v.IsNil()))
		if v.IsNil() {
			return dst, nil
		}
		return appendBinary(dst, v.Elem(), depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if dst, err = appendBinary(dst, v.Field(i), depth); err != nil {
				return dst, err
			}
		}
		return dst, nil
	case reflect.Slice, reflect.Map:
		return appendElements(dst, v, depth)
	case reflect.Interface:
		return appendAny(dst, v.Elem(), depth+1)
	}
	return dst, noForm(v.Type())
}

func noForm(t reflect.Type) error { return fmt.Errorf("a value of type %s has no binary form", t) }

func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendElements is appendBinary for a slice or a map.
func appendElements(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	isMap := v.Kind() == reflect.Map
	switch {
	case isMap && v.Type() != mapType:
		return dst, noForm(v.Type())
	case v.IsNil():
		return append(dst, 0), nil
	}
	dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
	if v.Type() == rawType {
		return append(dst, v.Bytes()...), nil
	}
	var names []string
	if isMap {
		names = slices.Sorted(maps.Keys(v.Interface().(map[string]any)))
	}
	var err error
	for i := range v.Len() {
		var element reflect.Value
		if isMap {
			dst, element = appendText(dst, names[i]), v.MapIndex(reflect.ValueOf(names[i]))
		} else {
			element = v.Index(i)
		}
		if dst, err = appendBinary(dst, element, depth); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendAny is appendBinary for what a value of the type any holds.
func appendAny(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	if depth > maxNested {
		return dst, fmt.Errorf("a value is nested more than %d deep", maxNested)
	}
	if !v.IsValid() {
		return append(dst, 0), nil
	}
	kind := slices.Index(anyTypes, v.Type())
	if kind < 0 {
		return dst, noForm(v.Type())
	}
	return appendBinary(append(dst, byte(kind)), v, depth)
}

// layoutOf describes a type: two with the same description have the same binary form.
func layoutOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return t.Kind().String() + " " + layoutOf(t.Elem())
	case reflect.Struct:
		words := "{"
		for i := range t.NumField() {
			words += t.Field(i).Name + " " + layoutOf(t.Field(i).Type) + ";"
		}
		return words + "}"
	}
	return t.Kind().String()
}

// leastBytes returns how many bytes the binary form of a type has at least.
func leastBytes(t reflect.Type) int {
	switch t.Kind() {
	case reflect.Float64:
		return 8
	case reflect.Struct:
		n := 0
		for i := range t.NumField() {
			n += leastBytes(t.Field(i).Type)
		}
		return n
	}
	return 1
}

// binaryReader reads the binary form. After the first fault everything is empty.
type binaryReader struct {
	src []byte
	err error
}

func (r *binaryReader) fail(err error) {
	r.err, r.src = cmp.Or(r.err, err), nil
}

func (r *binaryReader) take(n int) []byte {
	if n > len(r.src) {
		r.fail(errBinaryCut)
		return nil
	}
	taken := r.src[:n]
	r.src = r.src[n:]
	return taken
}

func (r *binaryReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *binaryReader) bool() bool {
	b := r.byte()
	if b > 1 {
		r.fail(errBinaryValue)
	}
	return b == 1
}

// length reads a length of things that have at least that many bytes each. Of a
// slice or map it is written one larger than it is, and that of nil is -1 here.
func (r *binaryReader) length(least, larger int) int {
	v, n := binary.Uvarint(r.src)
	if n <= 0 || v > uint64((len(r.src)-n)/least+larger) {
		r.fail(errBinaryCut)
		return -larger
	}
	r.src = r.src[n:]
	return int(v) - larger
}

func (r *binaryReader) text() string { return string(r.take(r.length(1, 0))) }

// value reads into v what appendBinary wrote.
func (r *binaryReader) value(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.bool())
	case reflect.Int:
		n, size := binary.Varint(r.src)
		if size <= 0 {
			r.fail(errBinaryCut)
			return
		}
		r.src = r.src[size:]
		v.SetInt(n)
	case reflect.Float64:
		if b := r.take(8); b != nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case reflect.String:
		v.SetString(r.text())
	case reflect.Pointer:
		if r.bool() {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.value(v.Field(i), depth)
		}
	case reflect.Slice:
		r.slice(v, depth)
	case reflect.Map:
		r.members(v, depth)
	case reflect.Interface:
		r.any(v, depth+1)
	default:
		r.fail(errBinaryValue)
	}
}

func (r *binaryReader) slice(v reflect.Value, depth int) {
	n := r.length(leastBytes(v.Type().Elem()), 1)
	if n < 0 {
		return
	}
	if v.Type() == rawType {
		v.SetBytes(append([]byte{}, r.take(n)...))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := 0; i < n && r.err == nil; i++ {
		r.value(v.Index(i), depth)
	}
}

func (r *binaryReader) members(v reflect.Value, depth int) {
	n := r.length(2, 1)
	if n < 0 {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	for i := 0; i < n && r.err == nil; i++ {
		name, value := r.text(), reflect.New(v.Type().Elem()).Elem()
		r.value(value, depth)
		v.SetMapIndex(reflect.ValueOf(name), value)
	}
}

func (r *binaryReader) any(v reflect.Value, depth int) {
	kind := int(r.byte())
	if depth > maxNested || kind >= len(anyTypes) {
		r.fail(errBinaryValue)
		return
	}
	if kind > 0 {
		value := reflect.New(anyTypes[kind]).Elem()
		r.value(value, depth)
		v.Set(value)
	}
}
