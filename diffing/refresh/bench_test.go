package refresh_test

import (
	"fmt"
	"testing"

	"github.com/contextosai/packgate/diffing/refresh"
)

// BenchmarkTriggers compares two states of 100 packs that share everything, all
// of them changed.
func BenchmarkTriggers(b *testing.B) {
	r := repository(b)
	base, head := files{prod: r[prod], config: r[config]}, files{prod: r[prod], config: r[config]}
	for i := range 100 {
		name := fmt.Sprintf("packs/p%03d/pack.json", i)
		id := replace("/pack_meta/pack_id", fmt.Sprintf(`"ctxpack.p%d"`, i))
		base[name] = edited(b, name, r[support], id)
		head[name] = edited(b, name, r[support], id, replace("/policy_layer/policy_bundles/POLICY_RETURNS_V4/priority", fmt.Sprint(i)))
	}
	from, to := base.state(b), head.state(b)
	for b.Loop() {
		if n := len(refresh.Triggers(from, to)); n != 100 {
			b.Fatalf("%d triggers, wanted one for each pack", n)
		}
	}
}
