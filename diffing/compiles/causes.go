package compiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
)

// Cause is a change of the pack that a difference came from.
type Cause struct {
	Path string // the keyed path of the change
	// At is the value that changed, in the head, or in the base for what is gone
	// (Gone). Its place is that in the pack's own file, also in a case with an
	// overlay.
	At   *pack.Node
	Gone bool
}

// mostCauses bounds the causes of one section.
const mostCauses = 5

// changeIndex finds changes by keyed path.
type changeIndex struct {
	changes []diffing.Change
	exact   map[string][]int // by path
	sorted  []pathOf
}

type pathOf struct {
	path  string
	index int
}

// newChangeIndex indexes changes by the paths that they have in either version.
func newChangeIndex(changes []diffing.Change) *changeIndex {
	x := &changeIndex{changes: changes, exact: map[string][]int{}}
	for i, c := range changes {
		var paths []string
		for _, n := range []*pack.Node{c.Old, c.New} {
			if n != nil {
				paths = append(paths, n.KeyedPath())
			}
		}
		slices.Sort(paths)
		for _, p := range slices.Compact(paths) {
			x.exact[p] = append(x.exact[p], i)
			x.sorted = append(x.sorted, pathOf{p, i})
		}
	}
	slices.SortFunc(x.sorted, func(a, b pathOf) int {
		if a.path != b.path {
			return strings.Compare(a.path, b.path)
		}
		return a.index - b.index
	})
	return x
}

// near returns the changes at a place or below it and, where there are none, those
// of the nearest place around it.
func (x *changeIndex) near(path string) []int {
	found := slices.Clone(x.exact[path])
	below := path + "/"
	at, _ := slices.BinarySearchFunc(x.sorted, below, func(p pathOf, below string) int { return strings.Compare(p.path, below) })
	for ; at < len(x.sorted) && strings.HasPrefix(x.sorted[at].path, below); at++ {
		found = append(found, x.sorted[at].index)
		if len(found) > 2*mostCauses {
			break
		}
	}
	for len(found) == 0 && path != "" {
		path = path[:strings.LastIndexByte(path, '/')]
		found = x.exact[path]
	}
	return found
}

// level is a set of places that a part may come from. The places are asked for
// only where nothing nearer has changed, and once.
type level struct {
	paths func() []string // keyed ones
	found []int           // the changes there
	known bool
}

// at is the level of places that are known.
func at(paths ...string) *level {
	return &level{paths: func() []string { return paths }}
}

// changed returns the changes at the places of a level, in their order.
func (x *changeIndex) changed(l *level) []int {
	if !l.known {
		for _, path := range l.paths() {
			l.found = append(l.found, x.near(path)...)
		}
		slices.Sort(l.found)
		l.found, l.known = slices.Compact(l.found), true
	}
	return l.found
}

// causes returns the changes at the first of the levels that has any.
func (x *changeIndex) causes(levels []*level) []Cause {
	for _, l := range levels {
		found := x.changed(l)
		if len(found) == 0 {
			continue
		}
		var causes []Cause
		for _, i := range found[:min(len(found), mostCauses)] {
			c := x.changes[i]
			causes = append(causes, Cause{Path: c.Path, At: pack.Place(c.New, c.Old), Gone: c.New == nil})
		}
		return causes
	}
	return nil
}

// blockID returns the id of a block that is numbered.
func blockID(kind string, i int) string { return fmt.Sprintf("%s_%d", kind, i) }

// explainDropped gives what a full bucket has dropped, or drops no more, the causes
// of the other blocks of the bucket: it was they that took the room, or left it.
func explainDropped(all []Section) {
	for i := range all {
		bucket, dropped := strings.CutPrefix(all[i].Path, droppedPath+"/")
		stage := map[string]string{"policy": "policy", "tool": "tools"}[bucket]
		if !dropped || stage == "" {
			continue
		}
		var room []Cause
		for _, s := range all {
			for _, c := range s.Causes {
				if s.Stage == stage && len(room) < mostCauses && !slices.Contains(room, c) {
					room = append(room, c)
				}
			}
		}
		for j := range all {
			s := &all[j]
			block := s.Stage == stage && strings.HasPrefix(s.Path, blocksPath+"/") && (s.Old == "" || s.New == "")
			if len(s.Causes) == 0 && (i == j || block) {
				s.Causes = room
			}
		}
	}
}
