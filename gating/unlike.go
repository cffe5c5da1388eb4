package gating

import (
	"bytes"
	"context"
	"io/fs"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Unlike returns the files that decide what environments run and that differ between the folder and a
// commit, sorted: the config, catalogs and pins files. A file that only one of the two has is among
// them.
func (w *Workspace) Unlike(ctx context.Context, c *Commit) ([]string, error) {
	decides := func(name string) bool {
		return name == w.ConfigName() || w.catalogs.Match(name) || repo.IsPins(name)
	}
	entries, err := c.list(ctx, decides)
	if err != nil {
		return nil, err
	}
	names, err := w.Files.Find(nil, append(pack.Values(w.Config.Environments), "pins/*", w.ConfigName())...)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		names = append(names, e.Path)
	}
	var unlike []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		there, ok, err := c.Read(name, max(maxConfig, w.Config.Limits.MaxBytes))
		if err != nil {
			return nil, err
		}
		here, err := fs.ReadFile(w.Files.Tree(), name)
		if err != nil && !repo.NotThere(err) {
			return nil, err
		}
		if !ok || err != nil || !bytes.Equal(here, there) {
			unlike = append(unlike, name)
		}
	}
	return unlike, nil
}
