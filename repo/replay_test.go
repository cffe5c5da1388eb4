package repo

import (
	"os"
	"path/filepath"
	"testing"
)

// The files of a replay are typed, each packet knows its side file, and in a
// shared folder what is about another pack is left to it.
func TestReplayFiles(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"a.pack.json":                   `{"pack_meta": {"pack_id": "a", "pack_version": "1.0.0"}}`,
		"b.pack.json":                   `{"pack_meta": {"pack_id": "b", "pack_version": "1.0.0"}}`,
		"replay/rp_1.packet.json":       `{"replay_packet_id": "rp_1", "context_pack_ref": "a@1.0.0", "expected": {"properties": ["tool:x.y", 7]}}`,
		"replay/rp_1.meta.json":         `{"compiler": "c"}`,
		"replay/rp_2.packet.json":       `{"context_pack_ref": "b@1.0.0"}`,
		"replay/rp_3.packet.json":       `{"context_pack_ref": "c@1.0.0"}`,
		"replay/rp_4.packet.json":       `[]`,
		"replay/lost.meta.json":         `{"compiler": "c"}`,
		"replay/dr_1.record.json":       `{"record_id": "dr_1", "outputs": {"outcome": "approved"}, "approvals": [{"gate_id": "G"}]}`,
		"replay/dr_2.record.json":       `{"lineage": {"pack_version": "b@2.0.0"}}`,
		"tool-surface.json":             `{"surface": [{"intent": "i", "arg_constraints": {"amount": {"max": 5}}}]}`,
		"replay/rp_5.packet.json.draft": `{}`,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	u, err := files.Unit("a.pack.json", DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Packets) != 2 || u.Packets[0].ReplayPacketID.Value != "rp_1" || u.Packets[1].ContextPackRef.Value != "c@1.0.0" {
		t.Fatalf("the packets are %+v", u.Packets)
	}
	if p := u.Packets[0]; p.Meta == nil || p.Meta.Compiler.Value != "c" || len(p.Expected.Properties.Items) != 2 || p.Expected.Properties.Items[1].OK {
		t.Errorf("the packet is %+v", p)
	}
	if u.Packets[1].Meta != nil || len(u.Metas) != 2 {
		t.Errorf("the metas are %+v", u.Metas)
	}
	if len(u.Records) != 1 || u.Records[0].Outputs.Outcome.Value != "approved" || u.Records[0].Approvals.Items[0].GateID.Value != "G" {
		t.Errorf("the records are %+v", u.Records)
	}
	row := u.Surface.Surface.Items[0]
	if bound, ok := row.ArgConstraints.Get("amount"); !ok || bound.Max.Value != 5 {
		t.Errorf("the row is %+v", row)
	}
	if len(u.Files) != 7 {
		t.Errorf("%d files belong to the pack", len(u.Files))
	}
}
