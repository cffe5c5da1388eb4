// Package policy is the model of a pack's policy layer and of what it decides
// about: rules with their outcomes, decisions, approval gates, the capabilities of
// the tool registry, and the intents that a request can have. References are
// followed and conditions compiled once, and everything that reasons about a pack
// asks this model: the compiler, proofs, gates, comparisons and generators.
//
// A model is made of any pack that could be read. What is not valid in it is said
// by Fault and, for a rule or a gate, by a nil condition: the compiler refuses such
// a pack for every request, and gates leave out only what is concerned.
package policy
