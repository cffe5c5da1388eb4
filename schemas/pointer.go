package schemas

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// splitFragment reads a JSON pointer in its URI fragment form (RFC 6901,
// section 6), without the number sign.
func splitFragment(fragment string) (segments []string, ok bool) {
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, false
	}
	return pack.SplitPointer(pointer)
}

// valueAt follows segments into a decoded JSON value; nil if they lead nowhere.
func valueAt(value any, segments []string) any {
	for _, segment := range segments {
		switch v := value.(type) {
		case map[string]any:
			value = v[segment]
		case []any:
			index, err := strconv.Atoi(segment)
			if err != nil || index < 0 || index >= len(v) {
				return nil
			}
			value = v[index]
		default:
			return nil
		}
	}
	return value
}

// isIndex reports whether a pointer segment can be an array index.
func isIndex(segment string) bool {
	if segment == "" || len(segment) > 1 && segment[0] == '0' {
		return false
	}
	return strings.Trim(segment, "0123456789") == ""
}

// comparePointers orders pointers segment by segment, array indexes by number,
// so that item 2 comes before item 10.
func comparePointers(a, b string) int {
	for a != "" || b != "" {
		var left, right string
		left, a = nextSegment(a)
		right, b = nextSegment(b)
		if isIndex(left) && isIndex(right) && len(left) != len(right) {
			return cmp.Compare(len(left), len(right))
		}
		if c := strings.Compare(left, right); c != 0 {
			return c
		}
	}
	return 0
}

// nextSegment cuts the first segment off a pointer, still escaped.
func nextSegment(pointer string) (segment, rest string) {
	if pointer == "" {
		return "", ""
	}
	end := strings.IndexByte(pointer[1:], '/')
	if end < 0 {
		return pointer[1:], ""
	}
	return pointer[1 : end+1], pointer[end+1:]
}
