package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

const (
	// lookEvery is how long lies between two looks at the files that are watched.
	lookEvery = 300 * time.Millisecond
	// mostWatched bounds the files and folders that are watched.
	mostWatched = 200_000
)

// watchable says why a run with these flags cannot be watched; nil where it can. What a watch
// prints is for a person: who reads a report file or a status wants one run.
func (o *checkOptions) watchable(env *Env) error {
	switch {
	case !o.watch:
		return nil
	case inCI(env):
		return misuse("leave out --watch", "--watch never ends, and this is a job (CI or GITHUB_ACTIONS is set)")
	case o.format != "terminal" || o.reportDir != "" || o.sarifFile != "" || o.metricsFile != "":
		return misuse("leave out --format and the flags that write files, or run check once", "--watch prints what changed for a person, and writes no report")
	case o.fix || !o.part.Whole():
		return misuse("leave out one of them", "--watch does not go with --fix or --shard")
	}
	return nil
}

// watch checks packs, and again whenever files of their repositories have changed and are
// left alone for two looks, of which the channel gives one each; it prints what became of the
// verdict. When the context ends, the error is that of the last verdict.
func watch(ctx context.Context, env *Env, o checkOptions, paths []string, looks <-chan time.Time) error {
	var last *model.Report
	for {
		checked, err := lookOver(ctx, o, paths) // before the run, so that no change during it is missed
		if err != nil {
			return err
		}
		r := checkOnce(ctx, env, o, paths)
		r.Settle()
		if ctx.Err() == nil {
			if err := env.printChange(o.output, last, r.Report); err != nil {
				return err
			}
			last = r.Report
		}
		for quiet := (lull{checked, checked}); ; {
			select {
			case <-ctx.Done():
				if last == nil {
					return fmt.Errorf("stopped before the first check ended: %w", context.Cause(ctx))
				}
				return verdict(last.ExitCode)
			case <-looks:
			}
			now, err := lookOver(ctx, o, paths)
			if err != nil && ctx.Err() == nil {
				return err
			}
			if err == nil && quiet.after(now) {
				break
			}
		}
	}
}

// lull tells when files have changed since they were checked and are left alone again.
type lull struct{ checked, before state }

// after takes the next look at the files, and reports whether it is the second one at a change.
func (l *lull) after(now state) bool {
	twice := now != l.checked && now == l.before
	l.before = now
	return twice
}

// state is what the files that are watched look like: names, sizes, types and times.
type state [sha256.Size]byte

// lookOver looks at all files of the repositories of some paths. What git keeps for itself is
// left out.
func lookOver(ctx context.Context, o checkOptions, paths []string) (sum state, err error) {
	digest, seen := sha256.New(), 0
	for _, path := range paths {
		at, err := gating.FindPlace(path)
		if err != nil {
			return sum, err
		}
		root := at.Root
		if o.config != "" {
			root = filepath.Dir(o.config)
		}
		err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			switch seen++; {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case seen > mostWatched:
				return misuse("run it in a folder with fewer files", "%s has more than %d files", root, mostWatched)
			case err != nil: // it is gone, or cannot be looked into: the run says what that means
				fmt.Fprintf(digest, "%q?\n", name)
				return nil
			case e.IsDir() && e.Name() == ".git":
				return fs.SkipDir
			}
			info, err := e.Info()
			if err != nil {
				fmt.Fprintf(digest, "%q?\n", name)
				return nil
			}
			size, changed := info.Size(), info.ModTime().UnixNano()
			if e.IsDir() { // what is in it tells
				size, changed = 0, 0
			}
			fmt.Fprintf(digest, "%q %d %d %d\n", name, info.Mode(), size, changed)
			return nil
		})
		if err != nil {
			return sum, err
		}
	}
	digest.Sum(sum[:0])
	return sum, nil
}

// printChange prints what became of the verdict since the report before; of the first report
// all of it.
func (env *Env) printChange(o output, before, now *model.Report) error {
	if before == nil {
		return cmp.Or(env.print(o, now), env.say("watching for changes; stop with Ctrl-C"))
	}
	for _, p := range now.Errors {
		printProblem(env.Stderr, p)
	}
	var out []string
	was, is := lines(before), lines(now)
	for _, line := range without(is, was) {
		out = append(out, "+ "+line)
	}
	for _, line := range without(was, is) {
		out = append(out, "- "+line)
	}
	if len(out) == 0 {
		out = append(out, "no finding is new or gone")
	}
	s := now.Summary
	verdict := fmt.Sprintf("%s: packs %d, errors %d, warnings %d, not checked %d", now.Result, s.Packs, s.Errors, s.Warnings, s.NotChecked)
	if before.Result != now.Result {
		verdict += fmt.Sprintf(" (it was %s)", before.Result)
	}
	return env.say(append(out, verdict)...)
}

func (env *Env) say(lines ...string) error {
	_, err := fmt.Fprintln(env.Stdout, strings.Join(lines, "\n"))
	return err
}

// without returns the lines of a list beyond those of another one, each as often as it is there.
func without(list, other []string) (rest []string) {
	other = slices.Clone(other)
	for _, line := range list {
		if i := slices.Index(other, line); i >= 0 {
			other = slices.Delete(other, i, i+1)
			continue
		}
		rest = append(rest, line)
	}
	return rest
}

// lines returns what a report says, one line for each thing, without the places in files,
// which an edit above moves.
func lines(r *model.Report) (list []string) {
	add := func(format string, args ...any) { list = append(list, render.Visible(fmt.Sprintf(format, args...))) }
	for _, p := range r.Errors {
		add("error: %s", p.Message)
	}
	for _, p := range r.Packs.All() {
		for _, f := range p.Findings {
			excused := ""
			if f.Excused() {
				excused = " (excused)"
			}
			add("%s %s %s %s%s: %s", f.File, f.Severity, f.Rule, f.Name, excused, f.Message)
		}
		for _, n := range p.NotChecked {
			add("%s not checked: %s %s: %s", p.Path, n.Gate, n.Rule, n.Reason)
		}
	}
	return list
}

// looks returns the looks of a watch: one after the other, until it is stopped.
func (env *Env) looks() (looks <-chan time.Time, stop func()) {
	if env.ticks != nil {
		return env.ticks, func() {}
	}
	ticker := time.NewTicker(lookEvery)
	return ticker.C, ticker.Stop
}
