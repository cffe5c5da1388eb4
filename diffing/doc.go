// Package diffing compares two versions of a pack, the base and the head, and
// says what the step between them means for those who use the pack.
//
// It works in three steps with plain data between them. First, what differs:
// both packs are brought into their keyed form, in which items stand under
// their identities and sets under their values, so that order and formatting do
// not show; the differences are gathered into units that mean something to a
// reader, such as a rule that was added, one bound of a target, one condition.
// Second, what it means: each unit is looked up in the class table, which is
// data (Table) and the only place in which classes are given. Third, what
// follows: the highest class is held against the step of pack_version.
//
// The class table follows the Context Pack contract: patch is metadata only,
// minor is constrained behaviour, major is expanded or changed behaviour, and
// reject is what no version can carry. The first row that matches decides, so
// special cases stand before general ones. Where the public text is silent or
// ambiguous the stricter class is taken, the change is marked as one that needs
// a person's class, and the config may settle it with a reason; reject is never
// lowered. What the table does not mention is major.
//
// Bounds and lists are compared structurally: a number that was raised, an item
// that was taken away. A condition is not: one that is not the same expression
// is major, because it is not proved that it permits no more than before.
package diffing
