package publish

import (
	"fmt"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// BenchmarkVerifyInALargeStatus verifies one version where the publisher's status has the states of
// 10,000: with the roots loaded, by the memory of the newest status, from a folder.
func BenchmarkVerifyInALargeStatus(b *testing.B) {
	w := freshWorld(b, worldOf(b, nil, "oci:./registry", b.TempDir()))
	w.publish(candidate("1.0.0", ""))
	s := w.newestStatus()
	next := *s.ledger
	next.Sequence++
	for p := range 100 {
		states := map[string]string{}
		for v := range 100 {
			states[fakeDigest(fmt.Sprint(p, v))] = statement.StateRevoked
		}
		next.Packs[fmt.Sprintf("ctxpack.p%d", p)] = statement.PackLedger{Head: statement.Head{Sequence: 1, Digest: fakeDigest("1")}, States: states, Pins: map[string]*statement.PinLedger{}}
	}
	document, err := next.Document()
	w.must(err)
	bundle, err := w.signer.Sign(b.Context(), statusSource(b, &next, document))
	w.must(err)
	repo, err := w.reg.Status()
	w.must(err)
	stamp := w.sign(w.stamper, statement.Timestamp{
		Subject: statement.Subject{Name: next.Registry, Digest: next.Status(document).Digest}, Sequence: next.Sequence, Issued: w.now(), Expires: w.now().Add(DefaultExpiry)})
	manifest, err := repo.PushObject(b.Context(), &registry.Object{Type: registry.TimestampType, Layers: []registry.Layer{
		{Type: registry.BundleType, Content: stamp}, {Type: registry.StatusType, Content: document}, {Type: registry.BundleType, Content: bundle}}})
	w.must(err)
	w.must(repo.Tag(b.Context(), manifest, timestampTag(w.world.checker().Verifier.Name())))
	c := w.checker()
	ref := w.ref("1.0.0")
	for b.Loop() {
		v, err := c.Verify(b.Context(), ref, nil)
		if err != nil || v.Status != Usable || v.Freshness.Sequence != next.Sequence {
			b.Fatalf("%+v, %v", v, err)
		}
	}
	b.ReportMetric(float64(len(document)), "status-bytes")
}
