// Package overlay puts what environments change over a pack.
//
// An overlay is a list of settings: a keyed path, and the value that takes the
// place of the one there. It exists so that one published pack can call other
// endpoints, speak another language and be held to tighter numbers in staging than
// in production. It is not a second way to write a pack: a setting replaces one
// string or number by another at a place that the package lists, and everything
// else is refused, with the reason. So a resolved pack has the values, the lines
// and the names of its base, and a place in one is a place in the other.
//
// A setting that is refused is not applied. A View says which ones those are, and
// ForCase gives no view at all where there is one: a golden case that was compiled
// against half an overlay would say nothing about the whole.
//
// Overlays of one environment are applied in their order, lower first, those that
// state none after those that do, and by their ids where that leaves it open. What
// is set last counts.
package overlay
