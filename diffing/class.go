package diffing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Class says what a change asks of the version: the part of it that has to be
// raised, or that no version can carry the change.
type Class uint8

// The classes, from the weakest to the strongest. The class of several changes
// is the highest of theirs.
const (
	None   Class = iota // nothing that anyone could notice
	Patch               // metadata only
	Minor               // constrained behaviour
	Major               // expanded or changed behaviour
	Reject              // unsafe or ambiguous; to be redesigned
)

var classNames = []string{"none", "patch", "minor", "major", "reject"}

// ErrClass is wrapped by errors about words that name no class.
var ErrClass = errors.New("no class")

// String returns "none", "patch", "minor", "major" or "reject".
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return fmt.Sprintf("Class(%d)", uint8(c))
	}
	return classNames[c]
}

// ParseClass reads what String writes. The error wraps ErrClass.
func ParseClass(s string) (Class, error) {
	if i := slices.Index(classNames, s); i >= 0 {
		return Class(i), nil
	}
	return None, fmt.Errorf("%q is %w: want one of %s", s, ErrClass, strings.Join(classNames, ", "))
}

// MarshalText writes the class as String does, so that it is a word in JSON.
func (c Class) MarshalText() ([]byte, error) {
	if int(c) >= len(classNames) {
		return nil, fmt.Errorf("%s is %w", c, ErrClass)
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText writes. The error wraps ErrClass.
func (c *Class) UnmarshalText(text []byte) error {
	parsed, err := ParseClass(string(text))
	if err == nil {
		*c = parsed
	}
	return err
}

// Kind says what happened to a value.
type Kind uint8

// The kinds of changes.
const (
	Added   Kind = iota // only the head has it
	Removed             // only the base has it
	Changed             // both have it, with other content
	Renamed             // an item with the same content under another identity
)

// String returns "added", "removed", "changed" or "renamed".
func (k Kind) String() string {
	return [...]string{"added", "removed", "changed", "renamed"}[k]
}

// MarshalText writes the kind as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
