package build

import (
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
	"github.com/contextosai/packgate/report/model"
)

// settingsOf returns the values that count in the end, in the order in which they
// are set; none for a case without an overlay, or with one that cannot be applied.
func settingsOf(u *repo.Unit, r golden.Result) []model.SettingWhy {
	if r.Overlay == "" {
		return nil
	}
	view, err := overlay.ForCase(u, r.Overlay)
	if err != nil {
		return nil // the heading says so
	}
	var settings []model.SettingWhy
	for _, s := range overlay.Effective(view.Steps) {
		settings = append(settings, model.SettingWhy{
			Overlay: s.Overlay.OverlayID.Value, Path: s.Path(), Was: s.At.Any(), Value: s.Setting.Value.Any(), Place: placeOf(s.Setting.Value),
		})
	}
	return settings
}
