// Command compare measures packgate against the pipeline that one would glue
// together without it: ajv for the schema, conftest with Rego for bindings and
// risks, json-logic-js for the golden cases, jsondiffpatch for what changed.
//
//	cd bench/compare && go run . [--packs 100] [--runs 5] [--seed 1]
//
// It also measures, each by itself, the tools that one would pick in its place: ajv-cli,
// spectral, cue, conftest and buf. Then it plants faults, and prints which of them each
// tool finds with the rules that are written here for it.
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
	var o options
	flag.IntVar(&o.packs, "packs", 100, "how many packs the repository has")
	flag.IntVar(&o.runs, "runs", 5, "how often everything is run")
	flag.Uint64Var(&o.seed, "seed", 1, "of the generator")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := compare(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

const nth = 20 // of the packs are changed

// options are what the command line sets.
type options struct {
	packs, runs int
	seed        uint64
}

// compare measures everything and prints what came out.
func compare(ctx context.Context, w io.Writer, o options) error {
	if o.packs < 1 || o.runs < 1 {
		return fmt.Errorf("%d packs and %d runs, wanted both above 0", o.packs, o.runs)
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
	if err := t.repository(ctx, dir, o.packs, o.seed); err != nil {
		return err
	}
	packs, err := packsOf(dir)
	if err != nil {
		return err
	}
	all := t.contenders(dir, packs)
	taken, err := measure(ctx, all, o.runs)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d packs, every %dth changed since the base; medians of %d runs.\n\n", o.packs, nth, o.runs)
	if err := print(w, all, taken); err != nil {
		return err
	}
	steps := append(t.single(dir, packs), t.check(dir))
	found, err := finds(ctx, dir, packs[len(packs)-1], steps)
	if err != nil {
		return err
	}
	return printFinds(w, steps, found)
}

// contender is one way to do the work: processes, one after the other.
type contender struct {
	name  string
	steps []step
}

// own is the name of the contender that the others are compared with.
const own = "packgate check --base"

// contenders returns the tools alone and the pipeline, each in both forms, and packgate
// without a cache and with one, which its first run fills.
func (t *tools) contenders(dir string, packs []string) (all []contender) {
	kept := t.check(dir)
	kept.args = append(slices.DeleteFunc(slices.Clone(kept.args), func(arg string) bool { return arg == "--no-cache" }), "--cache", t.built("kept"))
	kept.env = []string{"XDG_CONFIG_HOME=" + t.built("settings")}
	single, pipeline := t.single(dir, packs), t.pipeline(dir, packs)
	for _, s := range together(single) {
		all = append(all, contender{s.name + ", one process", []step{s}})
	}
	for _, s := range loop(single) {
		all = append(all, contender{s.name + ", a process for each pack", []step{s}})
	}
	return append(all, contender{"pipeline, a process for each tool", pipeline},
		contender{"pipeline, a process for each tool and pack", loop(pipeline)},
		contender{own, []step{t.check(dir)}},
		contender{own + ", unchanged since the last run", []step{kept}})
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

func print(w io.Writer, all []contender, taken [][]usage) error {
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
