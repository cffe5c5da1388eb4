package statement

import "strings"

// object is a JSON object that is written. The canonical form orders its members.
type object map[string]any

// with adds a text that may be absent.
func (o object) with(name, text string) object {
	if text != "" {
		o[name] = text
	}
	return o
}

// withDigest adds in-toto's DigestSet of a digest that may be absent.
func (o object) withDigest(name, digest string) object {
	if digest != "" {
		o[name] = object{"sha256": strings.TrimPrefix(digest, "sha256:")}
	}
	return o
}
