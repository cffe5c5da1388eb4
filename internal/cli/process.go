package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// collectAt is how much the heap grows, in percent, before garbage is collected. A check
// of 300 packs takes 9.3 s of processor time and 76 MB with the 100 of the language,
// 8.3 s and 100 MB with 200, and 7.5 s and 167 MB with 400, which would be too much for
// the largest repositories. The variable GOGC wins, and there is no limit of memory:
// what a machine has to spare the variable GOMEMLIMIT says.
const collectAt = 200

// Run is the program: it runs the command that the process was started with, ends it in
// order when a signal comes, and returns the exit status. Version is what the build set,
// or empty.
func Run(version string) int {
	if err := prepare(); err != nil {
		printProblems(os.Stderr, err)
		return exitCode(err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends the work in order, the second one at once.
	context.AfterFunc(ctx, stop)
	return Main(ctx, SystemEnv(version))
}
