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
// # Proof
//
// What policies permit is not judged by how a change looks. A condition may move
// from one rule into another, a rule may be split, a deny may make up for an allow
// that became wider. So the two packs are compared as wholes (package proof), and
// what was gained and lost, each with a request that shows it, is given to the
// changes that can have caused it: those that speak of the same intent, decision,
// tool or gate, and first of all those that make a difference in that request. A
// change about what is permitted to which nothing is given is patch; where less is
// permitted it is minor, where more is, major. Its row of the table is for what
// cannot be proved, such as arithmetic over two variables, and for packs that do
// not compile; then the reason says so. A row that says reject is never lowered.
// Nothing that is gained is lost on the way: what no change explains goes to the
// nearest ones, so that the class is never below what is proved of the whole. The
// one exception is the contract's own: a new tool that only reads is minor.
//
// Evidence that outcomes ask for is no matter of what is permitted, and is followed
// beside it: a rule that goes while nothing else asks for its evidence, where its
// decision is allowed still, is major. Conditions of eligibility have
// rows of their own, by what is proved of the two conditions alone. All other bounds and lists are
// compared as values: a number that was raised, an item that was taken away.
package diffing
