package stack

import (
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Tool is a program that Go builds of a module at a pinned version.
type Tool string

// The programs of the module in tools/, and packgate from this tree.
const (
	Rekor    Tool = "github.com/sigstore/rekor-tiles/v2/cmd/rekor-server/posix"
	Crane    Tool = "github.com/google/go-containerregistry/cmd/crane"
	ORAS     Tool = "oras.land/oras/cmd/oras"
	Cosign   Tool = "github.com/sigstore/cosign/v3/cmd/cosign"
	Packgate Tool = "github.com/contextosai/packgate"
	Clock    Tool = "github.com/contextosai/packgate/test/clock" // Packgate at another time
)

// slow says how long the first build takes where it takes long: later ones find what
// they need in Go's build cache.
var slow = map[Tool]string{
	Rekor: "about a minute", Crane: "about half a minute", ORAS: "about a minute", Cosign: "about six minutes",
}

// Build builds the program into dir and returns its path. What it does it says on w.
func (t Tool) Build(w io.Writer, dir string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	from, origin := filepath.Join(root, "tools"), "; its modules come from the Go module proxy"
	if t == Packgate || t == Clock {
		from, origin = filepath.Join(root, "..", ".."), ""
	}
	if long, ok := slow[t]; ok {
		fmt.Fprintf(w, "building %s, %s the first time\n", t.name(), long)
	}
	program := filepath.Join(dir, t.name())
	build := exec.Command("go", "build", "-C", from, "-o", program, string(t))
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w%s\n%s", t.name(), err, origin, said)
	}
	return program, nil
}

// name is what the program is called.
func (t Tool) name() string {
	if t == Rekor {
		return "rekor-server"
	}
	return path.Base(string(t))
}

// moduleRoot returns the folder of the module that the tests are in.
func moduleRoot() (string, error) {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(file))), nil
}
