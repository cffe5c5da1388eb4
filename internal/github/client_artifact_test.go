package github

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

// entry is a file of an archive.
type entry struct {
	name, content string
	mode          fs.FileMode
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArtifact(t *testing.T) {
	report := entry{name: "report.json", content: `{"a":1}`}
	whole := archive(t, report)
	for name, c := range map[string]struct {
		artifacts []githubtest.Artifact
		want      error
	}{
		"one":            {[]githubtest.Artifact{{Archive: whole}}, nil},
		"none":           {nil, ErrNotFound},
		"another name":   {[]githubtest.Artifact{{Archive: whole, Name: "other"}}, ErrNotFound},
		"another run":    {[]githubtest.Artifact{{Archive: whole, Run: 6}}, ErrNotFound},
		"expired":        {[]githubtest.Artifact{{Archive: whole, Expired: true}}, ErrNotFound},
		"two":            {[]githubtest.Artifact{{Archive: whole}, {Archive: whole}}, ErrArtifact},
		"large":          {[]githubtest.Artifact{{Archive: whole, Size: 1 << 40}}, ErrArtifact},
		"no archive":     {[]githubtest.Artifact{{Archive: []byte("text")}}, ErrArtifact},
		"empty archive":  {[]githubtest.Artifact{{Archive: archive(t)}}, ErrArtifact},
		"second file":    {[]githubtest.Artifact{{Archive: archive(t, report, entry{name: "x"})}}, ErrArtifact},
		"file twice":     {[]githubtest.Artifact{{Archive: archive(t, report, report)}}, ErrArtifact},
		"other file":     {[]githubtest.Artifact{{Archive: archive(t, entry{name: "../report.json"})}}, ErrArtifact},
		"symbolic link":  {[]githubtest.Artifact{{Archive: archive(t, entry{"report.json", "/etc/passwd", fs.ModeSymlink})}}, ErrArtifact},
		"device":         {[]githubtest.Artifact{{Archive: archive(t, entry{"report.json", "", fs.ModeDevice})}}, ErrArtifact},
		"unpacks to 1 M": {[]githubtest.Artifact{{Archive: archive(t, entry{name: "report.json", content: strings.Repeat("0", 1<<20)})}}, ErrArtifact},
		"cut":            {[]githubtest.Artifact{{Archive: whole[:len(whole)-9]}}, ErrArtifact},
		"damaged":        {[]githubtest.Artifact{{Archive: damaged(whole)}}, ErrArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			g := githubtest.New(t)
			client, _ := newClient(t, g)
			for i, a := range c.artifacts {
				a.ID = int64(i + 1)
				if a.Run == 0 {
					a.Run = 5
				}
				if a.Name == "" {
					a.Name = "packgate report"
				}
				g.Artifacts = append(g.Artifacts, a)
			}
			got, err := client.Artifact(t.Context(), 5, "packgate report", []ArtifactFile{{Name: "report.json", Limit: 4096}})
			if !errors.Is(err, c.want) || err == nil && string(got) != report.content {
				t.Errorf("%q, %v, wanted %v", got, err, c.want)
			}
			if g.Leaked {
				t.Error("the token was sent to the store of the artifacts")
			}
		})
	}
}

// damaged returns an archive of which the content is not what its sum says.
func damaged(archive []byte) []byte {
	out := bytes.Clone(archive)
	at := bytes.Index(out, []byte("report.json")) + len("report.json") + 2
	out[at] ^= 0x55
	return out
}

// Whatever an archive holds, what comes out of it is one file of bounded size.
func FuzzOnlyFile(f *testing.F) {
	f.Add(archive(f, entry{name: "report.json", content: "{}"}))
	f.Add(archive(f, entry{name: "report.json", content: strings.Repeat("0", 5000)}))
	f.Add(archive(f, entry{"report.json", "x", fs.ModeSymlink}))
	f.Add(archive(f, entry{name: "report.json"}, entry{name: "report.json"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := onlyFile(data, []ArtifactFile{{Name: "report.json", Limit: 4096}})
		if err != nil && !errors.Is(err, ErrArtifact) {
			t.Errorf("an error without its kind: %v", err)
		}
		if len(got) > 4096 || err != nil && got != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}
