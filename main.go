// Command packgate is the gate in front of every ContextOS Context Pack: it
// validates packs, compiles their golden cases, classifies what changed, and
// says whether a pull request may go in. It works the same on a laptop and as a
// GitHub Action.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/contextosai/packgate/internal/cli"
)

// version is set by the release build.
var version string

// collectAt is how much the heap grows, in percent, before garbage is collected. A check
// of 300 packs takes 9.3 s of processor time and 76 MB with the 100 of the language,
// 8.3 s and 100 MB with 200, and 7.5 s and 167 MB with 400, which would be too much for
// the largest repositories. The variable GOGC wins, and there is no limit of memory:
// what a machine has to spare the variable GOMEMLIMIT says.
const collectAt = 200

func main() {
	if err := prepare(); err != nil {
		os.Exit(cli.Fail(os.Stderr, err))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in order, the second one at once.
	context.AfterFunc(ctx, stop)
	code := cli.Main(ctx, cli.SystemEnv(version))
	stop()
	os.Exit(code)
}
