package export

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo/atomicfile"
)

// stopIn names, in the process that the test starts, the folder to write into.
const stopIn = "PACKGATE_TEST_STOP_EXPORT_IN"

// An export that is left in its middle because the process has to end leaves nothing behind. It is a
// process of its own, because nothing can be written after Stop.
func TestStoppedExport(t *testing.T) {
	if dir := os.Getenv(stopIn); dir != "" {
		w, begun := newWorld(t), make(chan struct{})
		w.source.Config = func(context.Context, *statement.Summary) ([]byte, error) {
			close(begun)
			select {} // a server that does not answer
		}
		go Write(t.Context(), filepath.Join(dir, "audit"), w.source)
		<-begun
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
			t.Fatalf("%v, %v: nothing is being written", list, err)
		}
		if err := atomicfile.Stop(); err != nil {
			t.Fatal(err)
		}
		os.Exit(0) // as the program does
	}
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoppedExport$")
	c.Env = append(os.Environ(), stopIn+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%v is left: %v", list, err)
	}
}
