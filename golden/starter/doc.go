// Package starter writes a first set of golden cases for a pack, so that its
// author begins with all of the policy covered and edits from there.
//
// What there is to show is what the replay gate counts: every rule, every else
// branch, every approval gate. Each is put to the solver as a statement about one
// request; the smallest request that it finds is made into a case, compiled, and
// taken only if the compile shows what it was made for. One request often shows
// several things, so of all that were found the fewest are kept.
//
// Beside these, every intent gets a request that is allowed, one that is denied
// and one that needs an approval, as far as there are such requests; one whose
// safety mode keeps the strongest tool away; one whose evidence does not fit its
// bucket; and one that stops because a variable is missing.
//
// What no request reaches is returned with the reason, and so is what was not
// looked at: a pack that is made to need many proofs gets fewer cases, and is told.
//
// The package does no I/O, and its result depends on its arguments alone.
package starter
