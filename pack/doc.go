// Package pack reads Context Packs. It turns bytes into a tree in which every
// name and every value knows where it was written, and the tree into a typed
// pack whose fields lead back to the tree.
//
// The reader is strict once, so that nobody after it has to be: duplicate
// member names, bad UTF-8, byte order marks, half surrogates, trailing data
// and documents beyond the limits are refused at an exact place. What can be
// collected is collected, so that one run shows all of it.
//
// The package also owns the two ways to name a value. A JSON Pointer (RFC
// 6901) counts array items; a keyed path names them by identity
// (/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_X/if) and so stays the
// same when items move. And it owns the canonical form (RFC 8785) and the
// digests made from it.
package pack
