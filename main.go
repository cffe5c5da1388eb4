// Command packgate is the gate in front of every ContextOS Context Pack: it
// validates packs, compiles their golden cases, classifies what changed, and
// says whether a pull request may go in. It works the same on a laptop and as a
// GitHub Action.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/contextosai/packgate/internal/cli"
)

// version is set by the release build.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in order, the second one at once.
	context.AfterFunc(ctx, stop)
	code := cli.Main(ctx, cli.SystemEnv(version))
	stop()
	os.Exit(code)
}
