package report

import (
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// SettingWhy is one value that an overlay gives the pack for a case. The rules,
// tools and gates of the explanation have it, while their places lead to the pack's
// file, which has another.
type SettingWhy struct {
	Overlay string `json:"overlay"` // overlay_id
	Path    string `json:"path"`    // keyed path in the pack
	Was     any    `json:"was"`     // the pack's value
	Value   any    `json:"value"`
	Place   *Place `json:"place"` // in the overlay's file
}

// settingsOf returns the values that count in the end, in the order in which they
// are set; none for a case without an overlay, or with one that cannot be applied.
func settingsOf(u *repo.Unit, r golden.Result) []SettingWhy {
	if r.Overlay == "" {
		return nil
	}
	view, err := overlay.ForCase(u, r.Overlay)
	if err != nil {
		return nil // the heading says so
	}
	var settings []SettingWhy
	for _, s := range overlay.Effective(view.Steps) {
		settings = append(settings, SettingWhy{
			Overlay: s.Overlay.OverlayID.Value, Path: s.Path(), Was: s.At.Any(), Value: s.Setting.Value.Any(), Place: placeOf(s.Setting.Value),
		})
	}
	return settings
}

func (t *terminal) settingsWhy(settings []SettingWhy) {
	if len(settings) > 0 {
		t.line("\nset by overlays, in place of what the pack's file says")
	}
	for _, s := range settings {
		t.line("  %s  %s", text(s.Path), text(at(s.Place)))
		t.line("      %s → %s", text(pack.CompactJSON(s.Was)), text(pack.CompactJSON(s.Value)))
	}
}
