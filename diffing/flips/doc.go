// Package flips finds requests that are decided otherwise by the head of a pack
// than by its base, and shows each such flip with a small request.
//
// A proof says that something grew. A person who has to approve the change asks:
// which request, and what happens to it now? So every golden case is run through
// both versions; and around each threshold that changed, a request is made with
// the value just below, at and just above it, without the value, and with one of
// the wrong type. All else of these requests comes from the golden cases, from the
// requests that the proof found, and from the empty request.
//
// A flip is what was seen, not what was proved: each was compiled in both
// versions. That there is none says only that none was found; what holds for all
// requests is proved in package proof.
//
// The requests are made small before they are shown: only what conditions read is
// kept, and of that what the flip needs.
package flips
