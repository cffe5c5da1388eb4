package github

import "github.com/contextosai/packgate/finding/fault"

// The kinds of failure a caller may want to tell apart with errors.Is. Every
// error of this package that has a kind is a *fault.Error.
var (
	// ErrNotActions: the runner's variables are missing, so this is not a job of
	// GitHub Actions, or one with a stripped environment.
	ErrNotActions = fault.NewKind("not run by GitHub Actions", "run it in a job of GitHub Actions, or use packgate check")
	// ErrRefused: the event is one that packgate must not run on.
	ErrRefused = fault.NewKind("event refused", "run it on pull_request, push or merge_group")
	// ErrUnknownEvent: the event is one that packgate has no work for.
	ErrUnknownEvent = fault.NewKind("event not supported", "run it on pull_request, push or merge_group")
	// ErrPayload: the event payload could not be read or says something impossible.
	ErrPayload = fault.NewKind("event payload not usable", "run the job again, and look at what sets GITHUB_EVENT_PATH where that does not help")
	// ErrNoRepository: there is no git repository at or above the folder.
	ErrNoRepository = fault.NewKind("no git repository", "run it inside a git repository")
	// ErrUnsupported: the repository uses a format or an extension that cannot
	// be read here.
	ErrUnsupported = fault.NewKind("git repository format not supported", "use a plain SHA-1 repository, as actions/checkout makes it")
	// ErrIncomplete: the repository is a partial clone, in which an absent file
	// cannot be told from a file that never was.
	ErrIncomplete = fault.NewKind("partial clone", "check out without a filter")
	// ErrUnknownRevision: no commit goes by that name.
	ErrUnknownRevision = fault.NewKind("unknown revision", "name a commit, a branch or a tag of this clone, or fetch it first")
	// ErrBaseUnreadable: a version that should exist could not be read.
	ErrBaseUnreadable = fault.NewKind("base version not readable", "fetch the commit that is compared with, for example with fetch-depth: 0")
	// ErrTooLarge: a payload or a file is larger than its bound.
	ErrTooLarge = fault.NewKind("too large", "make it smaller, or divide it")
)
