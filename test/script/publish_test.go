package script_test

import (
	"context"
	"crypto/elliptic"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// Transcripts of publishing sign with keys that they make, into folders that are
// registries, and do to those folders what nobody should.

// keygen writes a new private key and its public key, encrypted where there is a
// password: keygen NAME [PASSWORD]
func keygen(ts *testscript.TestScript, _ bool, args []string) {
	var password cryptoutils.PassFunc
	if len(args) > 1 {
		password = cryptoutils.StaticPasswordFunc([]byte(args[1]))
	}
	private, public, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), password)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), private, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), public, 0o600))
}

// sigstore writes the trusted root of a Sigstore that has signed nothing:
// sigstore FILE
func sigstore(ts *testscript.TestScript, _ bool, args []string) {
	v, err := ca.NewVirtualSigstore()
	ts.Check(err)
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, v.FulcioCertificateAuthorities(), v.CTLogs(), v.TimestampingAuthorities(), v.RekorLogs())
	ts.Check(err)
	src, err := trusted.MarshalJSON()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), src, 0o644))
}

// oci looks into the folder of a pack in a registry that is a folder, and changes
// what is there:
//
//	oci digest VAR LAYOUT TAG       sets a variable to what a tag names
//	oci bundle FILE LAYOUT DIGEST   writes the bundle that says a version passed
//	oci push VAR LAYOUT VERSION FILE   puts a version there that nobody signed
//	oci tag LAYOUT TAG DIGEST       moves a tag
//	oci untag LAYOUT TAG            takes a tag away
//	oci spoil LAYOUT DIGEST         changes one byte of a blob
//	oci pack VAR LAYOUT DIGEST      sets a variable to the digest of a version's pack file
func oci(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	switch command, args := args[0], args[1:]; command {
	case "digest":
		digest, err := repository(ts, args[1]).Resolve(ctx, args[2])
		ts.Check(err)
		ts.Setenv(args[0], digest)
	case "pack":
		a, err := repository(ts, args[1]).Pull(ctx, args[2])
		ts.Check(err)
		ts.Setenv(args[0], a.ContentDigest)
	case "bundle":
		found, err := repository(ts, args[1]).Attachments(ctx, args[2])
		ts.Check(err)
		i := slices.IndexFunc(found, func(a registry.Attachment) bool { return a.PredicateType == statement.TypeSummary })
		if i < 0 {
			ts.Fatalf("%s has no statement of the gates", args[2])
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), found[i].Content, 0o644))
	case "push":
		a, err := registry.NewArtifact(filepath.Base(args[1]), args[2], []byte(ts.ReadFile(args[3])))
		ts.Check(err)
		repo := repository(ts, args[1])
		ts.Check(repo.Push(ctx, a))
		ts.Check(repo.Tag(ctx, a.Digest, registry.ContentTag(args[2], a.Digest)))
		ts.Setenv(args[0], a.Digest)
	case "tag":
		ts.Check(repository(ts, args[0]).Tag(ctx, args[2], args[1]))
	case "untag":
		untag(ts, filepath.Join(ts.MkAbs(args[0]), "index.json"), args[1])
	case "spoil":
		spoil(ts, filepath.Join(ts.MkAbs(args[0]), "blobs", "sha256", strings.TrimPrefix(args[1], "sha256:")))
	default:
		ts.Fatalf("oci has no command %q", command)
	}
}

// repository opens the folder of one pack.
func repository(ts *testscript.TestScript, layout string) *registry.Repository {
	folder := ts.MkAbs(layout)
	reg, err := registry.Open("oci:"+filepath.Dir(folder), registry.Options{})
	ts.Check(err)
	repo, err := reg.Repository(filepath.Base(folder))
	ts.Check(err)
	return repo
}

// untag takes a tag out of the index of a layout; what it named stays listed.
func untag(ts *testscript.TestScript, file, tag string) {
	var index map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &index))
	const name = "org.opencontainers.image.ref.name"
	found := 0
	for _, entry := range index["manifests"].([]any) {
		notes, _ := entry.(map[string]any)["annotations"].(map[string]any)
		if notes[name] == tag {
			delete(notes, name)
			found++
		}
	}
	if found != 1 {
		ts.Fatalf("%s has the tag %q %d times", file, tag, found)
	}
	src, err := json.Marshal(index)
	ts.Check(err)
	ts.Check(os.WriteFile(file, src, 0o644))
}

// spoil changes the byte in the middle of a file, whose length stays as it is.
func spoil(ts *testscript.TestScript, file string) {
	src, err := os.ReadFile(file)
	ts.Check(err)
	src[len(src)/2] ^= 1
	ts.Check(os.Chmod(file, 0o644))
	ts.Check(os.WriteFile(file, src, 0o644))
}

// shownDigest matches a digest, in full or not, with the gap behind it in a table.
var shownDigest = regexp.MustCompile(`sha256:[0-9a-f]{12,64}\b(?:  )?`)

// masks are what differs from one run of a transcript to the next, or with every
// change of the example repository, and what stands for it.
var masks = []struct {
	shown *regexp.Regexp
	as    string
}{
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\b`), "YYYY-MM-DD HH:MM:SS"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`), "YYYY-MM-DD"},      // as wide, for tables
	{regexp.MustCompile(`packgate_[A-Z2-7]{26}`), "packgate_TOKEN"}, // resumes the runner's commands
	{regexp.MustCompile(`(?m)^::add-mask::.+$`), "::add-mask::TOKEN"},
	{regexp.MustCompile(`/blob/[0-9a-f]{40}/`), "/blob/COMMIT/"},
	{regexp.MustCompile("(head|base) `[0-9a-f]{7}`"), "$1 `COMMIT`"},
	{regexp.MustCompile("\u00a0"), " "}, // what the protobuf library prints differs with the build
	{regexp.MustCompile(`(?m) +$`), ""},
}

// digests is the name under which a transcript keeps the digests that it showed.
type digests struct{}

// seenDigests are the digests of one transcript, by their beginnings.
type seenDigests struct{ starts []string }

// said writes what the last command printed, first Stdout and then Stderr, or what a
// file says, with the digests numbered in the order in which the transcript showed
// them, and without what no two runs have in common: said FILE [FROM]
func said(ts *testscript.TestScript, _ bool, args []string) {
	seen := ts.Value(digests{}).(*seenDigests)
	text := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if len(args) > 1 {
		text = ts.ReadFile(args[1])
	}
	text = shownDigest.ReplaceAllStringFunc(strings.ReplaceAll(text, ts.Getenv("WORK"), "WORK"), seen.number)
	for _, m := range masks {
		text = m.shown.ReplaceAllString(text, m.as)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// number returns the stand-in for a digest: the same one for the same digest, be it
// in full or not.
func (s *seenDigests) number(digest string) string {
	start := digest[:len("sha256:")+12]
	i := slices.Index(s.starts, start)
	if i < 0 {
		i = len(s.starts)
		s.starts = append(s.starts, start)
	}
	shown := fmt.Sprintf("sha256:#%d", i+1)
	if strings.HasSuffix(digest, " ") {
		return fmt.Sprintf("%-*s", len(digest), shown) // a column of a table stays as wide
	}
	return shown
}

func TestSaidNumbersDigests(t *testing.T) {
	s := &seenDigests{}
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	for i, c := range []struct{ digest, want string }{{a, "sha256:#1"}, {b, "sha256:#2"}, {a[:19], "sha256:#1"}, {a[:19] + "  ", "sha256:#1            "}} {
		if got := s.number(c.digest); got != c.want {
			t.Errorf("digest %d is shown as %s, want %s", i, got, c.want)
		}
	}
}
