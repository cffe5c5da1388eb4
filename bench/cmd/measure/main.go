// Command measure prints what packgate check takes on repositories of several
// sizes, as Markdown tables.
//
//	go run ./bench/cmd/measure
//	go run ./bench/cmd/measure --sizes 1,100,1000,10000
//	go run ./bench/cmd/measure floor DIR
//
// It is to be run in the root of packgate's module. 10,000 packs take gigabytes of
// disk and much time, and are measured only where they are asked for. The last form
// is the floor that check is measured against: it reads, parses, canonicalises and
// hashes the files of a folder.
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

func main() {
	sizes := flag.String("sizes", "1,100,1000", "`numbers` of packs, smallest first")
	seed := flag.Uint64("seed", 1, "of the generator")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), *sizes, *seed)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, sizes string, seed uint64) error {
	switch {
	case len(args) == 2 && args[0] == "floor":
		_, _, err := throughput.Floor(args[1])
		return err
	case len(args) > 0:
		return fmt.Errorf("the arguments are %q, wanted none, or floor DIR", args)
	}
	var packs []int
	for _, s := range strings.Split(sizes, ",") {
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
	programs, err := throughput.Build(ctx, ".", temp)
	if err != nil {
		return err
	}
	var all []throughput.Figures
	for _, n := range packs {
		f, err := throughput.Measure(ctx, programs, temp, seed, n)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	return throughput.Markdown(os.Stdout, all)
}
