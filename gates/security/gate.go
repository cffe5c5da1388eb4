// Package security is the security gate: what has no place in a pack is not in it.
//
// A pack is signed, published, cached by every runtime that uses it, and kept as
// long as anybody may ask what an agent was told. So a secret in it has leaked,
// personal data in it cannot be erased, and text in it that nobody sees is read by
// a model all the same. SEC001 and SEC002 look at the files beside the pack as
// well: golden cases and replay records are where real data come in.
//
// The rules are of three kinds. SEC001, SEC002, SEC005, SEC006, SEC011 and SEC012
// look for things by their shape, in every text; the detectors are in
// internal/detect. SEC003, SEC004, SEC008 and SEC009 read one member each, whose
// wrong value opens a door. SEC007 and SEC010 are about what a model or a customer
// is made to read.
//
// No message holds the secret that it is about: of a secret at most four
// characters are shown, of personal data two. Places are named so, too, since the
// items of a set are named by their own text.
package security

import "github.com/contextosai/packgate/gates/gate"

// Gate is the security gate.
var Gate = &gate.Gate{
	ID:    "security",
	Title: "Security",
	About: "No secret, no personal data, no hidden text, no code.",
	Rules: []*gate.Rule{
		SEC001, SEC002, SEC003, SEC004, SEC005, SEC006,
		SEC007, SEC008, SEC009, SEC010, SEC011, SEC012,
	},
}
