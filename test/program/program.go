// Package program lets tests run packgate as a process without building it: a test
// binary whose TestMain calls Main is the program under the name packgate.
package program

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/contextosai/packgate/internal/cli"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests of a package of this folder in the root of the repository, with
// three programs on $PATH: packgate, release, which is packgate built as version 1.2.3, and killed,
// which is packgate that is killed before the change of a file whose number $KILL_AT has.
// It does not return.
func Main(m *testing.M) {
	testscript.Main(inRoot{m}, map[string]func(){
		"packgate": func() { os.Exit(cli.Run("")) },
		"release":  func() { os.Exit(cli.Run("v1.2.3")) },
		"killed":   killed,
	})
}

// killed is packgate that does not come to its end.
func killed() {
	at, err := strconv.Atoi(os.Getenv("KILL_AT"))
	if err != nil {
		panic(err)
	}
	atomicfile.Watch(func() {
		if at--; at == 0 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			panic(fmt.Sprint("killed, and goes on: ", err))
		}
	})
	os.Exit(cli.Run(""))
}

// inRoot runs tests in the root of the repository.
type inRoot struct{ m *testing.M }

// Run implements testscript.TestingM. The programs do not come here: they stay in the
// folder in which they were started.
func (r inRoot) Run() int {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	if _, err := os.Stat("go.mod"); err != nil {
		panic(err)
	}
	return r.m.Run()
}

// Copy makes the program a file of a folder that every user may run, and returns its
// path.
func Copy(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() // only read from
	name := filepath.Join(dir, "packgate")
	to, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// Link makes the program a file of a folder, a link to the test binary, and returns its
// path.
func Link(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "packgate")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}
