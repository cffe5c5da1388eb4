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

// progress says how far long work is, in one line of a terminal that is written
// over and erased in the end. The zero value says nothing.
type progress struct {
	out   io.Writer // nil for nowhere
	now   func() time.Time
	last  time.Time // of the last line, or of the beginning
	shown bool
}

// newProgress returns the progress of a command that prints a report for a person:
// none where nobody sees it, or where the terminal cannot write over a line.
func newProgress(env *Env, o output) progress {
	if !env.ErrTerminal || o.quiet || o.format != "terminal" || env.Getenv("TERM") == "dumb" {
		return progress{}
	}
	return progress{out: env.Stderr, now: env.Now}
}

// start begins to count the time, so that short work shows nothing.
func (p *progress) start() {
	if p.out != nil {
		p.last = p.now()
	}
}

// gated says that so many packs were gated, if it is time to.
func (p *progress) gated(done, of int) {
	if p.out == nil || of < progressFrom {
		return
	}
	now := p.now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.out, "\r\x1b[Kgated %d of %d packs", done, of)
}

// done erases the line.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
