package render

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// Bounds of a block to copy: how many waivers it has, and how long each may be, in bytes.
const (
	maxWaivers     = 10
	maxWaiverBytes = 1000
)

// waiverList are waivers to complete and to copy into a config.
type waiverList struct {
	block   string
	n, left int
	first   string // fingerprint of the first finding for which there is no room
}

// waiversOf returns the waivers that would excuse findings of a pack, each of a rule at a place
// once.
func waiversOf(p *model.Pack, found []model.Finding) (w waiverList) {
	type key struct{ rule, thing, path string }
	known := map[key]bool{}
	id, _, _ := strings.Cut(p.Pack, "@")
	for i := range found {
		f := &found[i]
		k := key{f.Rule, f.Thing, f.Path}
		if !f.Waivable || id == "" || known[k] {
			continue
		}
		known[k] = true
		lines := f.Waiver(id)
		if w.n == maxWaivers || len(lines) > maxWaiverBytes {
			if w.left++; w.first == "" {
				w.first = f.Fingerprint
			}
			continue
		}
		w.n++
		w.block += lines
	}
	return w
}

// nodes show the block, and how to get what it has no room for.
func (w *waiverList) nodes() []node {
	nodes := []node{listing{"yaml", "waivers:\n" + w.block}}
	if w.left > 0 {
		nodes = append(nodes, plain("And "+more(w.left, "waiver")+": ").code("packgate explain "+w.first).plain(" prints the first of them."))
	}
	return nodes
}

// waiving is how to waive what blocks a pack: each cause, without weaker evidence, of which the
// author is told above, and without the version, which a command raises.
func (b *builder) waiving(p *model.Pack) section {
	if b.brief || p.Result == model.Passed || p.Pinned != nil {
		return section{}
	}
	w := waiversOf(p, slices.DeleteFunc(faults(p, blocking(p)), notRaised))
	if w.n == 0 {
		return section{}
	}
	how := plain("If a finding should stay for now: complete its lines and add them to ").code(".packgate.yaml").plain(", under ").code("waivers").
		plain(" if it is there already, in a pull request of its own. Once that is merged, the finding does not count until the last day.")
	return section{id: "waive", title: "How to waive what blocks", words: "how to waive what blocks", nodes: append([]node{how}, w.nodes()...)}
}
