package registry

import "github.com/contextosai/packgate/finding/fault"

// The kinds of failure a caller may want to tell apart with errors.Is. Every error
// of this package is a *fault.Error of one of them.
var (
	// ErrName: a registry, pack_id, tag or reference is written in a way that a
	// registry cannot hold.
	ErrName = fault.NewKind("name not usable", "write the name as REGISTRY/PATH/PACK_ID:VERSION, or PACK_ID@VERSION")
	// ErrNotFound: the repository, tag, manifest or blob is not there.
	ErrNotFound = fault.NewKind("not in the registry", "check the reference; packgate log PACK_ID lists the versions")
	// ErrUnauthorized: the registry wants other credentials, or any at all.
	ErrUnauthorized = fault.NewKind("not authenticated", "log in to the registry")
	// ErrForbidden: the registry knows who asks and does not allow it.
	ErrForbidden = fault.NewKind("not allowed", "ask for the right to do it, or use other credentials")
	// ErrUnavailable: no usable answer after the retries. Asking later may help.
	ErrUnavailable = fault.NewKind("registry not available", "run it again later")
	// ErrContent: what the registry serves is not what was asked for: other bytes
	// than the digest says, more of them than the bound, or no answer of a registry.
	ErrContent = fault.NewKind("registry serves other content", "do not use what the registry serves; ask who runs the registry")
	// ErrForeign: the manifest is whole, and it is not that of a context pack.
	ErrForeign = fault.NewKind("not a context pack", "check the reference: it names something that packgate did not publish")
	// ErrMoved: a tag that was just written names another manifest.
	ErrMoved = fault.NewKind("tag moved", "publish from one job at a time, and run it again")
	// ErrUnsupported: the registry does not offer what was asked for.
	ErrUnsupported = fault.NewKind("not supported by the registry", "ask who runs the registry for it, or name what is intended")
	// ErrRefused: the registry refused a request for another reason.
	ErrRefused = fault.NewKind("refused by the registry", "look at what the registry answered; ask who runs the registry")
	// ErrStorage: the folder of a layout cannot be read or written.
	ErrStorage = fault.NewKind("folder not usable", "check the folder, its owner and the space that is left")
)
