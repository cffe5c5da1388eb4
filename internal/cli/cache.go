package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/gating/cache"
	"github.com/contextosai/packgate/repo"
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
		return &repo.Problem{Message: "--cache does not go with --no-cache", Hint: "leave out one of them"}
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
		r.Notice("the cache is not used: %v%s", err, hint)
	}
	if err == nil {
		r.Cache = opened
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
