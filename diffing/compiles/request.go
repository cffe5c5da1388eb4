package compiles

import (
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// addressed returns a request for one pack as one for another: references to
// the first are references to the second. The compile does not ask which version
// is intended, but which pack.
func addressed(request compiler.Request, from, to *pack.Pack) compiler.Request {
	refs, ok := request.Invoke["context_pack_refs"].([]any)
	if !ok {
		return request
	}
	refs = slices.Clone(refs)
	for i, ref := range refs {
		text, _ := ref.(string)
		if id, _, pinned := strings.Cut(text, "@"); pinned && id == from.PackMeta.PackID.Value {
			refs[i] = to.Ref()
		}
	}
	request.Invoke = maps.Clone(request.Invoke)
	request.Invoke["context_pack_refs"] = refs
	return request
}
