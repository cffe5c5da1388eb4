package publish

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// What was said of a pack is one chain of records, which the publisher signs: each names a
// statement, and the records before it. Two publishers that meet sign two records of one
// sequence, a fork, which the next record joins: it names every record that no other names.

// recordAt is a record that the trusted identity signed for this repository.
type recordAt struct {
	*statement.Record
	digest string // of its manifest, by which others name it
	Signing
}

// place is where the chain names a statement: in which record, and whether as one that was
// adopted there, before the record's own.
type place struct {
	sequence int
	adopted  bool
	// late says that it moves an environment, and that another record of the same sequence,
	// which was witnessed earlier, moves it too: it does not count.
	late bool
	of   string // the version that it is about, as pack_id@version; "" for one that was adopted
	statement.Entry
}

// compare orders places as the chain does.
func (p place) compare(other place) int {
	rank := func(p place) int {
		if p.adopted {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(p.sequence, other.sequence), cmp.Compare(rank(p), rank(other)))
}

// chain is the history of a pack, as far as it can be believed.
type chain struct {
	repo    *registry.Repository
	tags    map[registry.RecordTag]string // to the digest that they name
	records []*recordAt                   // by sequence, and of one sequence the one witnessed first
	heads   []*recordAt                   // those that no other names, in the same order
	places  map[string]place              // by digest of the statement's bundle
	lost    []string                      // digests that a record names before it, and that are not there
	odd     []Reason                      // what bears the tags of records and is none
	foreign int                           // records of another repository's history
	dropped int                           // tags that were not looked at
}

// chainLimit bounds how many records of one sequence are looked at. A record names no more.
const chainLimit = statement.MaxPrevious

// chain reads the history of a pack.
func (c *Checker) chain(ctx context.Context, repo *registry.Repository, packID string, listed []string) (*chain, error) {
	out := &chain{repo: repo, tags: map[registry.RecordTag]string{}, places: map[string]place{}}
	wanted := out.follow(listed)
	found, err := each(ctx, c.Registry, packID, wanted, func(ctx context.Context, repo *registry.Repository, t registry.RecordTag) (string, error) {
		return resolve(ctx, repo, t.String())
	})
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for i, digest := range found {
		if digest != "" {
			out.tags[wanted[i]], open[digest] = digest, true
		}
	}
	seen := map[string]*recordAt{}
	for len(open) > 0 { // a record names others of a lower sequence alone, so that this ends
		digests := slices.Sorted(maps.Keys(open))
		open = map[string]bool{}
		records, err := each(ctx, c.Registry, packID, digests, func(ctx context.Context, repo *registry.Repository, digest string) (*recordRead, error) {
			return c.record(ctx, repo, packID, digest)
		})
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			seen[digests[i]] = out.take(digests[i], r)
		}
		for _, r := range seen {
			for _, before := range previousOf(r) {
				if _, known := seen[before]; !known {
					open[before] = true
				}
			}
		}
	}
	out.arrange(seen)
	return out, nil
}

func previousOf(r *recordAt) []string {
	if r == nil {
		return nil
	}
	return r.Previous
}

// follow returns the tags of records that are looked at.
func (ch *chain) follow(listed []string) (wanted []registry.RecordTag) {
	seen := map[int]int{}
	for _, text := range listed {
		t, ours := registry.ReadRecordTag(text)
		if !ours {
			continue
		}
		if seen[t.Sequence]++; seen[t.Sequence] > chainLimit+1 {
			ch.dropped++
			continue
		}
		wanted = append(wanted, t)
	}
	return wanted
}

// recordRead is a record as it was read: one, or why it is none.
type recordRead struct {
	record  *recordAt
	foreign bool // it is of another repository's history
	gone    bool // it is not there
	odd     *Reason
}

