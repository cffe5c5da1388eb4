package model

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

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
	errBinaryValue = errors.New("it holds a value that there is not")
)

// The kinds of a value of the type any.
const (
	anyNil = iota
	anyFalse
	anyTrue
	anyInt
	anyFloat
	anyString
	anyNumber
	anyList
	anyMap
)

var rawType = reflect.TypeFor[json.RawMessage]()

// appendBinary puts the binary form of a value behind dst. The error is that of a
// value of a type that the form does not know.
func appendBinary(dst []byte, v reflect.Value) ([]byte, error) {
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
		return appendBinary(dst, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if dst, err = appendBinary(dst, v.Field(i)); err != nil {
				return dst, err
			}
		}
		return dst, nil
	case reflect.Slice:
		return appendSlice(dst, v)
	case reflect.Map:
		if m, ok := v.Interface().(map[string]any); ok {
			return appendMap(dst, m, 0)
		}
	}
	return dst, fmt.Errorf("a value of type %s has no binary form", v.Type())
}

func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendSlice(dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, 0), nil
	}
	dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
	if v.Type() == rawType {
		return append(dst, v.Bytes()...), nil
	}
	var err error
	for i := range v.Len() {
		if dst, err = appendBinary(dst, v.Index(i)); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendMap(dst []byte, m map[string]any, depth int) ([]byte, error) {
	if m == nil {
		return append(dst, 0), nil
	}
	dst = binary.AppendUvarint(dst, uint64(len(m))+1)
	var err error
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if dst, err = appendAny(appendText(dst, name), m[name], depth+1); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendAny is appendBinary for a value of the type any, which is one of those that
// stand for JSON.
func appendAny(dst []byte, v any, depth int) ([]byte, error) {
	if depth > maxNested {
		return dst, fmt.Errorf("a value is nested more than %d deep", maxNested)
	}
	switch v := v.(type) {
	case nil:
		return append(dst, anyNil), nil
	case bool:
		return append(dst, anyFalse+truth(v)), nil
	case int:
		return binary.AppendVarint(append(dst, anyInt), int64(v)), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(dst, anyFloat), math.Float64bits(v)), nil
	case string:
		return appendText(append(dst, anyString), v), nil
	case json.Number:
		return appendText(append(dst, anyNumber), string(v)), nil
	case map[string]any:
		return appendMap(append(dst, anyMap), v, depth)
	case []any:
		if dst = append(dst, anyList); v == nil {
			return append(dst, 0), nil
		}
		dst = binary.AppendUvarint(dst, uint64(len(v))+1)
		var err error
		for _, item := range v {
			if dst, err = appendAny(dst, item, depth+1); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
	return dst, fmt.Errorf("a value of type %T has no binary form", v)
}

// layoutOf describes a type, so that two types with the same description have the
// same binary form.
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

// binaryReader reads the binary form. The first fault ends it, and everything after
// it is empty.
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

func (r *binaryReader) int() int64 {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.fail(errBinaryCut)
		return 0
	}
	r.src = r.src[n:]
	return v
}

// length reads a length of things that have at least that many bytes each.
func (r *binaryReader) length(least int) int {
	v, n := binary.Uvarint(r.src)
	if n <= 0 || v > uint64(len(r.src)-n)/uint64(least) {
		r.fail(errBinaryCut)
		return 0
	}
	r.src = r.src[n:]
	return int(v)
}

// count reads the length of a slice or map; ok is false for nil.
func (r *binaryReader) count(least int) (n int, ok bool) {
	v, size := binary.Uvarint(r.src)
	if size <= 0 || v > 0 && v-1 > uint64(len(r.src)-size)/uint64(least) {
		r.fail(errBinaryCut)
		return 0, false
	}
	r.src = r.src[size:]
	return int(v) - 1, v > 0
}

func (r *binaryReader) float() float64 {
	if b := r.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *binaryReader) text() string { return string(r.take(r.length(1))) }

// value reads into v what appendBinary wrote.
func (r *binaryReader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.bool())
	case reflect.Int:
		v.SetInt(r.int())
	case reflect.Float64:
		v.SetFloat(r.float())
	case reflect.String:
		v.SetString(r.text())
	case reflect.Pointer:
		if r.bool() {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.value(v.Field(i))
		}
	case reflect.Slice:
		r.slice(v)
	case reflect.Map:
		if m := r.members(0); m != nil {
			v.Set(reflect.ValueOf(m))
		}
	default:
		r.fail(errBinaryValue)
	}
}

func (r *binaryReader) slice(v reflect.Value) {
	n, ok := r.count(leastBytes(v.Type().Elem()))
	if !ok {
		return
	}
	if v.Type() == rawType {
		v.SetBytes(append([]byte{}, r.take(n)...))
		return
	}
	list := reflect.MakeSlice(v.Type(), n, n)
	for i := 0; i < n && r.err == nil; i++ {
		r.value(list.Index(i))
	}
	v.Set(list)
}

func (r *binaryReader) members(depth int) map[string]any {
	n, ok := r.count(2)
	if !ok {
		return nil
	}
	m := make(map[string]any, n)
	for i := 0; i < n && r.err == nil; i++ {
		name := r.text()
		m[name] = r.any(depth + 1)
	}
	return m
}

func (r *binaryReader) any(depth int) any {
	if depth > maxNested {
		r.fail(errBinaryValue)
		return nil
	}
	switch r.byte() {
	case anyNil:
		return nil
	case anyFalse:
		return false
	case anyTrue:
		return true
	case anyInt:
		return int(r.int())
	case anyFloat:
		return r.float()
	case anyString:
		return r.text()
	case anyNumber:
		return json.Number(r.text())
	case anyMap:
		return r.members(depth)
	case anyList:
		n, ok := r.count(1)
		if !ok {
			return []any(nil)
		}
		list := make([]any, n)
		for i := 0; i < n && r.err == nil; i++ {
			list[i] = r.any(depth + 1)
		}
		return list
	}
	r.fail(errBinaryValue)
	return nil
}
