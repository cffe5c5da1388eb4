package publish

import (
	"bytes"
	"encoding/json"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// published returns a version of the support pack that this publishes.
func (w *world) published(version string) *registry.Artifact {
	w.t.Helper()
	a, err := w.repo().Pull(w.t.Context(), w.publish(candidate(version, "")).Digest)
	w.must(err)
	return a
}

// spoil attaches what the trusted key signed, with one text of the statement replaced by another:
// as somebody does who may write to the registry.
func (w *world) spoil(a *registry.Artifact, kind, old, by string) {
	w.t.Helper()
	about := statement.Version{Pack: nameOf(a.Pack, a.Version), Manifest: a.Digest, Content: a.ContentDigest}
	source, err := w.stateOf(a, statement.StateRevoked), error(nil)
	switch kind {
	case statement.TypePin:
		source, err = statement.Pin{Move: statement.Move{Version: about, Environment: "prod", Actor: "ann", Time: noon}}.Statement()
	case statement.TypeSummary:
		source = w.statement(candidate(a.Version, ""), a)
	}
	w.must(err)
	bundle, err := w.signer.Sign(w.t.Context(), source)
	w.must(err)
	var tree map[string]any
	w.must(json.Unmarshal(bundle, &tree))
	if !bytes.Contains(source, []byte(old)) {
		w.t.Fatalf("the statement has no %q", old)
	}
	tree["dsseEnvelope"].(map[string]any)["payload"] = bytes.Replace(source, []byte(old), []byte(by), 1)
	bundle, err = json.Marshal(tree)
	w.must(err)
	_, err = w.repo().Attach(w.t.Context(), a, registry.Attachment{Type: registry.BundleType, Content: bundle})
	w.must(err)
}
