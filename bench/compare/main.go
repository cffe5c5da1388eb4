// Command compare measures packgate against the pipeline that one would glue
// together without it: ajv for the schema, conftest with Rego for bindings and
// risks, json-logic-js for the golden cases, jsondiffpatch for what changed.
//
//	cd bench/compare && go run . [--packs 100] [--runs 5] [--seed 1]
//
// Both work on the same generated repository, of which every 20th pack has
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
	steps, err := t.pipeline(dir)
	if err != nil {
		return err
	}
	taken, err := measure(ctx, append(steps, t.check(dir)), runs)
	if err != nil {
		return err
	}
	return print(w, steps, taken, packs, runs)
}

// measure runs all steps in turns and returns what each took. The last row is
// packgate, the one before it the sum of the others.
func measure(ctx context.Context, steps []step, runs int) ([]usage, error) {
	all := make([][]usage, len(steps)+1)
	for range runs {
		var sum usage
		for i, s := range steps {
			o, err := run(ctx, s)
			if err != nil {
				return nil, err
			}
			if o.found {
				return nil, fmt.Errorf("%s found faults in packs without any:\n%s", s.name, o.output)
			}
			if i == len(steps)-1 {
				all[i] = append(all[i], sum)
				all[i+1] = append(all[i+1], o.usage)
				continue
			}
			sum.add(o.usage)
			all[i] = append(all[i], o.usage)
		}
	}
	medians := make([]usage, len(all))
	for i, list := range all {
		medians[i] = usage{median(list, func(u usage) time.Duration { return u.cpu }), median(list, func(u usage) time.Duration { return u.wall }), median(list, func(u usage) int64 { return u.memory })}
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

func print(w io.Writer, steps []step, taken []usage, packs, runs int) error {
	fmt.Fprintf(w, "%d packs, every %dth changed since the base; medians of %d runs.\n\n", packs, nth, runs)
	fmt.Fprint(w, "| | CPU s | time s | memory MiB | CPU to packgate | time to packgate | memory to packgate |\n|---|---:|---:|---:|---:|---:|---:|\n")
	own := taken[len(taken)-1]
	for i, u := range taken {
		name := "packgate check --base"
		switch {
		case i < len(steps):
			name = steps[i].name
		case i == len(steps):
			name = "pipeline together"
		}
		_, err := fmt.Fprintf(w, "| %s | %.2f | %.2f | %.0f | %.2f | %.2f | %.2f |\n", name, u.cpu.Seconds(), u.wall.Seconds(), float64(u.memory)/(1<<20),
			u.cpu.Seconds()/own.cpu.Seconds(), u.wall.Seconds()/own.wall.Seconds(), float64(u.memory)/float64(own.memory))
		if err != nil {
			return err
		}
	}
	return nil
}
