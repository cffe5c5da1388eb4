package detect

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled when it is first tried. Most
// texts are told apart by a keyword before it, so that a run needs few of them, and
// a program that looks at no text none.
type expression struct {
	source   string
	once     sync.Once
	compiled *regexp.Regexp
}

// regexp returns the compiled expression. The sources are constants of this
// package, so one that does not compile is a fault in the program, and a test tries
// all of them.
func (e *expression) regexp() *regexp.Regexp {
	e.once.Do(func() { e.compiled = regexp.MustCompile(e.source) })
	return e.compiled
}
