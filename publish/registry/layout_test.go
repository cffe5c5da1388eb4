package registry_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/oci"

	"github.com/contextosai/packgate/publish/registry"
)

// writerEnv makes the test binary a writer that is there to be killed: its value is
// the folder and the number of the first version.
const writerEnv = "PACKGATE_TEST_WRITER"

func TestMain(m *testing.M) {
	if folder, first, ok := strings.Cut(os.Getenv(writerEnv), "\n"); ok {
		fmt.Println(writeForever(folder, first))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever publishes version after version and says what it has done, step by
// step.
func writeForever(folder, major string) error {
	reg, err := registry.Open("oci:"+folder, registry.Options{})
	if err != nil {
		return err
	}
	repo, err := reg.Repository(packID)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		version := fmt.Sprintf("%s.0.%d", major, i)
		a, err := registry.NewArtifact(packID, version, []byte(strings.Repeat(version, 1000)))
		if err != nil {
			return err
		}
		ctx := context.Background()
		if err := repo.Push(ctx, a); err != nil {
			return err
		}
		fmt.Println("pushed", version)
		if _, err := repo.Attach(ctx, a, bundle("of "+version)); err != nil {
			return err
		}
		fmt.Println("attached", version)
		if err := repo.Tag(ctx, a.Digest, version); err != nil {
			return err
		}
		fmt.Println("done", version)
	}
}

// wantSound reads the layout as any tool would, and holds every file that is named
// against its digest.
func wantSound(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, ocispec.ImageIndexFile)); os.IsNotExist(err) {
		if _, err := os.Stat(filepath.Join(dir, ocispec.ImageLayoutFile)); !os.IsNotExist(err) {
			t.Fatalf("an %s without an %s", ocispec.ImageLayoutFile, ocispec.ImageIndexFile)
		}
		return
	}
	parse := func(name string, into any) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if base := filepath.Base(name); len(base) == 64 && digest.FromBytes(content).Encoded() != base {
			t.Fatalf("%s has other bytes than its name says", name)
		}
	}
	blob := func(d ocispec.Descriptor) string { return filepath.Join("blobs", "sha256", d.Digest.Encoded()) }
	var index ocispec.Index
	parse(ocispec.ImageIndexFile, &index)
	for _, d := range index.Manifests {
		var m ocispec.Manifest
		parse(blob(d), &m)
		for _, l := range append(m.Layers, m.Config) {
			content, err := os.ReadFile(filepath.Join(dir, blob(l)))
			if err != nil || digest.FromBytes(content) != l.Digest {
				t.Fatalf("%s names %s, which is not whole: %v", d.Digest, l.Digest, err)
			}
		}
	}
}

func TestLayoutSurvivesKilling(t *testing.T) {
	folder := t.TempDir()
	finished := map[string]bool{}
	for round := range 24 {
		writer := exec.Command(os.Args[0])
		writer.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d", writerEnv, folder, round))
		out, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := rand.N(8); left > 0 && lines.Scan(); left-- {
			note(t, lines.Text(), finished)
		}
		writer.Process.Kill()
		for lines.Scan() { // what it had said before
			note(t, lines.Text(), finished)
		}
		if err := writer.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		wantSound(t, filepath.Join(folder, packID))
	}
	if len(finished) == 0 {
		t.Fatal("no writer finished a version")
	}
	_, repo := open(t, "oci:"+folder, options())
	for version := range finished {
		wantPublished(t, repo, artifact(t, version, strings.Repeat(version, 1000)), bundle("of "+version))
	}
	a := artifact(t, "1000.0.0", "after all that")
	if err := put(t.Context(), repo, a, bundle("b")); err != nil {
		t.Fatal(err)
	}
	wantPublished(t, repo, a, bundle("b"))
}

// note takes down the versions that a writer called done. The last line of one that
// was killed may be cut.
func note(t *testing.T, line string, finished map[string]bool) {
	t.Helper()
	what, version, _ := strings.Cut(line, " ")
	switch {
	case what == "done" && strings.Count(version, ".") == 2:
		finished[version] = true
	case what != "pushed" && what != "attached" && what != "done":
		t.Fatalf("the writer says %q", line)
	}
}

