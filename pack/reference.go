package pack

import (
	"fmt"
	"regexp"
	"sync"
)

var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9A-Za-z_.:-]+)@([0-9]+\.[0-9]+\.[0-9]+)$`)
})

// ParseRef splits a reference to one version of a pack, pack_id@MAJOR.MINOR.PATCH
// (invokeAgent v1, context_pack_refs). It reports whether the text is one.
func ParseRef(ref string) (id, version string, ok bool) {
	parts := reference().FindStringSubmatch(ref)
	if parts == nil {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// RefHint returns what to do about a reference that is not the pack's: the reference
// to write, or to correct the pack first where nothing can refer to it.
func (p *Pack) RefHint() string {
	if _, _, ok := ParseRef(p.Ref()); !ok {
		return fmt.Sprintf("correct pack_id and pack_version of the pack first: %q is not pack_id@MAJOR.MINOR.PATCH", Clip(p.Ref(), 128))
	}
	return fmt.Sprintf("write %q", p.Ref())
}
