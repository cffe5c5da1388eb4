// Package jsonlogic gives the JsonLogic expressions of a Context Pack their one
// meaning: whether a rule fires and whether an approval gate is raised.
// Whatever reads a condition asks this package, so that the compiler, the gates
// and a proof can never disagree about it.
//
// # Compiled once
//
// Compile checks an expression against the profile and turns it into a tree
// whose paths are split and whose literal lists are indexed. It reports every
// problem of the expression at its place; only an expression without problems
// can be evaluated. What a compiled expression reads is therefore known without
// running it: paths are literal, and so are the keys of "missing".
//
// # Three values
//
// JsonLogic as commonly implemented answers every question: a missing amount
// counts as zero, "42" is greater than "3000", a number equals the text that
// looks like it. A policy must not rest on such answers, and implementations do
// not even agree on them. Here an expression is true, false or unknown, and
// unknown never permits anything. It arises where an operator meets an operand
// that it would have to coerce: ordering and arithmetic on anything but numbers,
// loose equality across types, a search in something that is neither a list nor
// a text, a division by zero, an overflow.
//
// From there it spreads as little as it may. "and", "or", "!" and "if" follow
// Kleene's tables, so that a definite operand decides where it can; comparisons
// and arithmetic over an unknown operand are unknown. Each unknown keeps its
// Cause: the operator, the variable and the place.
//
// A missing variable and null are the same definite value for equality, for
// "in" and for the list operators: absence is a fact that a policy may ask for.
//
// # The reference
//
// Whatever is definite here equals the result of the reference implementation,
// json-logic-js 2.0.5. testdata/reference holds its answers to several thousand
// generated expressions, and a test compares. Where the reference would reach
// into JavaScript itself (a path such as "user.constructor"), the value is
// unknown.
//
// # Proof
//
// Solve decides whether there is a request for which a statement about
// expressions holds: that a rule fires, that two do, that one does where another
// does not. It cuts the values of each variable into the finitely many regions
// that the conditions tell apart, asks the evaluator what they give in each, and
// searches the combinations. Numbers are ordered there by propositions of their own,
// so that hundreds of limits of one variable need no search. So a proof rests on the
// same semantics as a compile. What it claims is certain: that there is no such
// request, or one that was confirmed by evaluation. What it cannot decide it says.
//
// # Bounds
//
// Evaluation is bounded in steps and in memory, does no I/O and keeps no state,
// so it also runs in a browser. A Budget is an account of steps that the evaluations
// and proofs of a run share, under a context that can end them.
package jsonlogic
