package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"
)

// urgency orders verdicts: what has to be acted on comes first.
func urgency(r Result) int {
	return slices.Index([]Result{Broken, Rejected, Failed, Passed}, r)
}

// PackKey is by what a pack is told from the others of a report.
type PackKey struct{ Pack, Path string }

// Key returns by what the pack is told from others.
func (p *Pack) Key() PackKey { return PackKey{p.Pack, p.Path} }

// Latencies are how long compiles of packs took. They stand beside the report, whose bytes
// depend on no clock.
type Latencies map[PackKey][]time.Duration

// Name names a pack: "id version", or the file where that is not known.
func (p *Pack) Name() string {
	b := Brief{Pack: p.Pack, Path: p.Path, Kind: p.Kind}
	if p.Pinned != nil {
		b.In = p.Pinned.Environment
	}
	return b.Name()
}

// Name names a pack: "id version", or the file where that is not known.
func (b Brief) Name() string {
	if b.Kind == KindRepository {
		return "the repository"
	}
	if b.In != "" {
		return VersionName(b.Pack) + " in " + b.In
	}
	return cmp.Or(VersionName(b.Pack), b.Path)
}

// maxOpen is how many packs of a report are kept as they are. One takes about 190 KB
// of memory and, sealed, 4 KB; sealing and unsealing it costs 1 ms, which is little
// beside the 20 ms of gating it, and nothing where there are few.
const maxOpen = 64

// Packs are the packs of a report, in order. Beyond a certain number, packs are kept in a
// compact form and unpacked whenever they are read, which no caller notices. The zero
// value has none. Copies share what they have in common, as slices do.
type Packs struct {
	list []onePack
	// RowOf makes the rows of packs that are added; with nil, of a row there is the brief form alone.
	RowOf func(*Pack) Row
	// Room takes packs that are sealed; with nil, they are kept in memory.
	Room     *Room
	together *together // for steps that go through them at the same time
}

// onePack is one of them, of which a summary may have the row alone.
type onePack struct {
	row     Row
	rowed   bool   // the row is whole
	pack    *Pack  // nil where it is sealed or stored
	sealed  []byte // by Seal
	spilled *spilled
	stored  *stored
}

// there reports whether there is the pack, and not its row alone.
func (o *onePack) there() bool {
	return o.pack != nil || o.sealed != nil || o.spilled != nil || o.stored != nil
}

// open returns the pack.
func (o *onePack) open() *Pack {
	switch {
	case o.pack != nil:
		return o.pack
	case o.stored != nil:
		p, err := o.stored.open(o.row.Brief)
		if err != nil {
			panic(&lost{fmt.Errorf("read the report of %q again: %w", o.row.Path, err)})
		}
		return p
	case o.spilled != nil:
		p, err := o.spilled.open()
		if err != nil {
			panic(&lost{fmt.Errorf("look at the result of %q again: %w", o.row.Path, err)})
		}
		return p
	}
	p, err := unseal(o.sealed)
	if err != nil { // the bytes have never left this process
		panic(fmt.Sprintf("the report of %q cannot be unsealed: %v", o.row.Path, err))
	}
	return p
}

// Brief is the part of a pack that can be read for all packs without unpacking them.
type Brief struct {
	Pack     string   `json:"pack"`           // id@version; empty where they could not be read
	Path     string   `json:"path"`           // file
	Kind     string   `json:"kind,omitempty"` // as that of the pack
	Result   Result   `json:"result"`
	Counts   Summary  `json:"counts"`                     // what Count returns
	Compared bool     `json:"compared,omitempty"`         // with another version
	In       string   `json:"environment,omitempty"`      // for a promotion
	Class    string   `json:"class,omitempty"`            // of the changes, those of environments too; "" where it is not compared
	Required string   `json:"required_version,omitempty"` // that the changes need; "" for none
	Roles    []string `json:"roles,omitempty"`            // whose approval the changes need
	// Playground says that there is what a page needs to compile it.
	Playground bool `json:"-"`
}

