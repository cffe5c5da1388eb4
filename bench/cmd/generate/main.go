// Command generate writes a pack repository for measurements.
//
//	go run ./bench/cmd/generate DIR N SEED
//	go run ./bench/cmd/generate --overlays 4 DIR N SEED
//	go run ./bench/cmd/generate --revise 20 DIR N SEED
//
// The first form writes N packs, and the second one an overlay beside every 4th of them as
// well. The last one writes the next version of every 20th pack of a repository that one of
// the others has written.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/contextosai/packgate/bench/generate"
)

func main() {
	revise := flag.Int("revise", 0, "write the next version of every `nth` pack")
	overlays := flag.Int("overlays", 0, "write an overlay beside every `nth` pack")
	flag.Parse()
	if err := run(flag.Args(), *revise, *overlays); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(2)
	}
}

func run(args []string, revise, overlays int) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, wanted DIR N SEED", len(args))
	}
	packs, err := strconv.Atoi(args[1])
	if err != nil || packs < 1 {
		return fmt.Errorf("the number N is %q, wanted how many packs to write, above 0", args[1])
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return fmt.Errorf("the seed is %q, wanted a whole number", args[2])
	}
	if revise != 0 {
		_, err := generate.Revise(args[0], seed, packs, revise)
		return err
	}
	if err := generate.Write(args[0], seed, packs); err != nil || overlays == 0 {
		return err
	}
	return generate.Overlays(args[0], seed, packs, overlays)
}
