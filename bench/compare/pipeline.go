package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tools are the programs of the comparison, built or installed.
type tools struct {
	folder string // of the scripts, what the tools judge by, and node_modules
	bin    string // of what is built
	schema string // packgate's own schema of a Context Pack
}

// built returns the path of a program that install has built.
func (t *tools) built(name string) string { return filepath.Join(t.bin, name) }

// install builds packgate, the generator and the tools in Go into the folder bin, and
// installs the Node packages where they are not.
func install(ctx context.Context, folder, bin string) (*tools, error) {
	t := &tools{folder: folder, bin: bin, schema: filepath.Join(bin, "context-pack.schema.json")}
	top := filepath.Join(folder, "..", "..")
	steps := []step{
		{name: "go", dir: top, args: []string{"go", "build", "-ldflags", "-X github.com/contextosai/packgate/internal/release.Version=v0.0.1", "-o", t.built("packgate"), "."}},
		{name: "go", dir: top, args: []string{"go", "build", "-o", t.built("generate"), "./bench/cmd/generate"}},
		{name: "go", dir: folder, args: []string{"go", "build", "-o", t.built(conftest), "github.com/open-policy-agent/conftest"}},
		{name: "go", dir: folder, args: []string{"go", "build", "-o", t.built(cue), "cuelang.org/go/cmd/cue"}},
		{name: "go", dir: folder, args: []string{"go", "build", "-o", t.built(buf), "github.com/bufbuild/buf/cmd/buf"}},
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); errors.Is(err, os.ErrNotExist) {
		steps = append(steps, step{name: "npm", dir: folder, args: []string{"npm", "ci", "--silent"}})
	}
	for _, s := range steps {
		c := s.command(ctx)
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", s.args, err, out)
		}
	}
	schema, err := exec.CommandContext(ctx, t.built("packgate"), "schema", "context-pack").Output()
	if err != nil {
		return nil, fmt.Errorf("packgate schema: %w", err)
	}
	return t, os.WriteFile(t.schema, schema, 0o644)
}

// repository writes a pack repository and commits it, and then changes every nth
// of its packs.
func (t *tools) repository(ctx context.Context, dir string, packs int, seed uint64) error {
	write := []string{t.built("generate"), dir, fmt.Sprint(packs), fmt.Sprint(seed)}
	revise := []string{t.built("generate"), "--revise", fmt.Sprint(nth), dir, fmt.Sprint(packs), fmt.Sprint(seed)}
	for _, args := range [][]string{
		write,
		{"git", "init", "-q", dir},
		{"git", "-C", dir, "add", "."},
		{"git", "-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "packs"},
		revise,
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// step is one process of a pipeline, or one for each of several files.
type step struct {
	name  string
	dir   string
	args  []string
	files []string // behind args
	each  bool     // a process for each of the files
	// env are variables of the process beside those that there are.
	env []string
	// before is what is before each of the files, nothing if it is empty.
	before string
	// complains says that the tool writes the faults that it finds to standard error.
	complains bool
}

func (s step) command(ctx context.Context, files ...string) *exec.Cmd {
	args := slices.Clone(s.args[1:])
	for _, file := range files {
		if s.before != "" {
			args = append(args, s.before)
		}
		args = append(args, file)
	}
	c := exec.CommandContext(ctx, s.args[0], args...)
	c.Dir = s.dir
	if len(s.env) > 0 {
		c.Env = append(c.Environ(), s.env...)
	}
	return c
}

// loop returns steps with a process for each tool and pack.
func loop(together []step) []step {
	steps := slices.Clone(together)
	for i := range steps {
		steps[i].each = len(steps[i].files) > 0
	}
	return steps
}

// pipeline returns what somebody would put together who has no packgate: each
// tool is one process over all packs of the repository.
func (t *tools) pipeline(dir string, packs []string) []step {
	return []step{
		{name: "ajv", dir: dir, args: []string{"node", t.own("schema.mjs"), t.schema}, files: packs},
		t.conftest(dir, packs),
		{name: "json-logic-js", dir: dir, args: []string{"node", t.own("golden.mjs")}, files: packs},
		{name: "jsondiffpatch", dir: dir, args: []string{"node", t.own("changes.mjs"), "HEAD"}},
	}
}

// packsOf returns the pack files of a repository, relative to it.
func packsOf(dir string) ([]string, error) {
	packs, err := filepath.Glob(filepath.Join(dir, "packs", "*", "pack.json"))
	for i := range packs {
		packs[i] = strings.TrimPrefix(packs[i], dir+string(filepath.Separator))
	}
	return packs, err
}

// own returns the path of a file that is beside this program.
func (t *tools) own(name string) string { return filepath.Join(t.folder, name) }

// check returns packgate's own step for the same work and what it does beyond,
// without a cache.
func (t *tools) check(dir string) step {
	return step{name: "packgate", dir: dir, args: []string{t.built("packgate"), "check", "--base", "HEAD", "--no-cache"}}
}

// usage is what a process took.
type usage struct {
	cpu, wall time.Duration
	memory    int64 // the largest resident set, in bytes
}

func (u *usage) add(v usage) {
	u.cpu += v.cpu
	u.wall += v.wall
	u.memory = max(u.memory, v.memory)
}

// outcome is what became of a step.
type outcome struct {
	usage
	output string
	found  bool // faults, by the exit status
}

// foundFaults are the exit statuses that say so. 4 is packgate's for a change that
// no version can carry.
var foundFaults = []int{1, 4}

// run runs a step. That it found faults is no error, that it could not look is:
// then it exits with another status, or complains.
func run(ctx context.Context, s step) (outcome, error) {
	if !s.each {
		return process(ctx, s, s.files)
	}
	var all outcome
	for _, file := range s.files {
		o, err := process(ctx, s, []string{file})
		if err != nil {
			return o, err
		}
		all.add(o.usage)
		all.output, all.found = all.output+o.output, all.found || o.found
	}
	return all, nil
}

// process runs one process of a step.
func process(ctx context.Context, s step, files []string) (outcome, error) {
	var stdout, stderr bytes.Buffer
	c := s.command(ctx, files...)
	c.Stdout, c.Stderr = &stdout, &stderr
	start := time.Now()
	err := c.Run()
	o := outcome{output: stdout.String() + stderr.String(), usage: usage{wall: time.Since(start)}}
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(foundFaults, exit.ExitCode()) && (s.complains || stderr.Len() == 0) {
		o.found, err = true, nil
	}
	if err != nil {
		return o, fmt.Errorf("%s: %w\n%s", s.name, err, o.output)
	}
	o.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if r, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = r.Maxrss << 10 // Linux counts in KiB
	}
	return o, nil
}
