// Package compiles compares what the golden cases of a pack compile to in two
// versions of the pack, the base and the head.
//
// A class says how much a change may disturb; this says what the model, the
// runtime and the person who approves will see of it. Each case is compiled for
// both versions from the same request. What differs is listed by the parts that
// a reader knows: a block of the prompt, a tool, a control, the tokens of a
// bucket. Parts are told apart by what they are about, the rule or the tool, and
// not by their number, so that a rule that is put in front of the others is one
// new block and not a change of all.
//
// For each part the changes of the pack are named that it came from. They are
// found along the trace of both compiles: a policy block comes from its rule, a
// tool from its adapter and permissions and from the rules that let it in, a
// gate from its condition and from what names it. A part may come from several
// changes. Where no change explains it, none is named.
//
// Overlays, evidence, memory and the environment's catalog are those of the
// head for both versions: the case is about the pack, and these stay the same.
package compiles
