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
	"syscall"
	"time"
)

// tools are the programs of the comparison, built or installed.
type tools struct {
	folder   string // of the scripts, the Rego policy and node_modules
	packgate string
	generate string
	conftest string
	schema   string // packgate's own schema of a Context Pack
}

// install builds packgate, the generator and conftest into a folder, and
// installs the Node packages where they are not.
func install(ctx context.Context, folder, bin string) (*tools, error) {
	t := &tools{
		folder: folder, packgate: filepath.Join(bin, "packgate"), generate: filepath.Join(bin, "generate"),
		conftest: filepath.Join(bin, "conftest"), schema: filepath.Join(bin, "context-pack.schema.json"),
	}
	top := filepath.Join(folder, "..", "..")
	steps := []step{
		{"go", top, []string{"go", "build", "-o", t.packgate, "."}},
		{"go", top, []string{"go", "build", "-o", t.generate, "./bench/cmd/generate"}},
		{"go", folder, []string{"go", "build", "-o", t.conftest, "github.com/open-policy-agent/conftest"}},
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); errors.Is(err, os.ErrNotExist) {
		steps = append(steps, step{"npm", folder, []string{"npm", "ci", "--silent"}})
	}
	for _, s := range steps {
		c := s.command(ctx)
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", s.args, err, out)
		}
	}
	schema, err := exec.CommandContext(ctx, t.packgate, "schema", "context-pack").Output()
	if err != nil {
		return nil, fmt.Errorf("packgate schema: %w", err)
	}
	return t, os.WriteFile(t.schema, schema, 0o644)
}

// repository writes a pack repository and commits it, and then changes every nth
// of its packs.
func (t *tools) repository(ctx context.Context, dir string, packs, nth int, seed uint64) error {
	write := []string{t.generate, dir, fmt.Sprint(packs), fmt.Sprint(seed)}
	revise := []string{t.generate, "--revise", fmt.Sprint(nth), dir, fmt.Sprint(packs), fmt.Sprint(seed)}
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

// step is one process of a pipeline.
type step struct {
	name string
	dir  string
	args []string
}

func (s step) command(ctx context.Context) *exec.Cmd {
	c := exec.CommandContext(ctx, s.args[0], s.args[1:]...)
	c.Dir = s.dir
	return c
}

// pipeline returns what somebody would put together who has no packgate: each
// tool is one process over all packs of the repository.
func (t *tools) pipeline(dir string) ([]step, error) {
	full, err := filepath.Glob(filepath.Join(dir, "packs", "*", "pack.json"))
	if err != nil {
		return nil, err
	}
	packs := make([]string, len(full))
	for i, name := range full {
		if packs[i], err = filepath.Rel(dir, name); err != nil {
			return nil, err
		}
	}
	script := func(name string) string { return filepath.Join(t.folder, name) }
	return []step{
		{"ajv", dir, append([]string{"node", script("schema.mjs"), t.schema}, packs...)},
		{"conftest", dir, append([]string{t.conftest, "test", "--policy", script("policy"), "--no-color", "--output", "json"}, packs...)},
		{"json-logic-js", dir, append([]string{"node", script("golden.mjs")}, packs...)},
		{"jsondiffpatch", dir, []string{"node", script("changes.mjs"), "HEAD"}},
	}, nil
}

// check returns packgate's own step for the same work and what it does beyond.
func (t *tools) check(dir string) step {
	return step{"packgate", dir, []string{t.packgate, "check", "--base", "HEAD"}}
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
	var stdout, stderr bytes.Buffer
	c := s.command(ctx)
	c.Stdout, c.Stderr = &stdout, &stderr
	start := time.Now()
	err := c.Run()
	o := outcome{output: stdout.String(), usage: usage{wall: time.Since(start)}}
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(foundFaults, exit.ExitCode()) && stderr.Len() == 0 {
		o.found, err = true, nil
	}
	if err != nil {
		return o, fmt.Errorf("%s: %w\n%s%s", s.name, err, stderr.String(), o.output)
	}
	o.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if r, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = r.Maxrss << 10 // Linux counts in KiB
	}
	return o, nil
}