// record reads and verifies the record under a digest. The error is for what could not be
// looked at.
func (c *Checker) record(ctx context.Context, repo *registry.Repository, packID, digest string) (*recordRead, error) {
	if known := c.records.of(recordKey{repo.Name(), digest}); known != nil {
		return &recordRead{record: known}, nil
	}
	bundle, err := repo.Record(ctx, digest)
	if r := problemOf(digest, err); r != nil {
		return &recordRead{gone: r.Kind == ReasonNotPublished, odd: r}, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := c.Verifier.Verify(bundle)
	if err != nil {
		r := Reason{Kind: ReasonOtherSigner, Message: fmt.Sprintf("a record of the history is not trusted: %v", err), Hint: fault.Hint(err), Digest: digest, Cause: err}
		if c.Verifier.Claim(bundle).Ours {
			r.Kind, r.Hint = ReasonSignature, "check who can write to the registry"
			r = r.failing()
		}
		return &recordRead{odd: &r}, nil
	}
	s, err := v.Statement.Record()
	if err == nil && packOf(s.Pack) != packID {
		err = fmt.Errorf("it belongs to the history of %q, wanted %q", packOf(s.Pack), packID)
	}
	if err != nil {
		r := ReasonSubject.explains(digest, "check who can write to the registry", "the signed statement is not a record of this history: %v", err).failing()
		return &recordRead{odd: &r}, nil
	}
	if !sameResource(s.Resource, repo.Name(), packID) {
		return &recordRead{foreign: true}, nil
	}
	found := &recordAt{s, digest, signing(v, s.Time)}
	c.records.put(recordKey{repo.Name(), digest}, found)
	return &recordRead{record: found}, nil
}

// sameResource reports whether a record is of the history that is kept in a repository. A folder
// may be named in several ways.
func sameResource(resource, name, packID string) bool {
	const folder = "oci:"
	local := strings.HasPrefix(resource, folder) && strings.HasPrefix(name, folder)
	return resource == name || local && strings.HasSuffix(resource, "/"+packID)
}

// take notes what a digest turned out to be.
func (ch *chain) take(digest string, r *recordRead) *recordAt {
	switch {
	case r.record != nil:
		return r.record
	case r.foreign:
		ch.foreign++
	case r.gone:
		ch.lost = append(ch.lost, digest)
	default:
		ch.odd = append(ch.odd, *r.odd)
	}
	return nil
}

// arrange puts the records in their order.
func (ch *chain) arrange(seen map[string]*recordAt) {
	named := map[string]bool{}
	for _, r := range seen {
		if r == nil {
			continue
		}
		ch.records = append(ch.records, r)
		for _, before := range r.Previous {
			named[before] = true
			if seen[before] == nil && !slices.Contains(ch.lost, before) {
				ch.lost = append(ch.lost, before) // something else is there
			}
		}
	}
	// What a tag names and is not there is no gap of the history, unless a record names it.
	ch.lost = slices.DeleteFunc(ch.lost, func(digest string) bool { return !named[digest] })
	slices.Sort(ch.lost)
	slices.SortFunc(ch.records, func(a, b *recordAt) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), a.compare(b.Signing))
	})
	moved := map[string]int{} // environment to the sequence of the record that moved it last
	for _, r := range ch.records {
		if !named[r.digest] {
			ch.heads = append(ch.heads, r)
		}
		for _, e := range r.Adopts {
			ch.put(place{sequence: r.Sequence, adopted: true, Entry: e})
		}
		p := place{sequence: r.Sequence, of: r.Pack, Entry: r.Entry}
		if p.moves() {
			p.late = moved[p.Environment] == r.Sequence
			moved[p.Environment] = r.Sequence
		}
		ch.put(p)
	}
	slices.SortStableFunc(ch.heads, func(a, b *recordAt) int { return cmp.Compare(b.Sequence, a.Sequence) })
}

// moves tells whether a statement moves an environment.
func (p place) moves() bool { return p.Kind == statement.KindPin || p.Kind == statement.KindStop }

