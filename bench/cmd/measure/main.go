// Command measure prints what packgate check takes on repositories of several
// sizes, as Markdown tables.
//
//	go run ./bench/cmd/measure
//	go run ./bench/cmd/measure --sizes 1,100,1000,10000
//	go run ./bench/cmd/measure --overlays 1
//	go run ./bench/cmd/measure --sizes 100 --runs 5 --most 1.1 compare REVISION
//	go run ./bench/cmd/measure floor DIR
//
// It is to be run in the root of packgate's module. 10,000 packs take gigabytes of
// disk and much time, and are measured only where they are asked for. With --overlays every
// nth pack has an overlay. Compare builds
// another revision too, has both check the same packs in turns, and fails where this one
// takes more CPU than the most that is said. The last form is the floor that check is
// measured against: it reads, parses, canonicalises and hashes the files of a folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/bench/throughput"
)

// options are what the command was given.
type options struct {
	sizes    string
	seed     uint64
	overlays int
	runs     int
	most     float64
}

func main() {
	var o options
	flag.StringVar(&o.sizes, "sizes", "1,100,1000", "`numbers` of packs, smallest first")
	flag.Uint64Var(&o.seed, "seed", 1, "of the generator")
	flag.IntVar(&o.overlays, "overlays", 0, "every `nth` pack has an overlay, 0 for none")
	flag.IntVar(&o.runs, "runs", 5, "`number` of runs of each build, of which the one with the least CPU counts")
	flag.Float64Var(&o.most, "most", 1.1, "`times` the CPU of the base that compare lets pass")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, o options) error {
	if len(args) == 2 && args[0] == "floor" {
		_, _, err := throughput.Floor(args[1])
		return err
	}
	revision := ""
	switch {
	case len(args) == 2 && args[0] == "compare":
		revision = args[1]
	case len(args) > 0:
		return fmt.Errorf("the arguments are %q, wanted none, compare REVISION, or floor DIR", args)
	}
	var packs []int
	for _, s := range strings.Split(o.sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("--sizes has %q, wanted numbers above 0 with commas between", s)
		}
		packs = append(packs, n)
	}
	temp, err := os.MkdirTemp("", "packgate-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if revision != "" {
		return compare(ctx, temp, revision, packs, o)
	}
	programs, err := throughput.Build(ctx, ".", temp)
	if err != nil {
		return err
	}
	var all []throughput.Figures
	for _, n := range packs {
		f, err := throughput.Measure(ctx, programs, temp, throughput.Repository{Seed: o.seed, Packs: n, Overlays: o.overlays})
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	return throughput.Markdown(os.Stdout, all)
}

// compare compares this build with another one.
func compare(ctx context.Context, temp, revision string, packs []int, o options) error {
	if len(packs) != 1 || o.runs < 1 {
		return fmt.Errorf("--sizes has %d numbers and --runs is %d, wanted one number and at least one run", len(packs), o.runs)
	}
	c, err := throughput.Compare(ctx, temp, throughput.Contest{
		Repository: throughput.Repository{Seed: o.seed, Packs: packs[0], Overlays: o.overlays}, Module: ".", Revision: revision, Runs: o.runs,
	})
	if err != nil {
		return err
	}
	if err := c.Markdown(os.Stdout); err != nil {
		return err
	}
	if c.Ratio() > o.most {
		return fmt.Errorf("a check takes %.2f times the CPU that it takes at %s, more than the %.2f that --most lets pass", c.Ratio(), revision, o.most)
	}
	return nil
}
