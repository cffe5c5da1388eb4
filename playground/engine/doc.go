// Package engine is what the playground of the HTML report computes: a pack compiled
// for a request that a reader puts together, beside the version that it is compared
// with. It is the compiler and the solver themselves, for a page as they are for the
// command line, so both come to the same context hash.
//
// The package does no I/O and keeps no state but what is prepared once, and so runs
// in a browser.
package engine
