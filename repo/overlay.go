package repo

import "github.com/contextosai/packgate/pack"

// Overlay is a file that says what one environment changes of a pack.
type Overlay struct {
	*SideFile `json:"-"`
	OverlayFields
}

// OverlayFields are the members of an overlay. Order is its place among the
// overlays of its environment, lower first.
type OverlayFields struct {
	pack.Part
	OverlayID   pack.Text          `json:"overlay_id"`
	Environment pack.Text          `json:"environment"`
	Base        pack.Text          `json:"base"`
	Order       pack.Num           `json:"order"`
	Set         pack.List[Setting] `json:"set"`
}

// Setting is one change: the keyed path of a value, and what takes its place.
// Value is nil where there is none.
type Setting struct {
	pack.Part
	Path  pack.Text  `json:"path"`
	Value *pack.Node `json:"value"`
}

// addOverlay reads an overlay and reports whether the file stays with the pack.
// In a shared folder, one whose base is another pack there is left to it.
func (u *Unit) addOverlay(s *SideFile, others []string) bool {
	if s.Kind != "overlay" {
		return true
	}
	o := &Overlay{SideFile: s}
	s.decode(&o.OverlayFields)
	if u.isOfAnother(o.Base, others) {
		return false
	}
	u.Overlays = append(u.Overlays, o)
	return true
}
