package diffing

import "slices"

// BetweenPublished takes the comparison as one of two versions that are both published, of which
// an environment is moved from one to the other: to go back is no fault then, and no version has
// to be raised. It is asked for once, before anything else is done with the comparison.
func (d *Diff) BetweenPublished() {
	d.Class, d.content, d.Required = None, None, ""
	for i := range d.Layers {
		l := &d.Layers[i]
		l.Changes = slices.DeleteFunc(slices.Clone(l.Changes), func(c Change) bool { return c.Row == rowGoesBack })
		l.Class = None
		for _, c := range l.Changes {
			l.Class = max(l.Class, c.Class)
		}
		d.Class = max(d.Class, l.Class)
	}
	d.content = d.Class
}
