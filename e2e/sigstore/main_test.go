package sigstore

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// services is the Sigstore that the tests sign with.
var services *stack.Stack

// builds builds each program when it is first needed.
var builds map[stack.Tool]func() (string, error)

// program returns the path of a program.
func program(t *testing.T, tool stack.Tool) string {
	t.Helper()
	path, err := builds[tool]()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	code, err := withServices(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withServices(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "packgate-sigstore-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	builds = map[stack.Tool]func() (string, error){}
	for _, tool := range []stack.Tool{stack.Packgate, stack.Clock, stack.Rekor, stack.ORAS, stack.Crane, stack.Cosign} {
		builds[tool] = sync.OnceValues(func() (string, error) { return tool.Build(os.Stderr, dir) })
	}
	rekor, err := builds[stack.Rekor]()
	if err != nil {
		return 0, err
	}
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o755); err != nil {
		return 0, err
	}
	if services, err = stack.Start(state, rekor); err != nil {
		return 0, err
	}
	defer services.Close()
	return m.Run(), nil
}
