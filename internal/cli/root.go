// Package cli holds packgate's commands: their flags, the order of the stages
// that a pack goes through, and the exit code. It is the only package that
// knows the whole way, and it never looks into a pack itself.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/internal/release"
	"github.com/contextosai/packgate/publish/webhook"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/schemas"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Main runs one command and returns the exit code. It never exits itself, so
// that deferred work runs.
func Main(ctx context.Context, env Env) int {
	out := &noting{to: env.Stdout} // not everybody who prints looks whether it could be
	env.Stdout = out
	root := newRoot(&env)
	root.SetArgs(env.Args)
	root.SetOut(out)
	root.SetErr(env.Stderr)
	var measured profile
	measured.addFlags(root)
	err := measured.around(func() error {
		err := obey(ctx, func() <-chan time.Time { return time.After(patience) }, func(ctx context.Context) (err error) {
			defer model.Lost(&err)
			return root.ExecuteContext(ctx)
		})
		if errors.Is(err, errLeft) {
			err = errors.Join(err, atomicfile.Stop()) // what is being written is written whole, and nothing more
		}
		return unheard(err, out.err)
	})
	if err == nil {
		return gating.ExitPass
	}
	if _, done := err.(*verdictError); !done {
		printProblems(env.Stderr, err)
	}
	return exitCode(err)
}

// unheard returns what a command ends with whose output could not be written, which is why, nil for one that
// was written. What it has to say itself matters more, and so does that nothing is known.
func unheard(err, why error) error {
	if said, done := err.(*verdictError); why != nil && done && said.code != exitUnknown {
		return why
	}
	return cmp.Or(err, why)
}

// patience is how long a command may go on that does not look whether it was told to stop.
const patience = 800 * time.Millisecond

// errLeft says that work did not end when it was told to.
var errLeft = errors.New("stopped in the middle of the work")

// obey does work until it ends, or until late comes after the end of the context, with work that has not
// looked at the context since that ended. Whoever has looked ends in order, and prints
// what was finished. Work that is left is the last that the process does.
func obey(ctx context.Context, late func() <-chan time.Time, work func(context.Context) error) error {
	watched := &watchedContext{Context: ctx}
	done := make(chan error, 1)
	go func() { done <- work(watched) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-late():
	}
	if watched.seen.Load() {
		return <-done
	}
	return fmt.Errorf("%w: %w", errLeft, context.Cause(ctx))
}

// watchedContext notes whether anybody has seen that it ended.
type watchedContext struct {
	context.Context
	seen atomic.Bool
}

// Err returns why the context ended, nil while it goes on.
func (w *watchedContext) Err() error {
	err := w.Context.Err()
	if err != nil {
		w.seen.Store(true)
	}
	return err
}

// flagError says what is wrong with a flag, and which one may have been intended.
func flagError(c *cobra.Command, err error) error {
	hint := fmt.Sprintf("see %s --help", c.CommandPath())
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := schemas.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean --%s?", near)
		}
	}
	return misuse(hint, "%s", err)
}

// wants checks that a command gets exactly the arguments of those names.
func wants(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			return misuse(fmt.Sprintf("see %s --help", c.CommandPath()), "%s takes no arguments", c.Name())
		}
		return misuse(fmt.Sprintf("use %s %s", c.CommandPath(), strings.Join(names, " ")),
			"%s takes %s, and %d were given", c.Name(), strings.Join(names, " and "), len(args))
	}
}

// mayTake checks that a command gets one argument of that name, or none.
func mayTake(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return wants(name)(c, args)
	}
}

// opened is the pack that a command is about.
type opened struct {
	*gating.Workspace
	unit *repo.Unit
	name string // as it was typed
}

// onPack makes a command one about the pack that its argument names.
func onPack(c *cobra.Command, run func(context.Context, opened) error) *cobra.Command {
	return onPacks(c, func(ctx context.Context, w *gating.Workspace, name string) error {
		unit, err := w.One(name)
		if err != nil {
			return err
		}
		return run(ctx, opened{w, unit, name})
	})
}

// onPacks makes a command one about the packs that its argument names.
func onPacks(c *cobra.Command, run func(ctx context.Context, w *gating.Workspace, name string) error) *cobra.Command {
	var config string
	configFlag(c.Flags(), &config)
	c.Args = wants("PACK")
	c.RunE = func(c *cobra.Command, args []string) error {
		return openPacks(c.Context(), c.ErrOrStderr(), args[0], config, func(w *gating.Workspace) error { return run(c.Context(), w, args[0]) })
	}
	return c
}

// configFlag adds the flag that names the config.
func configFlag(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "config", "", "config `file` (default: the nearest "+repo.ConfigName+")")
}

// openPacks runs what is done with the repository of a path, with the packs there.
func openPacks(ctx context.Context, stderr io.Writer, path, config string, run func(*gating.Workspace) error) error {
	w, err := gating.Open(ctx, path, gating.Settings{Config: config})
	if err != nil {
		return err
	}
	defer w.Close()
	if len(w.Recovered) > 0 {
		fmt.Fprintln(stderr, render.Visible(gating.RecoveredWords(w.Recovered)))
	}
	return run(w)
}

// knownCommand refuses arguments of the program itself: they were intended as commands.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return unknownName("command", args[0], names, "see packgate --help")
}

const about = `packgate is the gate in front of ContextOS Context Packs: it checks them, compiles
their golden cases, classifies what changed, and decides whether a change may be merged.

Exit status: 0 pass, 1 findings, 2 wrong use or configuration, 3 packgate could
not do its work, 4 the class of a change is reject.`

