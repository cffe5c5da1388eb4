package export

import (
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// move is what an environment was moved to.
type move struct {
	pack, environment string
	manifest, bundle  string // digests; the bundle's is "" where there is none
	stopped           bool
}

// record is one link of a pack's history.
type record struct {
	*statement.Record
	digest string // of its manifest, by which others name it
	bundle string // of its Sigstore bundle
}

// histories verifies the records, and looks whether all is there that they name.
func (c *checking) histories() error {
	for _, name := range c.within("records") {
		src, err := c.read(name)
		if err != nil {
			return err
		}
		v, err := c.Publisher.Verify(src)
		var r *statement.Record
		if err == nil {
			r, err = v.Statement.Record()
		}
		if err != nil {
			c.wrong("%s: %v", name, err)
			continue
		}
		id, _ := split(r.Pack)
		if !slices.Contains(c.out.Index.Packs, id) {
			c.wrong("%s is of the pack %q, which the index does not name", name, id)
			continue
		}
		digest, err := registry.RecordDigest(id, src)
		if err != nil {
			c.wrong("%s: %v", name, err)
			continue
		}
		c.records[id] = append(c.records[id], &record{r, digest, v.Digest})
		c.out.Signed = append(c.out.Signed, Signed{id, v.Digest})
	}
	for _, id := range c.out.Index.Packs {
		c.out.Histories = append(c.out.Histories, c.history(id))
	}
	return nil
}

// history looks whether the records of a pack are linked, and the statements are there that
// they name.
func (c *checking) history(id string) History {
	records := c.records[id]
	byDigest := map[string]*record{}
	heads := map[string]bool{}
	out := History{Pack: id, Records: len(records)}
	for _, r := range records {
		byDigest[r.digest], heads[r.digest] = r, true
		out.Head = max(out.Head, r.Sequence)
	}
	named := map[string]bool{}
	for _, r := range records {
		highest, lost := 0, false
		for _, digest := range r.Previous {
			delete(heads, digest)
			if before := byDigest[digest]; before == nil {
				c.wrong("record %d of %q names the record %s before it, which is missing", r.Sequence, id, digest)
				lost = true
			} else {
				highest = max(highest, before.Sequence)
			}
		}
		if !lost && highest != r.Sequence-1 {
			c.wrong("record %d of %q names record %d before it", r.Sequence, id, highest)
		}
		for _, e := range append([]statement.Entry{r.Entry}, r.Adopts...) {
			named[e.Bundle] = true
			if !c.has(nameAt("statements", e.Bundle)) {
				c.wrong("record %d of %q names the statement %s, which is missing", r.Sequence, id, e.Bundle)
			}
		}
	}
	if len(heads) > 1 {
		c.without("which of the %d newest records of %q is the last one: none of them names the others", len(heads), id)
	}
	if n := c.unnamed(id, named); n > 0 && len(records) > 0 {
		c.without("whether there are more statements about %q after its last record: no record names %s", id, pack.Counted(n, "statement"))
	}
	return out
}

// unnamed counts the statements about a pack that no record names.
func (c *checking) unnamed(id string, named map[string]bool) (n int) {
	seen := map[string]bool{}
	for i := range c.out.Events {
		if e := &c.out.Events[i]; e.Pack == id && !named[e.Statement] && !seen[e.Statement] {
			seen[e.Statement] = true
			n++
		}
	}
	return n
}

// nothingSaid is what is not known without a status that a timestamp names.
const nothingSaid = "whether anything was left out: "

// status holds what is there against what the publisher says that there is.
func (c *checking) status() error {
	document, bundle := c.once(StatusFile), c.once(StatusBundle)
	if document == nil && bundle == nil {
		c.without(nothingSaid + "the registry has no status of the publisher, which publish.freshness asks for")
		return c.ctx.Err()
	}
	ledger, _, err := publish.VerifyStatus(c.Publisher, c.out.Index.Registry, document, bundle)
	if err != nil {
		c.wrong("%s: %v", StatusFile, err)
		return c.ctx.Err()
	}
	stamped := c.timestamp(ledger, digestOf(document))
	for i := range c.out.Histories {
		h := &c.out.Histories[i]
		if p, known := ledger.Packs[h.Pack]; known {
			c.upTo(h, p)
			h.Stamped = stamped
		} else {
			c.without(nothingSaid+"the publisher's status does not name %q", h.Pack)
		}
	}
	return c.ctx.Err()
}

// once returns a file that is there at most once; nil where it is not.
func (c *checking) once(name string) []byte {
	if !c.has(name) {
		return nil
	}
	src, err := c.read(name)
	if err != nil {
		c.wrong("%s: %v", name, err)
		return nil
	}
	return src
}

// upTo looks whether all is there that the status says of a pack.
func (c *checking) upTo(h *History, p statement.PackLedger) {
	for digest, state := range p.States {
		if found := c.states[digest]; found != state && found != statement.StateRevoked {
			c.wrong("according to the publisher's status, %s of %q is %s, and no statement says so", digest, h.Pack, state)
		}
	}
	for environment, pin := range p.Pins {
		if pin == nil {
			if !c.anyMove(h.Pack, environment, func(m move) bool { return m.stopped }) {
				c.wrong("according to the publisher's status, %q runs nothing of %q, and no statement says so", environment, h.Pack)
			}
		} else if !c.anyMove(h.Pack, environment, func(m move) bool { return !m.stopped && m.manifest == pin.Manifest && m.bundle == pin.Bundle }) {
			c.wrong("according to the publisher's status, %q runs version %s of %q, and no statement says so", environment, pin.Version, h.Pack)
		}
	}
	switch {
	case p.Head.Sequence == 0:
		c.without(nothingSaid+"the publisher's status names no record of the history of %q; the export has the states and pins that it lists", h.Pack)
	case !slices.ContainsFunc(c.records[h.Pack], func(r *record) bool { return r.digest == p.Head.Digest && r.Sequence == p.Head.Sequence }):
		c.wrong("the publisher's status names record %d of %q (%s), which is missing", p.Head.Sequence, h.Pack, p.Head.Digest)
	default:
		h.Complete = p.Head.Sequence
	}
}

func (c *checking) anyMove(id, environment string, is func(move) bool) bool {
	for m := range c.moves {
		if m.pack == id && m.environment == environment && is(m) {
			return true
		}
	}
	return false
}

// timestamp reports whether somebody said that the status was the newest.
func (c *checking) timestamp(ledger *statement.Ledger, digest string) bool {
	bundle := c.once(TimestampFile)
	const newest = "whether the publisher's status was the newest: "
	switch {
	case bundle == nil:
		c.without(newest + "there is no timestamp of it")
		return false
	case c.Freshness == nil:
		c.without(newest + "it is not stated who signs timestamps, with --freshness-workflow, --freshness-key or publish.freshness")
		return false
	}
	t, _, err := publish.VerifyTimestamp(c.Freshness, c.out.Index.Registry, bundle)
	if err != nil {
		c.wrong("%s: %v", TimestampFile, err)
		return false
	}
	if t.Digest != digest || t.Sequence != ledger.Sequence {
		c.wrong("%s names %s as status %d, and the export has %s, which is %d", TimestampFile, t.Digest, t.Sequence, digest, ledger.Sequence)
		return false
	}
	c.out.Issued = t.Issued
	return true
}
