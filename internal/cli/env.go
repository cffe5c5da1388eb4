// Package cli holds packgate's commands: their flags, the order of the stages
// that a pack goes through, and the exit code. It is the only package that
// knows the whole way, and it never looks into a pack itself.
package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/contextosai/packgate/internal/github"
	"golang.org/x/term"
)

// Env is the world as the commands see it, so that every test can call the same
// entry as the program.
type Env struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Now     func() time.Time
	Version string // of the program
	// Terminal reports whether Stdout is a terminal, and ErrTerminal whether Stderr is.
	Terminal, ErrTerminal bool
	// Columns is how wide Stdout is; 0 where it is no terminal, or nobody knows.
	Columns int
	// CacheDir and ConfigDir return where the user keeps what can be made again, and
	// settings; nil where there is no such place.
	CacheDir, ConfigDir func() (string, error)
	// client changes how GitHub is called, for tests; nil for as it is.
	client func(*github.Options)
}

// SystemEnv returns the process's own environment. Version is what the build
// set; where it set none, the module's version counts.
func SystemEnv(version string) Env {
	env := Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		Version:  cmp.Or(version, moduleVersion()),
		CacheDir: os.UserCacheDir, ConfigDir: os.UserConfigDir,
		Terminal: isTerminal(os.Stdout), ErrTerminal: isTerminal(os.Stderr),
	}
	if env.Terminal {
		env.Columns = columns(os.Getenv("COLUMNS"), func() (int, int, error) { return term.GetSize(int(os.Stdout.Fd())) })
	}
	return env
}

func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v") // as the release build sets it
	}
	return "devel"
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// columns returns the width of a terminal: what $COLUMNS says or else the
// terminal itself, and 0 where neither knows.
func columns(wanted string, size func() (width, height int, err error)) int {
	if n, err := strconv.Atoi(wanted); err == nil && n > 0 {
		return n
	}
	n, _, err := size()
	if err != nil {
		return 0
	}
	return n
}

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