// put notes where a statement is named first.
func (ch *chain) put(p place) {
	if _, known := ch.places[p.Bundle]; !known {
		ch.places[p.Bundle] = p
	}
}

// versions returns the digests of the manifests of versions of which the history speaks.
func (ch *chain) versions() (digests []string) {
	if ch == nil {
		return nil
	}
	for _, p := range ch.places {
		if p.Kind != statement.KindBundle {
			digests = append(digests, p.Manifest)
		}
	}
	return digests
}

// bundles returns those of the bundles of environments.
func (ch *chain) bundles() (digests []string) {
	for _, p := range ch.places {
		if p.Kind == statement.KindBundle {
			digests = append(digests, p.Manifest)
		}
	}
	return digests
}

// last returns the highest sequence, 0 where there is no record.
func (ch *chain) last() int {
	if len(ch.records) == 0 {
		return 0
	}
	return ch.records[len(ch.records)-1].Sequence
}

// head returns the newest record of a pack's chain, of several the one that was witnessed
// first; zero where it has none.
func (c *Checker) head(ctx context.Context, packID string) (statement.Head, error) {
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return statement.Head{}, err
	}
	listed, err := repo.Tags(ctx)
	if err != nil {
		return statement.Head{}, err
	}
	tags := (&chain{}).follow(listed)
	slices.SortFunc(tags, func(a, b registry.RecordTag) int { return cmp.Compare(b.Sequence, a.Sequence) })
	var newest *recordAt
	odd := 0
	for _, t := range tags {
		if newest != nil && t.Sequence < newest.Sequence {
			break
		}
		digest, err := resolve(ctx, repo, t.String())
		if err != nil {
			return statement.Head{}, err
		}
		if digest == "" || newest != nil && digest == newest.digest {
			continue
		}
		r, err := c.record(ctx, repo, packID, digest)
		if err != nil {
			return statement.Head{}, err
		}
		switch {
		case r.record == nil:
			if odd++; odd > mostOdd {
				return statement.Head{}, statusError(nil, "more than %d tags in %q name something that is not a record of its history", mostOdd, repo.Name())
			}
		case newest == nil, r.record.Sequence == newest.Sequence && r.record.compare(newest.Signing) < 0:
			newest = r.record
		}
	}
	if newest == nil {
		return statement.Head{}, nil
	}
	return statement.Head{Sequence: newest.Sequence, Digest: newest.digest}, nil
}

// beyond returns the newest record of a pack's chain, and fails with ErrCut where a record that
// was named is not there.
func (c *Checker) beyond(ctx context.Context, packID string, named statement.Head) (statement.Head, error) {
	head, err := c.head(ctx, packID)
	if err != nil || named == head || named == (statement.Head{}) {
		return head, err
	}
	if head.Sequence < named.Sequence {
		return head, cut(packID, named, head)
	}
	repo, err := c.Registry.Repository(packID)
	if err != nil {
		return head, err
	}
	r, err := c.record(ctx, repo, packID, named.Digest)
	if err == nil && (r.record == nil || r.record.Sequence != named.Sequence) {
		err = cut(packID, named, head)
	}
	return head, err
}

// order sorts the records that moved environments here by the pack's history, and sets those
// apart that it does not name, or too late. A pack without a history has the order of time.
func (h *holding) order(ch *chain) {
	if len(ch.records) == 0 {
		return
	}
	all := slices.Concat(h.pins, h.loose)
	h.pins, h.loose = nil, nil
	for _, r := range all {
		p, known := ch.places[r.Bundle]
		if !known || p.late || !p.moves() || p.Manifest != h.digest || p.Environment != r.Environment || r.Stopped != (p.Kind == statement.KindStop) {
			h.loose = append(h.loose, r)
			continue
		}
		r.place = p
		h.pins = append(h.pins, r)
	}
	slices.SortFunc(h.pins, PinRecord.order)
}