func TestLayoutWritersAtOnce(t *testing.T) {
	folder := t.TempDir()
	const writers, versions = 4, 3
	var all sync.WaitGroup
	for w := range writers {
		_, repo := open(t, "oci:"+folder, options())
		all.Go(func() {
			for v := range versions {
				a := artifact(t, fmt.Sprintf("%d.%d.1", w, v), fmt.Sprint(w, v))
				if err := put(t.Context(), repo, a, bundle(a.Version)); err != nil {
					t.Error(err)
				}
				// All of them say something about one version, too.
				shared := artifact(t, "9.9.9", "shared")
				if err := put(t.Context(), repo, shared); err != nil {
					t.Error(err)
				}
				if _, err := repo.Attach(t.Context(), shared, bundle(a.Version)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	wantSound(t, filepath.Join(folder, packID))
	_, repo := open(t, "oci:"+folder, options())
	var said []registry.Attachment
	for w := range writers {
		for v := range versions {
			version := fmt.Sprintf("%d.%d.1", w, v)
			said = append(said, bundle(version))
			wantPublished(t, repo, artifact(t, version, fmt.Sprint(w, v)), bundle(version))
		}
	}
	wantPublished(t, repo, artifact(t, "9.9.9", "shared"), said...)
}

func TestOtherToolsReadTheLayout(t *testing.T) {
	folder := t.TempDir()
	_, repo := open(t, "oci:"+folder, options())
	a := artifact(t, "1.0.0", "{}")
	if err := put(t.Context(), repo, a, bundle("b"), report("{}")); err != nil {
		t.Fatal(err)
	}
	store, err := oci.New(filepath.Join(folder, packID))
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"1.0.0", registry.ContentTag("1.0.0", a.Digest)} {
		d, err := store.Resolve(t.Context(), tag)
		if err != nil || d.Digest.String() != a.Digest {
			t.Fatalf("%s is %v, %v", tag, d, err)
		}
		found, err := store.Predecessors(t.Context(), d)
		if err != nil || len(found) != 2 {
			t.Errorf("%d referrers, %v; want 2", len(found), err)
		}
	}
}

func TestLayoutDamaged(t *testing.T) {
	a := artifact(t, "1.0.0", `{"a":1}`)
	file := func(d string) string { return filepath.Join("blobs", "sha256", strings.TrimPrefix(d, "sha256:")) }
	tests := map[string]struct {
		name, content string
		kind          error
	}{
		"index cut":     {"index.json", `{"schemaVersion":2,"manif`, registry.ErrContent},
		"index foreign": {"index.json", `{}`, registry.ErrContent},
		"pack changed":  {file(a.ContentDigest), `{"a":2}`, registry.ErrContent},
		"pack cut":      {file(a.ContentDigest), ``, registry.ErrContent},
		"manifest":      {file(a.Digest), `{}`, registry.ErrContent},
		"a folder":      {"index.json", "\x00", registry.ErrStorage},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			_, repo := open(t, "oci:"+folder, options())
			if err := put(t.Context(), repo, a); err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(folder, packID, test.name)
			if err := os.Remove(target); err != nil {
				t.Fatal(err)
			}
			err := os.WriteFile(target, []byte(test.content), 0o600)
			if test.kind == registry.ErrStorage {
				os.Remove(target)
				err = os.Mkdir(target, 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = repo.Pull(t.Context(), a.Digest)
			wantKind(t, err, test.kind)
		})
	}
}

func TestLayoutCannotBeWritten(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, packID), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, repo := open(t, "oci:"+folder, options())
	err := repo.Push(t.Context(), artifact(t, "1.0.0", "{}"))
	if e := wantKind(t, err, registry.ErrStorage); e.Hint == "" {
		t.Errorf("no hint with %q", e.Error())
	}
}
