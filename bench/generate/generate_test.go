package generate_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/cli"
	"github.com/contextosai/packgate/pack"
)

// check runs packgate check and returns its output; it fails the test unless it
// passes.
func check(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := cli.Env{
		Args: append([]string{"check"}, args...), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, Now: time.Now, Version: "test",
	}
	if code := cli.Main(context.Background(), env); code != gating.ExitPass {
		t.Fatalf("packgate %v: exit status %d\n%s%s", env.Args, code, stdout.String(), stderr.String())
	}
	return stdout.String()
}

func TestPacksPassTheGates(t *testing.T) {
	const packs = 10
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			dir := t.TempDir()
			if err := generate.Write(dir, seed, packs); err != nil {
				t.Fatal(err)
			}
			out := check(t, dir, "--format", "json")
			if n := strings.Count(out, `"snapshot":"equal"`); n != packs*generate.CasesPerPack {
				t.Errorf("%d golden cases have the snapshot that they compile to, wanted %d", n, packs*generate.CasesPerPack)
			}
		})
	}
}

// tree returns the files below a folder by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestASeedAlwaysGivesTheSameBytes(t *testing.T) {
	small, large, other := t.TempDir(), t.TempDir(), t.TempDir()
	for _, w := range []struct {
		dir   string
		seed  uint64
		packs int
	}{{small, 7, 5}, {large, 7, 9}, {other, 8, 5}} {
		if err := generate.Write(w.dir, w.seed, w.packs); err != nil {
			t.Fatal(err)
		}
	}
	all, same := tree(t, large), 0
	for name, src := range tree(t, small) {
		if all[name] != src {
			t.Errorf("%s is not the same in a larger repository", name)
		}
		same++
	}
	for name, src := range tree(t, other) {
		if strings.HasPrefix(name, "packs/") && all[name] == src && !strings.HasSuffix(name, "tool-surface.json") {
			t.Errorf("%s is the same with another seed", name)
		}
	}
	if want := 2 + 5*(3+2*generate.CasesPerPack); same != want {
		t.Errorf("a repository of 5 packs has %d files, wanted %d", same, want)
	}
}

func TestPackSizesAreSpread(t *testing.T) {
	dir := t.TempDir()
	const packs = 60
	if err := generate.Write(dir, 1, packs); err != nil {
		t.Fatal(err)
	}
	small, large := 0, 0
	for i := range packs {
		info, err := os.Stat(filepath.Join(dir, generate.PackFile(1, i)))
		if err != nil {
			t.Fatal(err)
		}
		switch size := info.Size(); {
		case size < 4<<10 || size > 72<<10:
			t.Errorf("%s has %d bytes, wanted about 4 to 64 KiB", generate.PackFile(1, i), size)
		case size < 12<<10:
			small++
		case size > 32<<10:
			large++
		}
	}
	if small < packs/10 || large < packs/20 || large > packs/2 {
		t.Errorf("of %d packs %d are below 12 KiB and %d above 32 KiB, wanted some of both", packs, small, large)
	}
}

func TestRevisedPacksPassAgainstTheirBase(t *testing.T) {
	dir := t.TempDir()
	const packs, nth, overlays = 12, 6, 4
	if err := generate.Write(dir, 3, packs); err != nil {
		t.Fatal(err)
	}
	if err := generate.Overlays(dir, 3, packs, overlays); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "packs"},
	} {
		git := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	n, err := generate.Revise(dir, 3, packs, nth)
	if err != nil || n != packs/nth {
		t.Fatalf("Revise returned %d, %v; wanted %d packs", n, err, packs/nth)
	}
	out := check(t, dir, "--base", "HEAD", "--format", "json")
	if n := strings.Count(out, `"declared":"minor"`); n != packs/nth {
		t.Errorf("%d packs declare a minor version, wanted %d\n%.2000s", n, packs/nth, out)
	}
	if n := strings.Count(out, `"environment":"staging"`); n < packs/overlays {
		t.Errorf("%d overlays are for staging, wanted %d\n%.2000s", n, packs/overlays, out)
	}
}

func TestEveryZerothPackIsRefused(t *testing.T) {
	if _, err := generate.Revise(t.TempDir(), 1, 3, 0); err == nil {
		t.Error("every 0th pack was revised, wanted an error")
	}
	if err := generate.Overlays(t.TempDir(), 1, 3, 0); err == nil {
		t.Error("every 0th pack has an overlay, wanted an error")
	}
}

// A large pack has about the size that was asked for, more intents than any other, and is the
// same each time.
func TestLarge(t *testing.T) {
	const size = 150 << 10
	one, err := generate.Large(3, size)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := generate.Large(3, size); err != nil || !bytes.Equal(one, other) {
		t.Errorf("another run gives other bytes, %v", err)
	}
	doc, faults := pack.Read("pack.json", one, pack.DefaultLimits())
	if p := pack.New(doc); len(faults) > 0 || p == nil || len(p.Faults) > 0 || len(p.PolicyLayer.PolicyBundles.Items) < 7 {
		t.Errorf("it is no such pack: %v", faults)
	}
	if len(one) < size || len(one) > size+size/4 {
		t.Errorf("it has %d bytes", len(one))
	}
}