// Commands returns the commands with their help, for what is made of it, such as the
// manual. To run one, call Main.
func Commands(env Env) *cobra.Command {
	root := newRoot(&env)
	new(profile).addFlags(root)
	return root
}

// Commands stand in the order in which they are needed, and not in the alphabet's. It
// can be set for all of cobra alone.
func init() { cobra.EnableCommandSorting = false }

// addGroup adds commands that are listed together in the help.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use: "packgate", Short: "the gate in front of ContextOS Context Packs", Long: about,
		Example: "  packgate check examples/acme-support\n  packgate diff old/pack.json new/pack.json\n  packgate explain REF001",
		// Errors are printed once, by Main.
		SilenceErrors: true, SilenceUsage: true,
		Args: knownCommand,
	}
	// cobra's own flag would print what a template says (see the package template).
	version := root.Flags().BoolP("version", "v", false, "version for packgate")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if !*version {
			return c.Help()
		}
		_, err := io.WriteString(c.OutOrStdout(), release.Line(env.Version))
		return err
	}
	root.SetFlagErrorFunc(flagError)
	addGroup(root, "Packs:", newCheck(env), newCompile(env), newDiff(env), newNotes(env), newBump(env), newPolicy(env), newGolden(env))
	addGroup(root, "Pack repositories:", newInit(env), newDoctor(env), newPlan(env), newMerge(env), newReportCommand(env), newWaivers(env), newBaseline(env))
	addGroup(root, "Published versions:", newPublish(env), newVerify(env), newPull(env), newDeprecate(env), newRevoke(env), newPromote(env), newPin(env), newRollback(env), newTimestamp(env),
		newLog(env), newAudit(env), newNotify(env))
	addGroup(root, "Rules and formats:", newRules(env), newExplain(env), newSchema(env))
	addGroup(root, "For other programs:", newAction(env), newComment(env), newLSP(env), newCompletion(env))
	root.SetHelpCommandGroupID("Rules and formats:")
	root.CompletionOptions.DisableDefaultCmd = true // newCompletion has its words
	addCompletions(root)
	return root
}

// Env is the world as the commands see it, so that every test can call the same
// entry as the program.
type Env struct {
	Args                  []string // without the program's name
	Stdin                 io.Reader
	Stdout                io.Writer
	Stderr                io.Writer
	Getenv                func(string) string
	Now                   func() time.Time
	Version               string // of the program
	Commit                string // that the tag of Version names, "" where it is not known
	Terminal, ErrTerminal bool   // reports whether Stdout is a terminal, and ErrTerminal whether Stderr is
	Columns               int    // how wide Stdout is; 0 where it is no terminal, or nobody knows
	// CacheDir and ConfigDir return where the user keeps what can be made again, and
	// settings; nil where there is no such place.
	CacheDir, ConfigDir func() (string, error)
	client              func(*github.Options)  // changes how GitHub is called, for tests; nil for as it is
	ticks               <-chan time.Time       // of a watch, for tests; nil for those of a clock
	hook                func(*webhook.Options) // changes how the webhook is called, for tests; nil for as it is
}

// SystemEnv returns the process's own environment. Version is what the build
// set; where it set none, the module's version counts.
func SystemEnv(version string) Env {
	info, _ := debug.ReadBuildInfo()
	own := moduleVersion(info)
	env := Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		Version: cmp.Or(version, own), Commit: commitOf(info, cmp.Or(version, own)),
		CacheDir: os.UserCacheDir, ConfigDir: os.UserConfigDir,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if env.Terminal {
		env.Columns = columns(os.Getenv("COLUMNS"), func() (int, int, error) { return term.GetSize(int(os.Stdout.Fd())) })
	}
	return env
}

// moduleVersion returns the version of the module that the program was built from.
func moduleVersion(info *debug.BuildInfo) string {
	if info != nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v") // as the release build sets it
	}
	return "devel"
}

// commitOf returns the commit that the tag of a version names: the one that was built, where Go
// found it unchanged and with that tag. What a linker flag says of the version alone is no proof of
// it, and the archives of a release do not know it, since its commit holds their digests.
func commitOf(info *debug.BuildInfo, version string) (commit string) {
	if info == nil || info.Main.Version != "v"+version {
		return ""
	}
	unchanged := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			unchanged = s.Value == "false"
		}
	}
	if !unchanged {
		return ""
	}
	return commit
}

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

// Run is the program: it runs the command that the process was started with, ends it in
// order when a signal comes, and returns the exit status. Version is what the build set,
// or empty.
func Run(version string) int {
	if err := prepare(); err != nil {
		printProblems(os.Stderr, err)
		return exitCode(err)
	}
	ignored := slices.DeleteFunc(slices.Clone(ends), func(s os.Signal) bool { return !signal.Ignored(s) })
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, ends...)
	go func() {
		<-signals // ends the work in order
		again := <-signals
		endNow(again, slices.Contains(ignored, again))
	}()
	return Main(ctx, SystemEnv(version))
}

// ends are the signals that end the program.
var ends = []os.Signal{os.Interrupt, syscall.SIGTERM}

// endNow ends the program by the second of its signals, once nothing waits beside its place. A third one
// does not wait for that. One that whoever started the program ignores does not end it by itself.
func endNow(s os.Signal, ignored bool) {
	signal.Reset(ends...)
	_ = atomicfile.Stop() // nobody listens any more
	self, err := os.FindProcess(os.Getpid())
	if err != nil || ignored || self.Signal(s) != nil {
		os.Exit(gating.ExitFailure)
	}
}
