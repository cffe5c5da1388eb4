package cli

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/gating/cache"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

// cacheOptions say whether check keeps what came of packs for the next run, and where.
type cacheOptions struct {
	folder string // "" for the user's own
	off    bool
}

func (o *cacheOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.folder, "cache", "", "keep what came of packs in this `folder` for the next run (default: packgate in the user's cache folder; in CI only where it is named)")
	f.BoolVar(&o.off, "no-cache", false, "gate every pack, and keep nothing")
}

func (o *cacheOptions) valid() error {
	if o.off && o.folder != "" {
		return &usageError{message: "--cache does not go with --no-cache", hint: "leave out one of them"}
	}
	return nil
}

// openCache opens the cache of a run. It is no reason to fail: without it packs are
// gated as ever, and who named its folder is told why.
func (r *run) openCache(o checkOptions) {
	if o.cache.off {
		return
	}
	opened, err := openCache(r.env, o)
	if err != nil && o.cache.folder != "" {
		hint := ""
		if refused := new(cache.Refused); errors.As(err, &refused) {
			hint = "; " + refused.Hint
		}
		r.notice("the cache is not used: %v%s", err, hint)
	}
	if err == nil {
		r.cache = &packCache{kept: opened}
	}
}

// openCache returns the entries of a run. The error says why there are none.
func openCache(env *Env, o checkOptions) (*cache.Cache, error) {
	switch {
	case o.fix:
		return nil, errors.New("--fix changes the packs")
	case !exact(env.Version):
		return nil, fmt.Errorf("this build of packgate has no exact version, and its name is %q", env.Version)
	case env.CacheDir == nil || env.ConfigDir == nil:
		return nil, errors.New("the user has no folder for settings")
	case o.cache.folder == "" && inCI(env):
		return nil, errors.New("it is used in CI only where --cache names its folder")
	}
	settings, err := env.ConfigDir()
	if err != nil {
		return nil, err
	}
	folder := o.cache.folder
	if folder == "" {
		home, err := env.CacheDir()
		if err != nil {
			return nil, err
		}
		folder = filepath.Join(home, "packgate")
	}
	return cache.Open(folder, filepath.Join(settings, "packgate", "cache.key"), env.Now)
}

// exact reports whether a version names one program alone: that of a release, or of a
// commit. Builds of what somebody is working on all have the same name.
func exact(version string) bool {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil && v.Metadata() == "" // such as +dirty
}

// inCI reports whether the run is a job's. What decides there is computed there, unless
// the job asks otherwise.
func inCI(env *Env) bool {
	switch env.Getenv("CI") {
	case "", "0", "false":
		return env.Getenv("GITHUB_ACTIONS") == "true"
	}
	return true
}

// packCache keeps what came of packs. The nil packCache keeps nothing.
type packCache struct{ kept *cache.Cache }

// Close ends the use of the cache.
func (c *packCache) Close() {
	if c != nil {
		c.kept.Close()
	}
}

// scopedCache is a packCache for the packs of one workspace. The nil one keeps nothing.
type scopedCache struct {
	kept   *cache.Cache
	shared []keyPart
}

// over returns the cache for packs that are gated with the same inputs; nil where what
// comes of them depends on something that cannot be looked at again.
func (c *packCache) over(in gateInputs) *scopedCache {
	if c == nil || in.lookup != nil && in.lookup.registry != nil {
		return nil
	}
	return &scopedCache{kept: c.kept, shared: digested(in.parts())}
}

// gate returns what came of a pack when it was gated before, if everything that was
// looked at then is the same now. Else it has it gated, and keeps what comes of it. An
// error is not kept.
func (c *scopedCache) gate(ctx context.Context, w *workspace, name string, triggers []refresh.Trigger, gate func(*workspace) gatedPack) gatedPack {
	if c == nil {
		return gate(w)
	}
	digest, ok := w.files.Digest(name, int64(w.config.Limits.MaxBytes))
	if !ok {
		return gate(w)
	}
	key := keyOf(append(packParts(w, name, digest, triggers), c.shared...))
	if value, ok := c.kept.Get(key); ok {
		if g, ok := restore(value, w.files); ok {
			return g
		}
	}
	recorded := *w
	var recorder *repo.Recorder
	recorded.files, recorder = w.files.Recorded()
	g := gate(&recorded)
	if rec, ok := recorder.Recording(); ok && g.err == nil && !g.skipped && ctx.Err() == nil {
		if value, err := preserve(g, rec); err == nil {
			c.kept.Put(key, value)
		}
	}
	return g
}

// preserve returns what came of a pack, and the files that it came of, as bytes.
func preserve(g gatedPack, rec repo.Recording) ([]byte, error) {
	files, err := rec.MarshalBinary()
	if err != nil {
		return nil, err
	}
	sealed, err := model.Seal(&g.pack)
	if err != nil {
		return nil, err
	}
	out := binary.AppendUvarint(nil, uint64(len(files)))
	out = append(out, files...)
	out = binary.AppendUvarint(out, uint64(len(g.moved)))
	out = append(out, g.moved...)
	return append(out, sealed...), nil
}

// restore returns what came of a pack; ok is false where the files are others than
// those that it came of.
func restore(value []byte, files *repo.Files) (g gatedPack, ok bool) {
	src, value, ok := cutText(value)
	if !ok {
		return g, false
	}
	moved, sealed, ok := cutText(value)
	if !ok {
		return g, false
	}
	var rec repo.Recording
	if err := rec.UnmarshalBinary(src); err != nil || !rec.Holds(files) {
		return g, false
	}
	p, err := model.Unseal(sealed)
	if err != nil {
		return g, false
	}
	return gatedPack{pack: *p, moved: string(moved)}, true
}

// cutText returns what stands behind its length at the beginning of bytes, and the rest.
func cutText(src []byte) (text, rest []byte, ok bool) {
	n, width := binary.Uvarint(src)
	if width <= 0 || n > uint64(len(src)-width) {
		return nil, nil, false
	}
	return src[width:][:n], src[width:][n:], true
}