// BriefOf returns the brief form of a pack.
func BriefOf(p *Pack) Brief {
	b := Brief{Pack: p.Pack, Path: p.Path, Kind: p.Kind, Result: p.Result, Counts: Count(p), Roles: p.Roles, Playground: p.Playground.Ready()}
	if p.Pinned != nil {
		b.In = p.Pinned.Environment
	}
	b.Class = p.ChangeClass()
	if d := p.Diff; d != nil {
		b.Compared, b.Required = true, d.RequiredVersion
	}
	return b
}

// PacksOf returns packs in the given order.
func PacksOf(packs ...Pack) Packs {
	var all Packs
	for _, p := range packs {
		all.Add(p)
	}
	return all
}

// Len returns how many packs there are.
func (p Packs) Len() int { return len(p.list) }

// Add puts a pack behind the others.
func (p *Packs) Add(one Pack) {
	p.list = append(p.list, onePack{})
	p.Set(len(p.list)-1, one)
}

// Set puts a pack in the place of the one at an index.
func (p *Packs) Set(i int, one Pack) {
	row, rowed := Row{}, p.RowOf != nil
	if rowed {
		row = p.RowOf(&one)
	} else {
		row.Brief = BriefOf(&one)
	}
	if i >= maxOpen {
		// What cannot be sealed is too large or has a value that no pack has by itself.
		if sealed, err := Seal(&one); err == nil {
			p.list[i] = onePack{row: row.apart(), rowed: rowed}
			if p.list[i].spilled = p.Room.put(sealed); p.list[i].spilled == nil {
				p.list[i].sealed = sealed
			}
			return
		}
	}
	p.list[i] = onePack{row: row, rowed: rowed, pack: &one}
}

// addRow puts a pack behind the others of which there is the row alone.
func (p *Packs) addRow(row Row) { p.list = append(p.list, onePack{row: row, rowed: true}) }

// At returns the pack at an index, to be read and not to be changed: Set does that. There has to be
// the pack, and not its row alone.
func (p Packs) At(i int) *Pack { return p.list[i].open() }

// All returns all packs with their indices, one after the other, as At does; not those of which
// there is the row alone.
func (p Packs) All() iter.Seq2[int, *Pack] {
	return func(yield func(int, *Pack) bool) {
		turn := p.together.take()
		for i := range p.list {
			if p.list[i].there() && !yield(i, turn.open(i, &p.list[i])) {
				return
			}
		}
	}
}

// There reports whether there is the pack at an index, and not its row alone.
func (p Packs) There(i int) bool { return p.list[i].there() }

// Row returns the row of the pack at an index; ok is false where nobody has made it.
func (p Packs) Row(i int) (row Row, ok bool) { return p.list[i].row, p.list[i].rowed }

// Brief returns the brief form of the pack at an index. It costs nothing.
func (p Packs) Brief(i int) Brief { return p.list[i].row.Brief }

// Briefs returns the brief forms of all packs with their indices, which costs nothing.
func (p Packs) Briefs() iter.Seq2[int, Brief] {
	return func(yield func(int, Brief) bool) {
		for i := range p.list {
			if !yield(i, p.list[i].row.Brief) {
				return
			}
		}
	}
}

// Urgent returns the packs in the order in which they need attention.
func (p Packs) Urgent() Packs {
	list := slices.Clone(p.list)
	slices.SortStableFunc(list, func(a, b onePack) int { return cmp.Compare(urgency(a.row.Result), urgency(b.row.Result)) })
	return Packs{list: list}
}

// First returns the first packs, n or all where there are fewer.
func (p Packs) First(n int) Packs { return Packs{list: p.list[:min(n, len(p.list))]} }

// MarshalJSON returns the array of all packs.
func (p Packs) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // whoever asked for the escapes makes them
	b.WriteByte('[')
	first := true
	for _, one := range p.All() {
		if !first {
			b.WriteByte(',')
		}
		first = false
		if err := e.Encode(one); err != nil {
			return nil, err
		}
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an array of packs, or null for none, one open pack at a time.
func (p *Packs) UnmarshalJSON(src []byte) error {
	p.list = nil
	d := json.NewDecoder(bytes.NewReader(src))
	start, err := d.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("the packs are %v, wanted an array", start)
	}
	for d.More() {
		var one Pack
		if err := d.Decode(&one); err != nil {
			return err
		}
		p.Add(one)
	}
	_, err = d.Token()
	return err
}
