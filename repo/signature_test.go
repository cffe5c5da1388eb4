package repo

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/pack"
)

// What is wrong with the file of a signature is no fault of the pack: it is said of the
// signature.
func TestSignatures(t *testing.T) {
	const card = `{"pack": "ctxpack.a@1.0.0"}`
	tree := fstest.MapFS{
		"scorecards/pack.json":                              {Data: []byte(`{"pack_meta": {"pack_id": "ctxpack.a"}}`)},
		"scorecards/tool-surface.json":                      {Data: []byte(`{}`)},
		"scorecards/scorecards/folder.json":                 {Data: []byte(card)},
		"scorecards/scorecards/folder.json.sigstore.json/x": {},
		"scorecards/scorecards/large.json":                  {Data: []byte(card)},
		"scorecards/scorecards/large.json.sigstore.json":    {Data: []byte(strings.Repeat(" ", maxSignature+1))},
		"scorecards/scorecards/none.json":                   {Data: []byte(card)},
		"scorecards/scorecards/pointer.json":                {Data: []byte(card)},
		"scorecards/scorecards/pointer.json.sigstore.json":  {Data: []byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 3\n")},
		"scorecards/scorecards/signed.json":                 {Data: []byte(card)},
		"scorecards/scorecards/signed.json.sigstore.json":   {Data: []byte("no JSON")},
		"scorecards/scorecards/stray.json.sigstore.json":    {Data: []byte("{}")},
	}
	u, err := FilesOf(tree, "", "").Unit("scorecards/pack.json", DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"folder": "this is not a regular file", "large": "the signature has 1048577 bytes, more than the limit of 1048576",
		"none": "", "pointer": pack.PointerMessage, "signed": "",
	}
	if len(u.Scorecards) != len(want) || u.Surface == nil || len(u.Files) != len(want)+1 {
		t.Errorf("%d scorecards and %d files, surface %v", len(u.Scorecards), len(u.Files), u.Surface)
	}
	for _, c := range u.Scorecards {
		name := strings.TrimSuffix(strings.TrimPrefix(c.Name, "scorecards/scorecards/"), ".json")
		switch s := c.Signature; {
		case name == "none":
			if s != nil {
				t.Errorf("nobody signed %s: %+v", name, s)
			}
		case s == nil || s.Unread != want[name] || s.Name != c.Name+".sigstore.json":
			t.Errorf("%s: %+v", name, s)
		case name == "signed" && string(s.Source) != "no JSON":
			t.Errorf("the signature reads %q", s.Source)
		}
	}
}
