package publish

import (
	"fmt"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// verifyCases are the ways in which a version can be right or wrong.
var verifyCases = []struct {
	name   string
	build  func(w *world) (ref string)
	status Status
	kind   ReasonKind // of a reason; "" for none at all
}{
	{"usable", func(w *world) string { w.publish(candidate("1.0.0", "")); return "1.0.0" }, Usable, ""},
	{"absent", func(w *world) string { return "1.0.0" }, Untrusted, ReasonNotPublished},
	{"absent beside others", func(w *world) string { w.publish(candidate("1.0.0", "")); return "1.0.1" }, Untrusted, ReasonNotPublished},
	{"absent digest", func(w *world) string { w.publish(candidate("1.0.0", "")); return fakeDigest("x") }, Untrusted, ReasonNotPublished},
	{"unsigned", func(w *world) string { w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0"); return "1.0.0" }, Untrusted, ReasonUnsigned},
	{"signed by a stranger", func(w *world) string {
		w.plant(candidate("1.0.0", ""), signerOf(w.t, "stranger"), "content", "1.0.0")
		return "1.0.0"
	}, Untrusted, ReasonOtherSigner},
	{"garbage for a bundle", func(w *world) string {
		a := w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0")
		_, err := w.repo().Attach(w.t.Context(), a, registry.Attachment{Type: registry.BundleType, Content: []byte("garbage")})
		w.must(err)
		return "1.0.0"
	}, Untrusted, ReasonOtherSigner},
	{"signed statement of another version", func(w *world) string {
		other := w.plant(candidate("1.1.0", ""), nil)
		a := w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0")
		w.attach(a, w.statement(candidate("1.1.0", ""), other), w.signer)
		return "1.0.0"
	}, Untrusted, ReasonSubject},
	{"signed statement of another manifest", func(w *world) string {
		a := w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0")
		about := *a
		about.Digest = fakeDigest("manifest")
		w.attach(a, w.statement(candidate("1.0.0", ""), &about), w.signer)
		return "1.0.0"
	}, Untrusted, ReasonSubject},
	{"signed statement of other bytes", func(w *world) string {
		a := w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0")
		about := *a
		about.ContentDigest = fakeDigest("content")
		w.attach(a, w.statement(candidate("1.0.0", ""), &about), w.signer)
		return "1.0.0"
	}, Untrusted, ReasonSubject},
	{"a state alone is no signature", func(w *world) string {
		a := w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0")
		w.attach(a, w.stateOf(a, statement.StateDeprecated), w.signer)
		return "1.0.0"
	}, Untrusted, ReasonUnsigned},
	{"tag moved to unsigned bytes", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.plant(candidate("1.0.0", "other"), nil, "1.0.0")
		return "1.0.0"
	}, Untrusted, ReasonMoved},
	{"tag moved, asked by digest", func(w *world) string {
		digest := w.publish(candidate("1.0.0", "")).Digest
		w.plant(candidate("1.0.0", "other"), nil, "1.0.0")
		return digest
	}, Usable, ReasonMoved},
	{"tag moved, asked by tag and digest", func(w *world) string {
		digest := w.publish(candidate("1.0.0", "")).Digest
		w.plant(candidate("1.0.0", "other"), nil, "1.0.0")
		return ":1.0.0@" + digest
	}, Untrusted, ReasonMoved},
	{"tag moved, asked by the digest that nobody signed", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		return w.plant(candidate("1.0.0", "other"), nil, "1.0.0").Digest
	}, Untrusted, ReasonUnsigned},
	{"content tag moved, asked by digest", func(w *world) string {
		r := w.publish(candidate("1.0.0", ""))
		other := w.plant(candidate("1.0.0", "other"), nil)
		w.must(w.repo().Tag(w.t.Context(), other.Digest, registry.ContentTag("1.0.0", r.Digest)))
		return r.Digest
	}, Usable, ReasonMoved},
	{"two signed digests, asked by one of them", func(w *world) string {
		w.plant(candidate("1.0.0", "other"), w.signer, "content")
		return w.plant(candidate("1.0.0", ""), w.signer, "content", "1.0.0").Digest
	}, Untrusted, ReasonConflict},
	{"deprecated, and its tag moved, asked by digest", func(w *world) string {
		digest := w.publish(candidate("1.0.0", "")).Digest
		w.change(w.publisher().Deprecate, "1.0.0")
		w.plant(candidate("1.0.0", "other"), nil, "1.0.0")
		return digest
	}, Deprecated, ReasonMoved},
	{"revoked, and its tag moved, asked by digest", func(w *world) string {
		digest := w.publish(candidate("1.0.0", "")).Digest
		w.change(w.publisher().Revoke, "1.0.0")
		w.plant(candidate("1.0.0", "other"), nil, "1.0.0")
		return digest
	}, Revoked, ReasonMoved},
	{"tag moved to another version", func(w *world) string {
		old := w.publish(candidate("1.0.0", ""))
		w.publish(candidate("1.1.0", ""))
		w.must(w.repo().Tag(w.t.Context(), old.Digest, "1.1.0"))
		return "1.1.0"
	}, Untrusted, ReasonVersion},
	{"content tag moved", func(w *world) string {
		r := w.publish(candidate("1.0.0", ""))
		other := w.plant(candidate("1.0.0", "other"), nil)
		w.must(w.repo().Tag(w.t.Context(), other.Digest, registry.ContentTag("1.0.0", r.Digest)))
		return "1.0.0"
	}, Untrusted, ReasonMoved},
	{"two signed digests", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.plant(candidate("1.0.0", "other"), w.signer, "content")
		return "1.0.0"
	}, Untrusted, ReasonConflict},
	{"two signed digests, the tag on the second", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.plant(candidate("1.0.0", "other"), w.signer, "1.0.0")
		return "1.0.0"
	}, Untrusted, ReasonConflict},
	{"a second digest that nobody signed", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.plant(candidate("1.0.0", "other"), nil, "content")
		return "1.0.0"
	}, Usable, ""},
	{"two signed digests, one revoked", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		other := w.plant(candidate("1.0.0", "other"), w.signer, "content")
		w.attach(other, w.stateOf(other, statement.StateRevoked), w.signer)
		return "1.0.0"
	}, Usable, ""},
	{"two signed digests, the tagged one revoked", func(w *world) string {
		r := w.publish(candidate("1.0.0", ""))
		a, err := w.repo().Pull(w.t.Context(), r.Digest)
		w.must(err)
		other := w.plant(candidate("1.0.0", "other"), w.signer, "content")
		w.attach(a, w.stateOf(a, statement.StateRevoked), w.signer)
		return other.Digest
	}, Usable, ReasonUntagged},
	{"not tagged yet", func(w *world) string { w.plant(candidate("1.0.0", ""), w.signer, "content"); return "1.0.0" }, Untrusted, ReasonNotPublished},
	{"not tagged yet, asked by digest", func(w *world) string {
		return w.plant(candidate("1.0.0", ""), w.signer, "content").Digest
	}, Usable, ReasonUntagged},
	{"no content tag", func(w *world) string { w.plant(candidate("1.0.0", ""), w.signer, "1.0.0"); return "1.0.0" }, Usable, ReasonUnlisted},
	{"pack of another name inside", func(w *world) string {
		c := candidate("1.0.0", "")
		c.Content = content("ctxpack.sales", "1.0.0", "")
		w.plant(c, w.signer, "content", "1.0.0")
		return "1.0.0"
	}, Untrusted, ReasonVersion},
	{"no pack inside", func(w *world) string {
		c := candidate("1.0.0", "")
		c.Content = []byte("no pack")
		w.plant(c, w.signer, "content", "1.0.0")
		return "1.0.0"
	}, Untrusted, ReasonForeign},
	{"deprecated", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.change(w.publisher().Deprecate, "1.0.0")
		return "1.0.0"
	}, Deprecated, ReasonState},
	{"revoked", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.change(w.publisher().Revoke, "1.0.0")
		return "1.0.0"
	}, Revoked, ReasonState},
	{"deprecated and revoked", func(w *world) string {
		w.publish(candidate("1.0.0", ""))
		w.change(w.publisher().Deprecate, "1.0.0")
		w.change(w.publisher().Revoke, "1.0.0")
		return "1.0.0"
	}, Revoked, ReasonState},
	{"revoked by a stranger", func(w *world) string {
		r := w.publish(candidate("1.0.0", ""))
		a, err := w.repo().Pull(w.t.Context(), r.Digest)
		w.must(err)
		w.attach(a, w.stateOf(a, statement.StateRevoked), signerOf(w.t, "stranger"))
		return "1.0.0"
	}, Usable, ReasonOtherSigner},
	{"revocation of ours that was changed", func(w *world) string {
		w.spoil(w.published("1.0.0"), statement.TypeState, "found wanting", "found nothing")
		return "1.0.0"
	}, Untrusted, ReasonSignature},
	{"revocation of ours that was made a deprecation", func(w *world) string {
		w.spoil(w.published("1.0.0"), statement.TypeState, "revoked", "deprecated")
		return "1.0.0"
	}, Untrusted, ReasonSignature},
	{"revocation of ours that cannot be read", func(w *world) string {
		w.spoil(w.published("1.0.0"), statement.TypeState, "{", "")
		return "1.0.0"
	}, Untrusted, ReasonSignature},
	{"revocation of ours that was changed beside one that holds", func(w *world) string {
		w.spoil(w.published("1.0.0"), statement.TypeState, "found wanting", "found nothing")
		w.change(w.publisher().Revoke, "1.0.0")
		return "1.0.0"
	}, Revoked, ReasonSignature},
	{"pin of ours that was changed", func(w *world) string {
		w.spoil(w.published("1.0.0"), statement.TypePin, "prod", "test")
		return "1.0.0"
	}, Usable, ReasonSignature},
	{"revocation of another version", func(w *world) string {
		other := w.plant(candidate("1.1.0", ""), nil)
		r := w.publish(candidate("1.0.0", ""))
		a, err := w.repo().Pull(w.t.Context(), r.Digest)
		w.must(err)
		w.attach(a, w.stateOf(other, statement.StateRevoked), w.signer)
		return "1.0.0"
	}, Usable, ReasonSubject},
	{"too many content tags, asked by digest", func(w *world) string {
		r := w.publish(candidate("1.0.0", ""))
		for i := range digestLimit + 1 {
			w.must(w.repo().Tag(w.t.Context(), r.Digest, fmt.Sprintf("1.0.0-%012x", i)))
		}
		return r.Digest
	}, Usable, ReasonTooMany},
	{"too many content tags", func(w *world) string {
		r := w.publish(candidate("1.0.0", ""))
		for i := range digestLimit + 1 {
			w.must(w.repo().Tag(w.t.Context(), r.Digest, fmt.Sprintf("1.0.0-%012x", i)))
		}
		return "1.0.0"
	}, Untrusted, ReasonTooMany},
}
