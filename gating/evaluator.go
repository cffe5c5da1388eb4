package gating

import (
	"bytes"
	"path"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
)

// Evaluators returns what checks that scorecards are signed by an identity. The root is the trusted
// root of a private Sigstore, as its JSON file, and nil for the public instance.
type Evaluators func(id repo.Identity, root []byte) (gate.Evaluator, error)

// evaluator checks who signed the scorecards of a workspace.
type evaluator struct {
	gate.Evaluator        // nil if they need not be signed, or signatures are not checked
	root           []byte // nil for that of the public instance, and if it cannot be read
}

// untold is an evaluator that cannot tell whether anything is signed.
type untold struct{ error }

// Signed returns why it cannot be told.
func (u untold) Signed(_, _ []byte) error { return u.error }

// TakeEvaluators sets how the signatures of scorecards are checked, if the config names who signs them:
// against the trusted root that is in force with the config, so that a change cannot bring the root
// that it is judged by. If that root cannot be used, each signature is reported as not verifiable.
func (w *Workspace) TakeEvaluators(make Evaluators) {
	w.evaluator = evaluator{}
	if make == nil || !w.Config.Evaluator.Workflow.OK {
		return
	}
	root, err := w.rootFiles().TrustedRoot(w.Config)
	if err == nil {
		w.evaluator.root = root
		w.evaluator.Evaluator, err = make(w.Config.Evaluator, root)
	}
	if err != nil {
		w.evaluator.Evaluator = untold{err}
	}
}

// rootFiles returns the files among which the trusted root in force is.
func (w *Workspace) rootFiles() *repo.Files {
	if w.inForce != nil && w.inForce.files != nil {
		return w.inForce.files
	}
	return w.Files
}

// isTrustedRoot reports whether a name is that of the trusted root, by which signatures of
// scorecards are verified.
func (w *Workspace) isTrustedRoot(name string) bool {
	return w.Config.Publish.TrustedRoot.OK && name == path.Clean(w.Config.Publish.TrustedRoot.Value)
}

// repeatable reports whether the same files always give the same verdict on the signatures of
// scorecards: the root of the public instance is not one of the files, and changes.
func (w *Workspace) repeatable() bool {
	return !w.Config.Evaluator.Workflow.OK || w.evaluator.root != nil
}

// subject returns a pack with the catalogs that it is checked against, as rules look at it.
func (w *Workspace) subject(u *repo.Unit, environments []*repo.Environment) *gate.Subject {
	s := gate.NewSubject(u, environments, w.Config)
	s.Evaluator = w.evaluator.Evaluator
	return s
}

// rerooted returns the member of the config that names the trusted root, if the change has another file
// of that name: then it may decide whose signatures count.
func (in Inputs) rerooted(own *repo.Config) []repo.ConfigChange {
	name := own.Publish.TrustedRoot
	if in.inForce.files == nil || !name.OK || name.Value != in.Config.Publish.TrustedRoot.Value {
		return nil // if the names differ, so do the configs
	}
	was, wasErr := in.inForce.files.TrustedRoot(in.Config)
	is, isErr := in.Files.TrustedRoot(own)
	if (wasErr == nil) == (isErr == nil) && bytes.Equal(was, is) {
		return nil
	}
	return []repo.ConfigChange{{Path: "publish.trusted_root", Node: name.Node, Now: true, Looser: true}}
}
