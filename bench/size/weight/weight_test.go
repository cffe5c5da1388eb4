package weight

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPackageOf(t *testing.T) {
	for symbol, want := range map[string]string{
		"example.com/a/b.F": "example.com/a/b", "example.com/a/b.(*T).Method": "example.com/a/b", "example.com/a/b.F[go.shape.int]": "example.com/a/b",
		"example.com/a/b.F[example.com/c/d.T]": "example.com/a/b", "gopkg.in/yaml%2ev3.F": "gopkg.in/yaml.v3", "runtime.main": "runtime", "main.main": "main",
		"go:string.*": "", "type:.eq.example.com/a.T": "", "memeqbody": "", "example.com/a/b..inittask": "example.com/a/b",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%q is of %q, want %q", symbol, got, want)
		}
	}
}

func TestModuleOf(t *testing.T) {
	modules := []string{"example.com/program", "example.com/a", "example.com/a/b"}
	for path, want := range map[string]string{
		"main": "example.com/program", "example.com/program/c": "example.com/program", "example.com/a/b/c": "example.com/a/b", "example.com/ab": shared,
		"example.com/a": "example.com/a", "net/http": standard, "vendor/golang.org/x/net": standard, "": shared,
	} {
		if got := moduleOf(path, modules); got != want {
			t.Errorf("%q is of %q, want %q", path, got, want)
		}
	}
}

// What has no pattern does not become smaller, and what repeats does.
func TestMeasure(t *testing.T) {
	noise := make([]byte, 1<<16)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for name, c := range map[string]struct {
		data        []byte
		least, most int64
	}{"noise": {noise, 1 << 16, 1<<16 + 3000}, "zeros": {make([]byte, 1<<16), 50, 2000}} {
		s, err := Measure(c.data)
		if err != nil || s.Binary != 1<<16 || s.Packed < c.least || s.Packed > c.most || s.Layer < s.Packed || s.Layer > c.most {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestWithin(t *testing.T) {
	if err := (Sizes{Binary: MostBinary, Packed: MostPacked, Layer: MostImage - 1, Certificates: 1}).Within(); err != nil {
		t.Error(err)
	}
	err := Sizes{Binary: MostBinary + 1, Packed: MostPacked, Layer: MostImage, Certificates: 1}.Within()
	if err == nil || !strings.Contains(err.Error(), "the release binary has") || !strings.Contains(err.Error(), "the image, compressed with gzip has") || strings.Contains(err.Error(), "gzip -9") {
		t.Errorf("%v", err)
	}
}

// The parts of a small program: its sections are no larger than the file, and its
// modules no larger than its sections.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/small\n\ngo 1.26\n", "main.go": "package main\n\nimport \"example.com/small/part\"\n\nfunc main() { part.Say() }\n",
		"part/part.go": "package part\n\n//go:noinline\nfunc Say() { println(\"hello\") }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-w", "-o", "small", ".")
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	binary, err := os.ReadFile(filepath.Join(dir, "small"))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts(binary)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(parts []Part) (total int64) {
		for _, p := range parts {
			total += p.Code + p.Data
		}
		return total
	}
	modules, sections := sum(parts.Modules), sum(parts.Sections)
	if modules == 0 || modules > sections || sections > int64(len(binary)) {
		t.Errorf("modules have %d bytes, sections %d, the file %d", modules, sections, len(binary))
	}
	if parts.Modules[0].Name != standard {
		t.Errorf("the largest part is %q, want the %s", parts.Modules[0].Name, standard)
	}
	var b bytes.Buffer
	if err := Markdown(&b, Sizes{Binary: int64(len(binary))}, parts); err != nil || !strings.Contains(b.String(), "| "+standard+" |") || !strings.Contains(b.String(), "`.text`") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := Parts([]byte("no program")); err == nil {
		t.Error("what is no binary has parts")
	}
}
