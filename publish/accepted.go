package publish

import (
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/statement"
)

// Accepted returns the reason not to take a version for one that was published without a baseline
// file; nil where its signed statement says that it was, and that of its bundle too where it has one.
func (v *Verdict) Accepted() *Reason {
	if v.Summary == nil {
		return nil // nothing is known of it, and it is refused for that
	}
	if r := accepted(v.Summary, v.Manifest); r != nil || v.Build == nil {
		return r
	}
	return accepted(&v.Build.Statement.Summary, v.Build.Statement.Manifest)
}

func accepted(s *statement.Summary, manifest string) *Reason {
	var r Reason
	switch a := s.Accepted; {
	case a == nil:
		r = ReasonAccepted.refuses(manifest, "publish a new version of it",
			"whether findings were in a baseline is not known: it was published by packgate %s, whose statement does not say so", s.Tool)
	case a.Count > 0:
		r = ReasonAccepted.refuses(manifest, "fix them, and publish a new version",
			"%s in the baseline with the digest %s, and not fixed", pack.Counted(a.Count, "finding"), a.Digest)
	default:
		return nil
	}
	return &r
}

// NoBaseline refuses a version of which findings were in a baseline file, or of which that is not
// known.
func (v *Verdict) NoBaseline() *Verdict {
	if r := v.Accepted(); r != nil {
		v.add(*r)
	}
	return v.settle()
}
