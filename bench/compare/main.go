// Command compare measures packgate against the pipeline that one would glue
// together without it: ajv for the schema, conftest with Rego for bindings and
// risks, json-logic-js for the golden cases, jsondiffpatch for what changed.
//
//	cd bench/compare && go run . [--packs 100] [--runs 5] [--seed 1]
//
// The pipeline is measured in two forms: each tool once over all packs, which takes
// scripts of one's own around the libraries, and each tool once for each pack, which
// is what a loop in a shell, or a job's steps, come to. packgate is measured without a
// cache and once more where nothing has changed since its last run.
//
// All work on the same generated repository, of which every 20th pack has
// changed since the last commit. The pipeline does a part of what packgate does:
// it compiles no context, compares no snapshot, proves nothing about conditions
// and does not classify changes. Runs take turns, and of each the median counts,
// so that what else the machine does touches all alike; the figures to keep are the
// ratios. Figures are for Linux, which counts memory in KiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	packs := flag.Int("packs", 100, "how many packs the repository has")
	runs := flag.Int("runs", 5, "how often everything is run")
	seed := flag.Uint64("seed", 1, "of the generator")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := compare(ctx, os.Stdout, *packs, *runs, *seed)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

const nth = 20 // of the packs are changed

func compare(ctx context.Context, w io.Writer, packs, runs int, seed uint64) error {
	if packs < 1 || runs < 1 {
		return fmt.Errorf("%d packs and %d runs, wanted both above 0", packs, runs)
	}
	folder, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "packgate-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	t, err := install(ctx, folder, temp)
	if err != nil {
		return err
	}
	dir := filepath.Join(temp, "packs")
	if err := t.repository(ctx, dir, packs, nth, seed); err != nil {
		return err
	}
	all, err := t.contenders(dir, temp)
	if err != nil {
		return err
	}
	taken, err := measure(ctx, all, runs)
	if err != nil {
		return err
	}
	return print(w, all, taken, packs, runs)
}

// contender is one way to do the work: processes, one after the other.
type contender struct {
	name  string
	steps []step
}

// own is the name of the contender that the others are compared with.
const own = "packgate check --base"

// contenders returns the pipeline in both forms, and packgate without a cache and
// with one, which its first run fills.
func (t *tools) contenders(dir, temp string) ([]contender, error) {
	together, err := t.pipeline(dir)
	if err != nil {
		return nil, err
	}
	kept := t.check(dir)
	kept.args = append(slices.DeleteFunc(slices.Clone(kept.args), func(arg string) bool { return arg == "--no-cache" }), "--cache", filepath.Join(temp, "kept"))
	kept.settings = filepath.Join(temp, "settings")
	return []contender{
		{"pipeline, a process for each tool", together},
		{"pipeline, a process for each tool and pack", t.loop(together)},
		{own, []step{t.check(dir)}},
		{own + ", unchanged since the last run", []step{kept}},
	}, nil
}

// measure runs all contenders in turns and returns what each of their steps took, and
// behind that what they took together. The first turn is not counted: it fills the
// cache, and the file system's.
func measure(ctx context.Context, all []contender, runs int) ([][]usage, error) {
	taken := make([][][]usage, len(all)) // by contender, step and run
	for i, c := range all {
		taken[i] = make([][]usage, len(c.steps)+1)
	}
	for n := range runs + 1 {
		for i, c := range all {
			var sum usage
			for j, s := range c.steps {
				o, err := run(ctx, s)
				if err != nil {
					return nil, err
				}
				if o.found {
					return nil, fmt.Errorf("%s found faults in packs without any:\n%s", s.name, o.output)
				}
				sum.add(o.usage)
				if n > 0 {
					taken[i][j] = append(taken[i][j], o.usage)
				}
			}
			if n > 0 {
				taken[i][len(c.steps)] = append(taken[i][len(c.steps)], sum)
			}
		}
	}
	medians := make([][]usage, len(all))
	for i := range taken {
		for _, list := range taken[i] {
			medians[i] = append(medians[i], usage{median(list, func(u usage) time.Duration { return u.cpu }),
				median(list, func(u usage) time.Duration { return u.wall }), median(list, func(u usage) int64 { return u.memory })})
		}
	}
	return medians, nil
}

// median returns the middle of what the runs took; of an even number the lower.
func median[T time.Duration | int64](runs []usage, of func(usage) T) T {
	values := make([]T, len(runs))
	for i, u := range runs {
		values[i] = of(u)
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

func print(w io.Writer, all []contender, taken [][]usage, packs, runs int) error {
	fmt.Fprintf(w, "%d packs, every %dth changed since the base; medians of %d runs.\n\n", packs, nth, runs)
	fmt.Fprint(w, "| | CPU s | time s | memory MiB | CPU to packgate | time to packgate | memory to packgate |\n|---|---:|---:|---:|---:|---:|---:|\n")
	at := slices.IndexFunc(all, func(c contender) bool { return c.name == own })
	to := taken[at][len(all[at].steps)]
	row := func(name string, u usage) {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.0f | %.2f | %.2f | %.2f |\n", name, u.cpu.Seconds(), u.wall.Seconds(), float64(u.memory)/(1<<20),
			u.cpu.Seconds()/to.cpu.Seconds(), u.wall.Seconds()/to.wall.Seconds(), float64(u.memory)/float64(to.memory))
	}
	for i, c := range all {
		if len(c.steps) > 1 {
			for j, s := range c.steps {
				row("– "+s.name, taken[i][j])
			}
		}
		row(c.name, taken[i][len(c.steps)])
	}
	_, err := fmt.Fprintln(w)
	return err
}
