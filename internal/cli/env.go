// Package cli holds packgate's commands: their flags, the order of the stages
// that a pack goes through, and the exit code. It is the only package that
// knows the whole way, and it never looks into a pack itself.
package cli

import (
	"cmp"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/contextosai/packgate/internal/github"
)

// Env is the world as the commands see it, so that every test can call the same
// entry as the program.
type Env struct {
	Args    []string // without the program's name
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Now     func() time.Time
	Version string // of the program
	// Terminal reports whether Stdout is a terminal.
	Terminal bool
	// client changes how GitHub is called, for tests; nil for as it is.
	client func(*github.Options)
}

// SystemEnv returns the process's own environment. Version is what the build
// set; where it set none, the module's version counts.
func SystemEnv(version string) Env {
	return Env{
		Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		Version: cmp.Or(version, moduleVersion()), Terminal: isTerminal(os.Stdout),
	}
}

func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
