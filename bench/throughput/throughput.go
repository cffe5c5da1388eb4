// Package throughput measures packgate check on generated pack repositories, as
// whole processes, against the floor: reading the same files, parsing them,
// canonicalising them and hashing them, which is the least that anything has to do
// that says something about their content.
//
// What a machine is good for cancels out in the ratios, as far as floor and check
// met the same load; they are what to compare between machines and versions.
package throughput

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/pack"
)

// Nth says which packs have changed since the base: every nth, which is 5 %.
const Nth = 20

// Floor reads all files below a folder but those of git, decodes what is JSON once with
// encoding/json, writes its canonical form (RFC 8785) from that value and hashes everything.
// It returns how many files there are and how many bytes they have.
func Floor(dir string) (files int, size int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files, size = files+1, size+int64(len(src))
		return digest(name, src)
	})
	return files, size, err
}

func digest(name string, src []byte) error {
	if strings.HasSuffix(name, ".json") {
		var content any
		if err := json.Unmarshal(src, &content); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		canonical, err := pack.AppendCanonical(nil, content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		src = canonical
	}
	if sha256.Sum256(src) == [sha256.Size]byte{} {
		return fmt.Errorf("%s: the digest is zero", name)
	}
	return nil
}

// Programs are the binaries that are measured.
type Programs struct {
	Packgate string // of an exact version, without which it keeps no cache
	Measure  string // the command of bench/cmd/measure, whose "floor DIR" is the floor
}

// versions are the linker flags that give packgate an exact version. Earlier versions, with which it is compared,
// take it from a variable of main; the linker passes over a variable that is not there.
const versions = "-X github.com/contextosai/packgate/internal/release.Version=v0.0.1 -X main.version=v0.0.1"

// Build builds the programs into a folder. Module is the root of packgate's own.
func Build(ctx context.Context, module, folder string) (Programs, error) {
	p := Programs{filepath.Join(folder, "packgate"), filepath.Join(folder, "measure")}
	for name, of := range map[string]string{p.Packgate: ".", p.Measure: "./bench/cmd/measure"} {
		c := exec.CommandContext(ctx, "go", "build", "-ldflags", versions, "-o", name, of)
		c.Dir = module
		if out, err := c.CombinedOutput(); err != nil {
			return p, fmt.Errorf("go build %s: %w\n%s", of, err, out)
		}
	}
	return p, nil
}

// Repository says which packs are generated.
type Repository struct {
	Seed     uint64
	Packs    int
	Overlays int // every nth pack has one, 0 for none
}

// Write writes the packs into a folder, commits them, and then revises every Nth of them.
func (r Repository) Write(ctx context.Context, dir string) error {
	if err := generate.Write(dir, r.Seed, r.Packs); err != nil {
		return err
	}
	if r.Overlays > 0 {
		if err := generate.Overlays(dir, r.Seed, r.Packs, r.Overlays); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "packs"},
	} {
		if err := git(ctx, dir, args...); err != nil {
			return err
		}
	}
	_, err := generate.Revise(dir, r.Seed, r.Packs, Nth)
	return err
}

// git runs git in a folder.
func git(ctx context.Context, dir string, args ...string) error {
	if out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

// Usage is what a process took.
type Usage struct {
	CPU    time.Duration // user and system
	Time   time.Duration // that passed
	Memory int64         // the largest resident set, in bytes; 0 where the system does not say
}

// Run runs a program and returns what it took. Settings is where it keeps those of
// the user. An exit status other than 0 is an error, with the end of what the program
// printed.
func Run(ctx context.Context, settings, program string, args ...string) (Usage, error) {
	var out bytes.Buffer
	c := exec.CommandContext(ctx, program, args...)
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} {
		c.Env = append(c.Environ(), name+"="+settings)
	}
	c.Stdout, c.Stderr = &out, &out
	start := time.Now()
	if err := c.Run(); err != nil {
		return Usage{}, fmt.Errorf("%s %v: %w\n%s", filepath.Base(program), args, err, out.Bytes()[max(0, out.Len()-2000):])
	}
	return Usage{c.ProcessState.UserTime() + c.ProcessState.SystemTime(), time.Since(start), memory(c.ProcessState)}, nil
}

// Figures are what one repository took.
type Figures struct {
	Packs, Files int
	Size         int64 // of all files, in bytes
	Floor        Usage
	Check        Usage // packgate check, without a cache
	Cold         Usage // with one that is empty
	Warm         Usage // the same once more
	Base         Usage // packgate check --base, against the commit before every Nth pack changed, without a cache
}

// Measure writes a repository below a folder, measures it, and removes it.
func Measure(ctx context.Context, p Programs, folder string, of Repository) (Figures, error) {
	f := Figures{Packs: of.Packs}
	dir, err := os.MkdirTemp(folder, "packs-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	if err := of.Write(ctx, dir); err != nil {
		return f, err
	}
	if f.Files, f.Size, err = Floor(dir); err != nil { // which also warms the system's file cache
		return f, err
	}
	settings, err := os.MkdirTemp(folder, "settings-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(settings)
	cache := filepath.Join(settings, "kept")
	for _, one := range []struct {
		usage *Usage
		args  []string
	}{
		{&f.Floor, []string{p.Measure, "floor", dir}},
		{&f.Check, []string{p.Packgate, "check", dir, "--no-cache"}},
		{&f.Cold, []string{p.Packgate, "check", dir, "--cache", cache}},
		{&f.Warm, []string{p.Packgate, "check", dir, "--cache", cache}},
		{&f.Base, []string{p.Packgate, "check", dir, "--no-cache", "--base", "HEAD"}},
	} {
		if *one.usage, err = Run(ctx, settings, one.args[0], one.args[1:]...); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Ratio returns how many times the CPU of another process one took.
func (u Usage) Ratio(to Usage) float64 { return u.CPU.Seconds() / to.CPU.Seconds() }
