package gating

import (
	"bytes"
	"path"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
)

// Evaluators makes what checks that scorecards are signed by an identity. The root is the
// trusted root of a private Sigstore, and nil for the public instance.
type Evaluators func(id repo.Identity, root []byte) (gate.Evaluator, error)

// evaluator is who has to have signed the scorecards of a workspace.
type evaluator struct {
	gate.Evaluator        // nil where nobody has to, or nobody can tell
	root           []byte // nil for the public instance's, and where it cannot be read
}

// untold is an evaluator of whom it cannot be told what it signed.
type untold struct{ error }

// Signed returns why it cannot be told.
func (u untold) Signed(_, _ []byte) error { return u.error }

// TakeEvaluators has the signatures of scorecards checked, where the config names who signs
// them: against the trusted root that is in force with the config, so that no change brings
// the one that it is judged by. What is wrong with that is said of each signature.
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

// rootFiles returns the files that the trusted root in force is one of.
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

// repeatable reports whether the signatures of scorecards would be judged alike by
// whoever has the same files: the root of the public instance is none of them.
func (w *Workspace) repeatable() bool {
	return !w.Config.Evaluator.Workflow.OK || w.evaluator.root != nil
}

// subject returns a pack with the catalogs that it is held against, as rules look at it.
func (w *Workspace) subject(u *repo.Unit, environments []*repo.Environment) *gate.Subject {
	s := gate.NewSubject(u, environments, w.Config)
	s.Evaluator = w.evaluator.Evaluator
	return s
}

// rerooted returns the member of the config that names the trusted root, where the change
// has another file of that name: whose signatures count may be anybody then.
func (in Inputs) rerooted(own *repo.Config) []repo.ConfigChange {
	name := own.Publish.TrustedRoot
	if in.inForce.files == nil || !name.OK || name.Value != in.Config.Publish.TrustedRoot.Value {
		return nil // of another name the config itself differs
	}
	was, wasErr := in.inForce.files.TrustedRoot(in.Config)
	is, isErr := in.Files.TrustedRoot(own)
	if (wasErr == nil) == (isErr == nil) && bytes.Equal(was, is) {
		return nil
	}
	return []repo.ConfigChange{{Path: "publish.trusted_root", Node: name.Node, Now: true, Looser: true}}
}
