package repo

import (
	"strings"
	"testing"
	"time"
)

const publishing = "publish:\n  registry: ghcr.io/acme/packs\n  identity: {workflow: acme/packs/.github/workflows/publish.yml@refs/heads/main}\n  freshness:\n    workflow: "

const freshFile = "acme/packs/.github/workflows/freshness.yml@refs/heads/main\n"

func TestFreshness(t *testing.T) {
	for more, want := range map[string]FreshnessTimes{
		"": {6 * time.Hour, 24 * time.Hour, 168 * time.Hour, 0},
		"    refresh: 1h\n    max_age: 90m\n    expiry: 2d\n    on_stale: keep 72h\n": {time.Hour, 90 * time.Minute, 48 * time.Hour, 72 * time.Hour},
		"    on_stale: fail\n": {6 * time.Hour, 24 * time.Hour, 168 * time.Hour, 0},
	} {
		c, err := ParseConfig("c", []byte("version: 1\n"+publishing+freshFile+more))
		if err != nil {
			t.Errorf("%q: %v", more, err)
			continue
		}
		if got, err := c.Publish.Freshness.Times(); err != nil || got != want {
			t.Errorf("%q: %+v, %v", more, got, err)
		}
		if got := c.Publish.Freshness.WorkflowURI(); got != "https://github.com/"+strings.TrimSpace(freshFile) {
			t.Errorf("workflow %q", got)
		}
	}
}

func TestFreshnessRefuses(t *testing.T) {
	for src, want := range map[string]string{
		publishing + freshFile + "    refresh: 1m\n":                               "refresh is 1m0s",
		publishing + freshFile + "    refresh: 24h\n":                              "max_age is 24h0m0s, and refresh is 24h0m0s",
		publishing + freshFile + "    max_age: 7d\n":                               "expiry is 168h0m0s, and max_age is 168h0m0s",
		publishing + freshFile + "    expiry: 91d\n":                               "expiry is 2184h0m0s",
		publishing + freshFile + "    expiry: soon\n":                              `expiry: "soon" is no duration`,
		publishing + freshFile + "    on_stale: keep\n":                            `on_stale is "keep"`,
		publishing + freshFile + "    on_stale: keep 0h\n":                         "on_stale keeps what runs for 0s",
		publishing + freshFile + "    on_stale: keep 100d\n":                       "on_stale keeps what runs for 2400h0m0s",
		publishing + freshFile + "    on_stale: keep it\n":                         `on_stale: "it" is no duration`,
		publishing + "acme/packs\n":                                                "names no file of .github/workflows",
		publishing + strings.Replace(freshFile, "freshness", "publish", 1):         "publishes: what a clock starts must not be able to",
		publishing + "acme/packs/.github/workflows/publish.yml@refs/heads/other\n": "publishes: what a clock starts must not be able to",
		publishing + "\n    refresh: 6h\n":                                         "workflow",
		"publish:\n  freshness:\n    workflow: " + freshFile:                       "publish names none",
	} {
		_, err := ParseConfig("c", []byte("version: 1\n"+src))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", src, err, want)
		}
	}
}
