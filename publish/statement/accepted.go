package statement

import "github.com/contextosai/packgate/pack"

// Accepted says how many findings of a version did not count because they were in the baseline
// file, and which file that was.
type Accepted struct {
	Count  int
	Digest string // of the baseline file; "" without one
}

// accepted holds what is accepted to what can be: without a file nothing is.
func (c *checker) accepted(a *Accepted) {
	if a == nil {
		return
	}
	c.that(a.Count >= 0 && (a.Count == 0 || a.Digest != ""), "%d findings are in a baseline file with the digest %q", a.Count, a.Digest)
	if a.Digest != "" {
		c.digest("the digest of the baseline file", a.Digest)
	}
}

func (a *Accepted) object() object {
	return object{"count": a.Count}.withDigest("digest", a.Digest)
}

// accepted reads what is accepted; nil where the predicate does not say.
func (r *reader) accepted(ours *pack.Node) *Accepted {
	at := r.optionalObject(ours, "accepted")
	if at == nil {
		return nil
	}
	return &Accepted{Count: r.sequence(at, "count"), Digest: r.optionalDigest(at, "digest")}
}
