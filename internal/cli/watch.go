package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
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
	at := &watched{o, paths, map[string]string{}, env.Now}
	for {
		checked, err := at.lookOver(ctx) // before the run, so that no change during it is missed
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
			now, err := at.lookOver(ctx)
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

// state is what there is to check: names, sizes, types and times of files, the commits that they are
// compared with, and the day.
type state [sha256.Size]byte

// watched is what a watch looks at.
type watched struct {
	checkOptions
	paths []string
	roots map[string]string // the repositories of the paths, as they were last found
	now   func() time.Time
}

// root returns the folder of the repository of a path, by its own name: no link is walked through. A path
// that is gone for a while was where it was before.
func (w *watched) root(path string) (string, error) {
	root := filepath.Dir(w.config)
	if w.config == "" {
		at, err := gating.FindPlace(path)
		if before, known := w.roots[path]; err != nil && known {
			return before, nil
		}
		if err != nil {
			return "", err
		}
		root = at.Root
	}
	if own, err := filepath.EvalSymlinks(root); err == nil {
		root = own
	}
	w.roots[path] = root
	return root, nil
}

// lookOver looks at all files of the repositories of some paths, at what the base is, and at the day.
func (w *watched) lookOver(ctx context.Context) (sum state, err error) {
	digest, seen := sha256.New(), 0
	fmt.Fprintln(digest, w.now().UTC().Format(time.DateOnly)) // which ends waivers
	for _, path := range w.paths {
		root, err := w.root(path)
		if err != nil {
			return sum, err
		}
		if w.base != "" {
			sha, err := baseOf(root, w.base)
			fmt.Fprintln(digest, sha, err)
		}
		err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			switch seen++; {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case seen > mostWatched:
				return misuse("run it in a folder with fewer files", "%s has more than %d files", root, mostWatched)
			case err == nil && e.IsDir() && e.Name() == ".git": // what git keeps for itself
				return fs.SkipDir
			}
			fmt.Fprintf(digest, "%q %s\n", name, looksOf(e, err))
			return nil
		})
		if err != nil {
			return sum, err
		}
	}
	digest.Sum(sum[:0])
	return sum, nil
}

// looksOf returns what an entry of a folder looks like. Of one that is gone, or cannot be looked into, the
// run says what that means.
func looksOf(e fs.DirEntry, err error) string {
	if err != nil {
		return "?"
	}
	info, err := e.Info()
	switch {
	case err != nil:
		return "?"
	case e.IsDir(): // what is in it tells
		return info.Mode().String()
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changedAt(info))
}

// baseOf returns the commit that a revision names in the git repository of a folder, and what is in the
// way of finding it, which the run says too.
func baseOf(dir, revision string) (sha string, err error) {
	git, err := github.Open(dir)
	if err != nil {
		return "", err
	}
	sha, err = git.Resolve(revision)
	return sha, errors.Join(err, git.Close())
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
		add("%s: %s", p.Path, p.Result)
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
