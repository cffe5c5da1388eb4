package registry_test

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
)

var someDigest = "sha256:" + strings.Repeat("0a", 32)

func TestParseRef(t *testing.T) {
	const here = "ghcr.io/acme/packs"
	tests := []struct {
		in   string
		want registry.Ref
		out  string
	}{
		{"ctxpack.support@1.2.0", registry.Ref{Registry: here, Pack: packID, Version: "1.2.0"}, here + "/ctxpack.support:1.2.0"},
		{"ctxpack.support:1.2.0", registry.Ref{Registry: here, Pack: packID, Version: "1.2.0"}, here + "/ctxpack.support:1.2.0"},
		{"ctxpack.support@env-prod", registry.Ref{Registry: here, Pack: packID, Tag: "env-prod"}, here + "/ctxpack.support:env-prod"},
		{"ctxpack.support@" + someDigest, registry.Ref{Registry: here, Pack: packID, Digest: someDigest}, here + "/ctxpack.support@" + someDigest},
		{"ctxpack.support:1.2.0-0a0a0a0a0a0a", registry.Ref{Registry: here, Pack: packID, Version: "1.2.0", Tag: "1.2.0-0a0a0a0a0a0a"},
			here + "/ctxpack.support:1.2.0-0a0a0a0a0a0a"},
		{"localhost:5000/ctxpack.support:1.2.0", registry.Ref{Registry: "localhost:5000", Pack: packID, Version: "1.2.0"}, "localhost:5000/ctxpack.support:1.2.0"},
		{"ghcr.io/a/ctxpack.support:1.2.0@" + someDigest, registry.Ref{Registry: "ghcr.io/a", Pack: packID, Version: "1.2.0", Digest: someDigest},
			"ghcr.io/a/ctxpack.support:1.2.0@" + someDigest},
		{"oci:./registry/ctxpack.support:1.2.0", registry.Ref{Registry: "oci:./registry", Pack: packID, Version: "1.2.0"}, "oci:./registry/ctxpack.support:1.2.0"},
		{"oci:/srv/reg@home/ctxpack.support@env-a", registry.Ref{Registry: "oci:/srv/reg@home", Pack: packID, Tag: "env-a"}, "oci:/srv/reg@home/ctxpack.support:env-a"},
	}
	for _, test := range tests {
		got, err := registry.ParseRef(test.in, here)
		if err != nil || got != test.want || got.String() != test.out {
			t.Errorf("ParseRef(%q) = %+v (%s), %v\nwant %+v (%s)", test.in, got, got, err, test.want, test.out)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "empty",
		"ctxpack.support":                        "names no version",
		"ghcr.io/acme/ctxpack.support":           "names no version",
		"oci:ctxpack.support:1.0.0":              "names no folder",
		"oci:/ctxpack.support:1.0.0":             "names no folder",
		"CtxPack@1.0.0":                          `upper-case 'C'`,
		"ctx~pack@1.0.0":                         `'~' is not allowed`,
		"ctx..pack@1.0.0":                        "between them",
		"ctxpack@1.0":                            "neither a version nor a pin",
		"ctxpack@v1.0.0":                         "neither a version nor a pin",
		"ctxpack@01.0.0":                         "neither a version nor a pin",
		"ctxpack@latest":                         "neither a version nor a pin",
		"ctxpack@env-":                           "neither a version nor a pin",
		"ctxpack@sha256:12":                      "is not a digest",
		"ctxpack@sha512:" + someDigest[7:]:       "is not a digest",
		"ctxpack:1.0.0@1.0.0":                    "after the tag",
		"https://ghcr.io/acme/ctxpack:1.0.0":     "scheme",
		"acme/ctxpack:1.0.0":                     "is not a host",
		"ghcr.io/Acme/ctxpack:1.0.0":             "upper-case letters",
		"ghcr.io/acme:1/ctxpack:1.0.0":           "a tag",
		"user@ghcr.io/acme/ctxpack:1.0.0":        "a user",
		"ghcr.io//ctxpack:1.0.0":                 "slash",
		"ghcr.io/a b/ctxpack:1.0.0":              "not a name of a repository",
		"ctxpack@" + strings.ToUpper(someDigest): "is not a digest",
	} {
		_, err := registry.ParseRef(in, "ghcr.io/acme/packs")
		if e := wantKind(t, err, registry.ErrName); !strings.Contains(e.Error(), want) {
			t.Errorf("ParseRef(%q) says %q, want something of %q", in, e.Error(), want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, in := range []string{"", "oci:", "oci:///", "oci:a\x00b", "ghcr.io/acme/packs:1", "ghcr.io/acme/packs/", "http://ghcr.io", "GHCR.io/a",
		"ghcr.io:port/a", "ghcr.io/" + strings.Repeat("a", 300), "packs"} {
		_, err := registry.Open(in, registry.Options{})
		wantKind(t, err, registry.ErrName)
	}
}

func TestTags(t *testing.T) {
	if got := registry.ContentTag("1.2.0", someDigest); got != "1.2.0-0a0a0a0a0a0a" {
		t.Errorf("content tag is %q", got)
	}
	if got, err := registry.PinTag("prod-eu"); err != nil || got != "env-prod-eu" {
		t.Errorf("pin tag is %q, %v", got, err)
	}
	for _, environment := range []string{"", "a b", "prod/eu", "ü", strings.Repeat("x", 125)} {
		_, err := registry.PinTag(environment)
		wantKind(t, err, registry.ErrName)
	}
}

// FuzzParseRef holds that a reference which is read is written out as one that is read
// to the same, wherever the default registry is.
func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"ctxpack.support@1.2.0", "ctxpack.support@env-prod", "a@" + someDigest, "ghcr.io/a/b:1.2.0@" + someDigest,
		"oci:./registry/a:1.2.0", "oci://x//a:0.0.0", "localhost/a:1.2.0-0a0a0a0a0a0a", "[::1]:5000/a:1.0.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := registry.ParseRef(s, "oci:./registry")
		if err != nil {
			wantKind(t, err, registry.ErrName)
			return
		}
		again, err := registry.ParseRef(ref.String(), "ghcr.io/other")
		if err != nil || again != ref {
			t.Fatalf("%q is read as %+v, written as %q and read as %+v, %v", s, ref, ref, again, err)
		}
		if _, err := registry.Open(ref.Registry, registry.Options{}); err != nil {
			t.Fatalf("%q is in %q, which cannot be opened: %v", s, ref.Registry, err)
		}
	})
}
