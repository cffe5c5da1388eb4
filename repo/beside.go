package repo

import (
	"bytes"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// References returns the references of a golden case to packs and other artifacts, as
// they are in its invocation.
func (c *Case) References() []*pack.Node {
	refs := c.Invoke.Get("context_pack_refs")
	if refs == nil {
		return nil
	}
	return refs.Items
}

// Artifact returns the id of the pack or other artifact that a reference of an invocation names, ""
// for a value that is not a text. Pinned is false for a reference without a version of the form
// MAJOR.MINOR.PATCH.
func Artifact(ref *pack.Node) (id string, pinned bool) {
	id, _, _ = strings.Cut(pack.TextOf(ref), "@")
	_, _, pinned = pack.ParseRef(pack.TextOf(ref))
	return id, pinned
}

// otherKinds are the prefixes of ids of artifacts that are not packs, but named like them in
// context_pack_refs (invokeAgent v1).
var otherKinds = []string{"decision-catalog."}

// IsOtherKind reports whether an id is that of an artifact of another kind than a pack.
func IsOtherKind(id string) bool {
	return slices.ContainsFunc(otherKinds, func(kind string) bool { return strings.HasPrefix(id, kind) })
}

// Companions returns the packs with a pack_id that the unit's golden cases name beside it; several if
// several files of the repository have the id.
func (u *Unit) Companions(id string) []*Unit {
	var list []*Unit
	for _, other := range u.Beside {
		if other.id() == id {
			list = append(list, other)
		}
	}
	return list
}

// others returns the ids of what the golden cases of a unit name beside it.
func (u *Unit) others() map[string]bool {
	ids := map[string]bool{}
	for _, c := range u.Cases {
		for _, ref := range c.References() {
			if id, _ := Artifact(ref); id != "" && id != u.id() {
				ids[id] = true
			}
		}
	}
	return ids
}

// companions reads the packs that the golden cases of a unit name beside it, and those that their cases
// name, and sets them as Beside of each unit. Packs in folders that cannot be searched are left out;
// the search for packs reports those folders.
func (f *Files) companions(u *Unit, c *Config) error {
	if len(u.others()) == 0 {
		return nil
	}
	names, err := f.Find(c)
	if unseen := new(Unseen); err != nil && !errors.As(err, &unseen) {
		return err
	}
	byID := map[string][]string{} // files
	for _, name := range names {
		is, _, err := f.Claim(name, c.Limits.MaxBytes)
		if err != nil {
			return err
		}
		byID[is.ID] = append(byID[is.ID], name)
	}
	read, todo := map[string]*Unit{u.Name: u}, []*Unit{u}
	for len(todo) > 0 {
		one := todo[0]
		todo = todo[1:]
		for _, id := range slices.Sorted(maps.Keys(one.others())) {
			for _, name := range byID[id] {
				if read[name] == nil {
					if read[name], err = f.unit(name, c, sideKinds); err != nil {
						return err
					}
					todo = append(todo, read[name])
				}
				one.Beside = append(one.Beside, read[name])
			}
		}
	}
	return nil
}

// Named returns the sets of artifacts that the golden cases of a pack name, by their ids,
// sorted: those of several. Only cases that may name several are read.
func (f *Files) Named(packName string, c *Config) (sets [][]string, err error) {
	names, err := f.glob(path.Join(escapePattern(path.Dir(packName)), "golden/*"+caseSuffix))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		src, _, err := f.read(name, int64(c.Limits.MaxBytes))
		if err != nil || !mayNameSeveral(src) {
			if ended := f.ended(); ended != nil {
				return nil, ended
			}
			continue // gating the pack reports what is wrong with it
		}
		doc, _ := pack.Read(f.Show(name), src, c.Limits)
		if doc.Root == nil || doc.Root.Kind != pack.Object {
			continue
		}
		one := new(Case)
		pack.Decode(doc.Root, one)
		if ids := one.artifacts(); len(ids) > 1 && !slices.ContainsFunc(sets, func(set []string) bool { return slices.Equal(set, ids) }) {
			sets = append(sets, ids)
		}
	}
	return sets, nil
}

// artifacts returns the ids of the packs that a case names, each once, sorted.
func (c *Case) artifacts() []string {
	var ids []string
	for _, ref := range c.References() {
		if id, pinned := Artifact(ref); pinned && !IsOtherKind(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// mayNameSeveral reports whether a golden case may have several references. True may also mean that it
// is not certain.
func mayNameSeveral(src []byte) bool {
	if bytes.Contains(src, []byte(`\u`)) {
		return true
	}
	const name = `"context_pack_refs"`
	for {
		at := bytes.Index(src, []byte(name))
		if at < 0 {
			return false
		}
		src = src[at+len(name):]
		end := bytes.IndexByte(src, ']')
		if end < 0 || bytes.Count(src[:end], []byte("@")) != 1 {
			return true
		}
	}
}
