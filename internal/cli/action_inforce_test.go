package cli

import (
	"maps"
	"slices"
	"testing"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// No input of the action is without an answer to how it is kept from loosening.
func TestEveryInputIsBound(t *testing.T) {
	if got := slices.Sorted(maps.Keys(bounds)); !slices.Equal(got, github.ActionInputs()) {
		t.Errorf("bounds are for %q\nand the inputs are %q", got, github.ActionInputs())
	}
}

func TestOtherThanTheConfig(t *testing.T) {
	config, err := repo.ParseConfig(repo.ConfigName, []byte("publish: {registry: ghcr.io/acme/packs, trusted_root: root.json}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given, want string
		config      *repo.Config
		refused     bool
	}{
		{"", "", config, false},
		{"ghcr.io/acme/packs", "ghcr.io/acme/packs", config, false},
		{"ghcr.io/mallory/empty", "", config, true},
		{"ghcr.io/acme/packs", "ghcr.io/acme/packs", repo.DefaultConfig(), false},
	} {
		in := inputs{failOn: gating.FailOnError}
		in.signing.registry = c.given
		if err := bounds["registry"](&in, c.config); (err != nil) != c.refused || in.signing.registry != c.want {
			t.Errorf("%q: %v, and the registry is %q", c.given, err, in.signing.registry)
		}
	}
}

// The input fail-on can only make more fail than the config does.
func TestFailOnOverTheConfig(t *testing.T) {
	for _, c := range []struct {
		given, config, want string
		refused             bool
	}{
		{"", "", gating.FailOnError, false}, {"", gating.FailOnNew, gating.FailOnNew, false},
		{gating.FailOnNew, "", gating.FailOnError, true}, {gating.FailOnNever, gating.FailOnNew, gating.FailOnNew, true},
		{gating.FailOnError, gating.FailOnNew, gating.FailOnError, false}, {gating.FailOnNewWarning, gating.FailOnNew, gating.FailOnNewWarning, false},
		{gating.FailOnError, gating.FailOnWarning, gating.FailOnWarning, true}, {gating.FailOnWarning, gating.FailOnNew, gating.FailOnWarning, false},
	} {
		config := repo.DefaultConfig()
		config.FailOn = pack.Text{Value: c.config, OK: c.config != ""}
		in := inputs{failOn: c.given}
		if err := bounds["fail-on"](&in, config); (err != nil) != c.refused || in.failOn != c.want {
			t.Errorf("%q over %q: %v, and what fails is %q", c.given, c.config, err, in.failOn)
		}
	}
}
