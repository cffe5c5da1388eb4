package cli

import (
	"fmt"
	"io"
	"time"
)

// progressFrom is of how many packs on a terminal says how far the work is, and
// progressEvery the time between two such lines.
const (
	progressFrom  = 21
	progressEvery = 100 * time.Millisecond
)

// progress says how far long work is, in a line of a terminal that is erased in the end.
type progress struct {
	out   io.Writer
	now   func() time.Time
	last  time.Time // of the last line, or of the beginning
	shown bool
}

// newProgress returns the progress of a command that prints a report for a person:
// nil where nobody sees it, or where the terminal cannot write over a line.
func newProgress(env *Env, o output) func(done, of int) {
	if !env.ErrTerminal || o.quiet || o.format != "terminal" || env.Getenv("TERM") == "dumb" {
		return nil
	}
	return (&progress{out: env.Stderr, now: env.Now}).gated
}

// gated prints how many packs were gated, if it is time to. The time counts from the
// beginning, so that short work prints nothing.
func (p *progress) gated(done, of int) {
	switch now := p.now(); {
	case done == 0:
		p.last = now
	case done == of && p.shown:
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	case done < of && of >= progressFrom && now.Sub(p.last) >= progressEvery:
		p.last, p.shown = now, true
		fmt.Fprintf(p.out, "\r\x1b[Kgated %d of %d packs", done, of)
	}
}
