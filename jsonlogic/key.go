package jsonlogic

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/contextosai/packgate/pack"
)

// Key identifies a condition by its JSON value. The keys of two conditions are
// equal exactly if their values are, where 1, 1.0 and 1e0 are one number and two
// strings are equal if their characters are, however they are escaped. A key is a
// SHA-256 digest of a form in which every part states its type and its length, so
// that no choice of names makes two conditions share one.
type Key [sha256.Size]byte

// KeyOf returns the key of a condition that need not be compiled. Of an object
// with several members, which no condition has, the order counts too. A nil node
// has the zero key.
func KeyOf(n *pack.Node) Key {
	if n == nil {
		return Key{}
	}
	return sha256.Sum256(appendValue(nil, n))
}

// Key returns the key of the condition that the expression was compiled from. It
// was computed by Compile.
func (x *Expr) Key() Key { return x.key }

// appendValue appends a JSON value so that no form is the beginning of another.
func appendValue(b []byte, n *pack.Node) []byte {
	if scalar(n) {
		return appendScalar(b, n.Any())
	}
	b = append(b, byte(n.Kind))
	switch n.Kind {
	case pack.Array:
		b = binary.AppendUvarint(b, uint64(len(n.Items)))
		for _, item := range n.Items {
			b = appendValue(b, item)
		}
	case pack.Object:
		b = binary.AppendUvarint(b, uint64(len(n.Members)))
		for i := range n.Members {
			b = appendValue(appendText(b, n.Members[i].Name), n.Members[i].Value)
		}
	}
	return b
}

// appendText appends a text after its length.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendNumber appends a number; -0 is 0.
func appendNumber(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(f+0))
}

// identify gives an operation its key, which is that of its operator, its paths
// and the keys of its operands: two operations share one exactly if they are
// written the same, wherever they stand.
func (n *node) identify() {
	var room [256]byte
	b := append(room[:0], byte(n.op))
	if n.op == opVar {
		b = appendText(b, n.path.text)
	}
	b = binary.AppendUvarint(b, uint64(len(n.args)))
	for _, arg := range n.args {
		if arg.op == opConstant {
			b = appendScalar(append(b, 0), arg.value)
		} else {
			b = append(append(b, 1), arg.key[:]...)
		}
	}
	if n.args == nil {
		for i := range n.keys {
			b = appendText(b, n.keys[i].path.text)
		}
	}
	n.key = sha256.Sum256(b)
}

// appendScalar appends a scalar so that no form is the beginning of another.
func appendScalar(b []byte, v any) []byte {
	switch t := v.(type) {
	case bool:
		return append(b, byte(pack.Bool), byte(btoi(t)))
	case float64:
		return appendNumber(append(b, byte(pack.Number)), t)
	case string:
		return appendText(append(b, byte(pack.String)), t)
	}
	return append(b, byte(pack.Null))
}
