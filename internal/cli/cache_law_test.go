package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drift is a repository that changes at random, with what a run over it is given.
type drift struct {
	t    *testing.T
	r    *rand.Rand
	h    *household
	args []string
	undo []func() error
}

// files returns the files that may change, but those of git.
func (d *drift) files() []string {
	var names []string
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == ".git" {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return names
}

func (d *drift) any() string {
	names := d.files()
	return names[d.r.IntN(len(names))]
}

// put writes a file, or removes it, and remembers how it was.
func (d *drift) put(name string, src []byte) {
	before, err := os.ReadFile(name)
	there := err == nil
	if src == nil {
		err = os.Remove(name)
	} else {
		err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, src, 0o644))
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.undo = append(d.undo, func() error {
		if there {
			return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, before, 0o644))
		}
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (d *drift) read(name string) []byte {
	src, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}
	return src
}

// step changes one thing and says what.
func (d *drift) step() string {
	switch d.r.IntN(12) {
	case 0, 1, 2:
		name := d.any()
		src := bytes.Clone(d.read(name))
		at := d.r.IntN(len(src))
		src[at] = "0aZ\" {"[d.r.IntN(6)]
		d.put(name, src)
		return fmt.Sprintf("turn byte %d of %s", at, name)
	case 3:
		name := d.any()
		src := bytes.ReplaceAll(d.read(name), []byte("true"), []byte("false"))
		d.put(name, src)
		return "turn what is true in " + name
	case 4:
		name := d.any()
		d.put(name, nil)
		return "remove " + name
	case 5:
		from, to := d.any(), d.any()
		name := filepath.Join(filepath.Dir(to), "new-"+filepath.Base(from))
		d.put(name, d.read(from))
		return "copy " + from + " to " + name
	case 6:
		lines := []string{"severity: {RPL010: error}\n", "strict: true\n", "limits: {max_depth: 9}\n",
			"waivers:\n  - {pack: ctxpack.claims-00001, rule: RPL010, reason: it is known, owner: ada, expires: 2026-05-10}\n"}
		line := lines[d.r.IntN(len(lines))]
		d.put(".packgate.yaml", append(bytes.Clone(d.read(".packgate.yaml")), line...))
		return "add to the config " + line
	case 7:
		d.h.now = d.h.now.AddDate(0, 0, 1-d.r.IntN(3))
		return "on " + d.h.now.String()
	case 8:
		return "with " + strings.Join(d.choose(), " ")
	case 9:
		d.h.version = []string{"v1.2.3", "v1.2.4"}[d.r.IntN(2)]
		return "by " + d.h.version
	default:
		if len(d.undo) == 0 {
			return "nothing"
		}
		last := len(d.undo) - 1
		if err := d.undo[last](); err != nil {
			d.t.Fatal(err)
		}
		d.undo = d.undo[:last]
		return "take the last edit back"
	}
}

// choose chooses the flags of the runs.
func (d *drift) choose() []string {
	choices := [][]string{nil, {"--strict"}, {"--base", "HEAD"}, {"--base", "HEAD~1"}, {"--base", "HEAD", "packs"}, {"--fail-on", "warning"}}
	d.args = choices[d.r.IntN(len(choices))]
	return d.args
}

// Whatever changes, a run that may take what earlier runs have kept says what a run says
// that gates everything.
func TestCachedIsUncached(t *testing.T) {
	hits := 0
	for seed := range uint64(2) {
		generated(t, 2)
		commit(t)
		revise(t)
		commit(t)
		d := &drift{t: t, r: rand.New(rand.NewPCG(seed, 11)), h: newHousehold(t)}
		var story []string
		for range 14 {
			story = append(story, d.step())
			args := append([]string{"--format", "json"}, d.args...)
			want := d.h.prints(t, append([]string{"check", "--no-cache"}, args...)...)
			for _, what := range []string{"first", "second"} {
				out, n := d.h.writes(t, args...)
				if out != want {
					t.Fatalf("seed %d, after\n%s\nthe %s cached run prints\n%s\nwanted\n%s", seed, strings.Join(story, "\n"), what, out, want)
				}
				if n == 0 && strings.Contains(out, `"gates"`) {
					hits++
				}
				if n > 0 && what == "second" {
					t.Errorf("seed %d, after\n%s\nthe second run gates %d packs again", seed, strings.Join(story, "\n"), n)
				}
			}
		}
	}
	if hits < 20 { // the second runs, but those over a config that is not valid
		t.Errorf("only %d runs took everything from earlier ones", hits)
	}
}
