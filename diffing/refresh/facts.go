package refresh

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Facts are what triggers need to know of the content of one pack. They hold
// nothing of the document that they were taken from, so that a repository of many
// packs can be compared without keeping all of it in memory. They do not change:
// packs that are the same byte for byte may share them.
type Facts struct {
	id, ref string // the pack_id, and with its version; "" where there is none
	uses    uses
	defines map[definition]defined
}

// FactsOf returns the facts of a pack; nil for nil, which is a pack that could not
// be read as an object.
func FactsOf(p *pack.Pack) *Facts {
	if p == nil {
		return nil
	}
	return &Facts{id: strings.Clone(p.PackMeta.PackID.Value), ref: strings.Clone(p.Ref()), uses: usesOf(p).clone(), defines: define(p)}
}

// clone returns the same with texts of its own: those of a pack are parts of its
// document, and one of them keeps all of it in memory.
func (u uses) clone() uses {
	for _, text := range []*string{&u.namespace, &u.alias, &u.issuer, &u.region} {
		*text = strings.Clone(*text)
	}
	for _, list := range []*[]string{&u.endpoints, &u.schemes, &u.roles, &u.intents, &u.schemas, &u.evidence} {
		own := slices.Clip(*list)
		for i := range own {
			own[i] = strings.Clone(own[i])
		}
		*list = own
	}
	return u
}
