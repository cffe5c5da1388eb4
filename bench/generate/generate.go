// Package generate writes pack repositories of any size for measurements: packs
// of realistic sizes with their golden cases and snapshots, an environment catalog
// and a config. Every pack passes the gates without an error.
//
// The same seed gives the same bytes, and a pack depends on the seed and its own
// number alone, so that a larger repository begins with the smaller one.
package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"github.com/contextosai/packgate/repo"
	"golang.org/x/sync/errgroup"
)

// CasesPerPack is how many golden cases each pack has.
const CasesPerPack = 5

// The sizes of pack files that are aimed at, in bytes: within these bounds, spread
// like the sizes of files that people write, with a long tail above the median. A
// pack ends with a whole decision, so that the smallest have about 8 KiB, and the
// others a part of a decision more than was aimed at.
const (
	smallest = 4 << 10
	median   = 12 << 10
	largest  = 64 << 10
	spread   = 0.65 // standard deviation of the logarithm
)

// config is the repository's .packgate.yaml.
const config = `version: 1
packs:
  - packs/*/pack.json
environments:
  - environments/*.json
compile:
  tokenizer: estimate
`

// Write writes a repository with that many packs into a folder, which is made
// where it is not there. What is in the folder already is not removed.
func Write(dir string, seed uint64, packs int) error {
	if err := write(dir, repo.ConfigName, []byte(config)); err != nil {
		return err
	}
	if err := writeCatalog(dir, "prod"); err != nil {
		return err
	}
	return each(packs, 1, func(number int) error { return writePack(dir, seed, number, 1) })
}

// Overlays writes an overlay beside every nth pack of a repository that Write has written
// with the same seed, and the catalog of the environment that it is for. The first one is
// that of pack 0.
func Overlays(dir string, seed uint64, packs, nth int) error {
	if nth < 1 {
		return fmt.Errorf("every %dth pack was to have an overlay, wanted a number above 0", nth)
	}
	if err := writeCatalog(dir, staging); err != nil {
		return err
	}
	return each(packs, nth, func(number int) error {
		s := newShape(seed, number, 1)
		if _, err := s.pack(); err != nil {
			return err
		}
		return writeOverlay(dir, s)
	})
}

// Revise writes the next version of every nth pack of a repository that Write
// has written with the same seed: a bound is tightened, a text is changed, and the
// version is raised to 1.1.0, in the overlay too where there is one. The first one is
// pack 0. It returns how many it wrote.
func Revise(dir string, seed uint64, packs, nth int) (int, error) {
	if nth < 1 {
		return 0, fmt.Errorf("every %dth pack was to be revised, wanted a number above 0", nth)
	}
	revised := (packs + nth - 1) / nth
	return revised, each(packs, nth, func(number int) error { return writePack(dir, seed, number, 2) })
}

// each calls do for every nth number below a bound, several at once.
func each(below, nth int, do func(int) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for number := 0; number < below; number += nth {
		group.Go(func() error {
			if err := do(number); err != nil {
				return fmt.Errorf("pack %d: %w", number, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// PackFile returns the name of a pack's file in a repository of the seed,
// relative to its root.
func PackFile(seed uint64, number int) string {
	return "packs/" + newShape(seed, number, 1).name() + "/pack.json"
}

func writePack(dir string, seed uint64, number, revision int) error {
	s := newShape(seed, number, revision)
	if revision > 1 {
		first := newShape(seed, number, 1)
		if _, err := first.pack(); err != nil {
			return err
		}
		s.want = len(first.decisions)
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	for name, src := range files {
		if err := write(dir, "packs/"+s.name()+"/"+name, src); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "packs", s.name(), overlay)); err != nil {
		return nil // it has none
	}
	return writeOverlay(dir, s)
}

func writeCatalog(dir, environment string) error {
	src, err := file(catalog(environment))
	if err != nil {
		return err
	}
	return write(dir, "environments/"+environment+".json", src)
}

// overlay is the name of a pack's overlay in its folder.
const overlay = "overlays/" + staging + ".json"

func writeOverlay(dir string, s *shape) error {
	src, err := file(s.overlay())
	if err != nil {
		return err
	}
	return write(dir, "packs/"+s.name()+"/"+overlay, src)
}

func write(dir, name string, src []byte) error {
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, src, 0o644)
}

// shape is what a pack is made from.
type shape struct {
	*rand.Rand
	number, revision int
	domain           domain
	size             int // of the pack file, in bytes, that is aimed at
	intents          int
	want             int // decisions, where the size does not say how many
	decisions        []*decision
}

// newShape draws a pack. Revisions of one pack differ in what they say and in
// nothing that was drawn.
func newShape(seed uint64, number, revision int) *shape {
	s := &shape{Rand: rand.New(rand.NewPCG(seed, uint64(number))), number: number, revision: revision}
	s.domain = domains[s.IntN(len(domains))]
	size := median * math.Exp(spread*s.NormFloat64())
	s.size = int(min(max(size, smallest), largest))
	switch {
	case s.size < median/2:
		s.intents = 1
	case s.size < median:
		s.intents = 1 + s.IntN(2)
	case s.size < 2*median:
		s.intents = 2 + s.IntN(2)
	default:
		s.intents = 3 + s.IntN(3)
	}
	return s
}

func (s *shape) name() string { return fmt.Sprintf("%s-%05d", s.domain.name, s.number) }

func (s *shape) id() string { return "ctxpack." + s.name() }

func (s *shape) version() string { return fmt.Sprintf("1.%d.0", s.revision-1) }

// some returns between least and most of the words, in an order of their own.
func (s *shape) some(words []string, least, most int) []string {
	n := least + s.IntN(most-least+1)
	picked := make([]string, 0, n)
	for _, i := range s.Perm(len(words))[:n] {
		picked = append(picked, words[i])
	}
	return picked
}

func (s *shape) one(words []string) string { return words[s.IntN(len(words))] }
