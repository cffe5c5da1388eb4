// Package surface says what the step between two versions of a pack does to what
// an agent can reach, and to what holds it back.
//
// The tool surface is the set of rows (intent, tool, effective mode, gates,
// argument bounds) that a version can surface at all (tool surface; compiler, C4).
// It is read off each version statically, by proof and not by trying requests, and
// once more for every golden case from its compile. Compare holds the two surfaces
// against one another. Whether a row grew is not seen in the row alone: the same
// gate with another condition, the same tool behind another rule look as before.
// So the effects of the whole packs, which package proof compares, are brought
// to the row that they are about, with the request that shows them.
//
// Guardrails hold back what no row shows: what is to be refused, redacted,
// forgotten, asked first. Loosened picks out of a comparison what weakens one of
// them, since a version may be called major and still nobody may have meant that.
package surface
