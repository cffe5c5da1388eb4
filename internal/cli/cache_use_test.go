package cli

import (
	"crypto/elliptic"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/gittest"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// Where a cache is used, and where not.
func TestWhereCached(t *testing.T) {
	generated(t, 1)
	for name, row := range map[string]struct {
		with  func(*household)
		args  []string
		packs int
	}{
		"a laptop":            {func(*household) {}, nil, 1},
		"of a commit":         {func(h *household) { h.version = "v0.0.0-20260509120000-0123456789ab" }, nil, 1},
		"not wanted":          {func(*household) {}, []string{"--no-cache"}, 0},
		"with repairs":        {func(*household) {}, []string{"--fix"}, 0},
		"an action":           {func(h *household) { h.vars = map[string]string{"GITHUB_ACTIONS": "true"} }, nil, 0},
		"a job":               {func(h *household) { h.vars = map[string]string{"CI": "true"} }, nil, 0},
		"a job elsewhere":     {func(h *household) { h.vars = map[string]string{"CI": "1"} }, nil, 0},
		"no job":              {func(h *household) { h.vars = map[string]string{"CI": "false", "GITHUB_ACTIONS": "false"} }, nil, 1},
		"of somebody's own":   {func(h *household) { h.version = "devel" }, nil, 0},
		"of nobody":           {func(h *household) { h.version = "" }, nil, 0},
		"(devel)":             {func(h *household) { h.version = "(devel)" }, nil, 0},
		"with changes":        {func(h *household) { h.version = "v1.2.3+dirty" }, nil, 0},
		"with changes, later": {func(h *household) { h.version = "v0.0.0-20260509120000-0123456789ab+dirty" }, nil, 0},
		"of a branch":         {func(h *household) { h.version = "main" }, nil, 0},
	} {
		h := newHousehold(t)
		row.with(h)
		out := h.prints(t, append([]string{"check"}, row.args...)...)
		if n := len(kept(t, h.entries())); n != row.packs {
			t.Errorf("%s: %d packs are kept, wanted %d", name, n, row.packs)
		}
		if strings.Contains(out, "the cache") {
			t.Errorf("%s: nobody asked for a cache, and the run says\n%s", name, out)
		}
	}
}

// Who names the folder gets it, in a job too, or is told why not.
func TestNamedCache(t *testing.T) {
	generated(t, 1)
	for name, row := range map[string]struct {
		with func(t *testing.T, h *household, folder string)
		args []string
		want string // "" where it is used
	}{
		"a laptop": {func(*testing.T, *household, string) {}, nil, ""},
		"a job": {func(_ *testing.T, h *household, _ string) {
			h.vars = map[string]string{"CI": "true", "GITHUB_ACTIONS": "true"}
		}, nil, ""},
		"with repairs":      {func(*testing.T, *household, string) {}, []string{"--fix"}, "the cache is not used: --fix changes the packs"},
		"of somebody's own": {func(_ *testing.T, h *household, _ string) { h.version = "devel" }, nil, `the cache is not used: this build of packgate has no exact version, and its name is "devel"`},
		"open to all": {func(t *testing.T, _ *household, folder string) {
			if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777)); err != nil {
				t.Fatal(err)
			}
		}, nil, `which let other users in; take them away: chmod 0700`},
		"a file": {func(t *testing.T, _ *household, folder string) {
			if err := os.WriteFile(folder, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, "is not a folder; name a folder of your own, without a link"},
	} {
		if name == "open to all" && runtime.GOOS == "windows" {
			continue // which has no such permissions
		}
		h, folder := newHousehold(t), filepath.Join(t.TempDir(), "named")
		row.with(t, h, folder)
		out := h.prints(t, append([]string{"check", "--cache", folder}, row.args...)...)
		if !strings.Contains(out, row.want) || row.want == "" && strings.Contains(out, "the cache") {
			t.Errorf("%s: wanted %q in\n%s", name, row.want, out)
		}
		if !strings.HasSuffix(out, "exit status 0\n") {
			t.Errorf("%s: without a cache the packs do not pass:\n%s", name, out)
		}
		if info, err := os.Stat(folder); row.want == "" && (err != nil || !info.IsDir() || len(kept(t, folder)) != 1) {
			t.Errorf("%s: %v, %d packs are kept, wanted 1", name, err, len(kept(t, folder)))
		}
		if len(kept(t, h.entries())) > 0 {
			t.Errorf("%s: packs are kept in another folder", name)
		}
	}
}

// A user without folders has no cache, and nothing goes wrong.
func TestNoHome(t *testing.T) {
	generated(t, 1)
	h := newHousehold(t)
	want := h.prints(t, "check", "--no-cache")
	for _, has := range []func(e *Env){
		func(e *Env) { e.CacheDir, e.ConfigDir = nil, nil },
		func(e *Env) { e.ConfigDir = func() (string, error) { return "", errors.New("$HOME is not defined") } },
		func(e *Env) { e.CacheDir = func() (string, error) { return "", errors.New("$HOME is not defined") } },
	} {
		same(t, "without a home", h.printsIn(t, has, "check"), want)
	}
	out := h.printsIn(t, func(e *Env) { e.ConfigDir = func() (string, error) { return "", errors.New("$HOME is not defined") } }, "check", "--cache", "there")
	if !strings.Contains(out, "the cache is not used: $HOME is not defined") {
		t.Errorf("nobody is told why there is no cache:\n%s", out)
	}
}

// Every other command computes what it says: none has the flags, and none of those that
// gate packs asks where a cache would be.
func TestOthersNeverCache(t *testing.T) {
	e := env(nil)
	for _, c := range newRoot(&e).Commands() {
		for _, flag := range []string{"cache", "no-cache"} {
			if has := c.Flags().Lookup(flag) != nil; has != (c.Name() == "check") {
				t.Errorf("%s has --%s: %v", c.Name(), flag, has)
			}
		}
	}
	dir := gittest.Committed(t, func(string) {})
	t.Chdir(dir)
	private, _, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), nil)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "own.key")
	if err := os.WriteFile(key, private, 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHousehold(t)
	h.vars = map[string]string{"GITHUB_WORKSPACE": dir, "GITHUB_EVENT_NAME": "push", "GITHUB_REPOSITORY": "acme/packs", "GITHUB_SHA": strings.Repeat("0", 40)}
	asked := func(e *Env) {
		e.CacheDir = func() (string, error) { t.Errorf("%q asks for a cache", e.Args); return "", errors.New("none") }
		e.ConfigDir = e.CacheDir
	}
	registry := "oci:" + filepath.Join(t.TempDir(), "registry")
	for args, want := range map[string]string{
		"publish --dry-run --key " + key + " --registry " + registry: "ctxpack.support",
		"action":               "exit status",
		"golden":               "exit status 0",
		"audit":                "exit status",
		"bump packs/support":   "exit status",
		"plan --shards 2":      "exit status 0",
		"pin --help":           "exit status 0",
		"doctor":               "exit status",
		"compile":              "exit status",
		"check --no-cache":     "exit status 0",
		"check --fix --strict": "exit status",
	} {
		if out := h.printsIn(t, asked, strings.Fields(args)...); !strings.Contains(out, want) {
			t.Errorf("%s prints\n%s\nwanted %q", args, out, want)
		}
	}
}

// The registry is not asked by files: what it answers is not kept.
func TestLookedUpIsNotKept(t *testing.T) {
	dir := gittest.Committed(t, func(string) {})
	t.Chdir(dir)
	h := newHousehold(t)
	registry := "oci:" + filepath.Join(t.TempDir(), "registry")
	if out, n := h.writes(t, "--base", "HEAD", "--registry", registry); n != 0 {
		t.Errorf("%d packs are kept:\n%s", n, out)
	}
	if out, n := h.writes(t, "--base", "HEAD"); n != 2 {
		t.Errorf("without a registry %d packs are kept, wanted 2:\n%s", n, out)
	}
}
