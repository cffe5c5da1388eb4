// Package github holds what the GitHub runner tells us and what git knows: the
// event that started the job, and the repository as it was before the change. It
// also holds the client by which results go back.
//
// The gate judges a change, so it needs two versions. The new one is the
// working tree. The old one, the base, is read straight from git objects, never
// from a second checkout, and the rule that shapes this package is that a base
// that should exist and cannot be read is an error. Taking "unreadable" for
// "empty" would turn every pack into a new pack, and a new pack breaks nobody:
// the gate would open exactly when it knows least.
//
// Three things make that harder than it sounds. A checkout on a runner is
// usually one commit deep, so the base is named by the commit but absent from
// the store; it is then fetched by its SHA, once, or read through the API, where
// every folder and file is held against its hash. A partial clone has the
// commit but not the files. To most of git's interfaces an absent blob looks like
// a file that never was, so of its base nothing is taken from it, and without a
// client to get the base with it is refused. And the same pull request
// can be checked out as a merge commit or as its own head; which of the two it
// is decides what the base is, so it is read from HEAD and not assumed.
//
// None of that writes: a base that has to be fetched is kept in memory, and the
// checkout that later steps of the job work with stays as it was.
//
// The third part is the Client, which calls GitHub's REST API: it delivers the
// comment, the suggestions and the check run, and reads what git cannot tell.
// Delivery is not the verdict. Each call ends in bounded time with an error of a
// kind, from which a notice can be made, and a write of which the answer was lost
// is looked up before it is tried again.
//
// The last part is what publishing asks of GitHub: whether a run may sign, its
// identity token, and who approved what it is about to publish. There the rule is
// that nothing counts as approved that was not seen: a team that cannot be read
// leaves its role open.
//
// Paths are repository paths: forward slashes, relative to the root of the
// repository, clean. Names, refs and paths come from whoever opened the pull
// request and are handed on as they are; escaping them is the business of
// whoever prints them.
package github
