package surface

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/rogpeppe/go-internal/txtar"
)

// A case is a txtar archive: a sentence, a script "base" that makes the base of
// the documented support pack (without it, the pack itself), a script "edit"
// that makes the head of the base, and what is wanted. UPDATE=1 rewrites "want".

// versions are the two packs of a case.
type versions struct{ base, head *pack.Pack }

func runFolder(t *testing.T, name string, render func(*testing.T, versions, map[string]string) string) {
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", name, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(archive.Comment)) == "" {
				t.Error("the case does not say what it is about")
			}
			sections := map[string]string{}
			for _, f := range archive.Files {
				sections[f.Name] = string(f.Data)
			}
			base := edited(t, gatetest.Support(), sections["base"])
			v := versions{read(t, base), read(t, edited(t, base, sections["edit"]))}
			casefile.Want(t, file, archive, render(t, v, sections))
		})
	}
}

func edited(t testing.TB, src []byte, script string) []byte {
	t.Helper()
	out, err := edittest.Apply(src, script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, src []byte) *pack.Pack {
	t.Helper()
	doc, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return pack.New(doc)
}

func support(t testing.TB, script string) *pack.Pack {
	t.Helper()
	return read(t, edited(t, gatetest.Support(), script))
}

// compare compares two versions with all that the effects say of them.
func compare(base, head *pack.Pack, cases []compiles.Case) *Diff {
	was, is := proof.New(base), proof.New(head)
	return Compare(was, is, proof.Compare(was, is, jsonlogic.Solver{}), cases)
}

// TestSurface runs cases of rows that differ. A section "compiles" has golden
// cases: a name, and the tools that it gains (+), loses (-) and has otherwise (~);
// a question mark says that the base could not be compiled.
func TestSurface(t *testing.T) {
	runFolder(t, "surface", func(t *testing.T, v versions, sections map[string]string) string {
		return renderSurface(compare(v.base, v.head, goldens(sections["compiles"])))
	})
}

func goldens(section string) (cases []compiles.Case) {
	for line := range strings.Lines(section) {
		name, tools, _ := strings.Cut(strings.TrimSpace(line), ":")
		c := compiles.Case{Name: name, Intent: "support.refund"}
		c.Base.Outcome, c.Head.Outcome = compiler.Compiled, compiler.Compiled
		for _, tool := range strings.Fields(tools) {
			switch tool[0] {
			case '+':
				c.Added = append(c.Added, tool[1:])
			case '-':
				c.Removed = append(c.Removed, tool[1:])
			case '~':
				c.Changed = append(c.Changed, tool[1:])
			case '?':
				c.Base.Outcome = ""
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func renderSurface(d *Diff) string {
	var b strings.Builder
	if d.Reason != "" {
		fmt.Fprintf(&b, "not compared: %s\n", d.Reason)
	}
	for _, c := range d.Changes {
		open := ""
		if c.Open {
			open = " OPEN"
		}
		fmt.Fprintf(&b, "%s %s %s: %s%s\n", c.Kind, c.Intent, c.Capability, c.Verdict, open)
		for i, r := range []*Row{c.Base, c.Head} {
			if r != nil {
				fmt.Fprintf(&b, "  %s: %s from %s gates %q bounds %s ungated %s\n", [...]string{"base", "head"}[i],
					r.Mode, r.Sessions, r.Gates, pack.CompactJSON(r.Bounds), pack.CompactJSON(r.Ungated))
			}
		}
		for _, a := range c.Aspects {
			fmt.Fprintf(&b, "  %s %s: %s, %q -> %q %s %s %s\n", a.What, a.Name, a.Verdict, a.Old, a.New, a.Words, pack.CompactJSON(a.Witness), a.Reason)
		}
		fmt.Fprintf(&b, "  witness %s\n", pack.CompactJSON(c.Witness))
		if len(c.Gained)+len(c.Lost)+len(c.Moved) > 0 {
			fmt.Fprintf(&b, "  cases gained %q lost %q moved %q\n", c.Gained, c.Lost, c.Moved)
		}
		if c.Reason != "" {
			fmt.Fprintf(&b, "  not proved: %s\n", c.Reason)
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func TestNoBase(t *testing.T) {
	d := Compare(nil, proof.New(support(t, "")), nil, nil)
	if len(d.Head) != 3 || len(d.Base)+len(d.Changes) > 0 || d.Reason != "" {
		t.Errorf("the surface of a new pack is %+v", d)
	}
	for _, r := range d.Head {
		if want := (map[string]pack.ApprovalMode{"adp_payments.issue_refund": pack.Destructive}[r.Capability]); want != "" && r.Sessions != want {
			t.Errorf("%s can be had from safety mode %s on, want %s", r.Capability, r.Sessions, want)
		}
	}
}

// TestBroken holds that a version which cannot be compiled is named, and nothing
// is claimed of it.
func TestBroken(t *testing.T) {
	const condition = "replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/if "
	good, bad := support(t, ""), support(t, condition+`{"nonsense": []}`)
	for side, d := range map[string]*Diff{"base": compare(bad, good, nil), "head": compare(good, bad, nil)} {
		if len(d.Changes) > 0 || !strings.HasPrefix(d.Reason, side+" cannot be compiled: ") {
			t.Errorf("%s: %d changes, %q", side, len(d.Changes), d.Reason)
		}
	}
	if d := Compare(nil, proof.New(bad), nil, nil); d.Reason == "" || d.Head != nil {
		t.Errorf("a broken pack has the surface %+v", d)
	}
}

// TestLaws holds what is so for any two versions: nothing differs from itself,
// what is added one way is removed the other, and a row that shrank one way grew
// the other.
func TestLaws(t *testing.T) {
	scripts := []string{
		"",
		"remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate",
		`replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max 60000`,
		"remove /tooling_layer/permissions/p_orders_lookup",
		`replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000`,
		"replace /tooling_layer/adapter_registry/adp_payments/approval_mode \"network\"",
	}
	for _, from := range scripts {
		for _, to := range scripts {
			there, back := compare(support(t, from), support(t, to), nil), compare(support(t, to), support(t, from), nil)
			if from == to && len(there.Changes) > 0 {
				t.Errorf("%q differs from itself: %+v", from, there.Changes)
			}
			if len(there.Changes) != len(back.Changes) {
				t.Fatalf("%q to %q has %d changes, and back %d", from, to, len(there.Changes), len(back.Changes))
			}
			for i, c := range there.Changes {
				o := back.Changes[i]
				if c.Capability != o.Capability || c.Kind == diffing.Added && o.Kind != diffing.Removed {
					t.Errorf("%q to %q: %s %s, and back %s %s", from, to, c.Kind, c.Capability, o.Kind, o.Capability)
				}
				if c.Verdict == proof.Shrank && !o.Grew() {
					t.Errorf("%q to %q: %s shrank, and back %s", from, to, c.Capability, o.Verdict)
				}
			}
		}
	}
}

// TestWithoutEffects holds that where nothing is known of the effects no change
// of gates or bounds is taken for harmless.
func TestWithoutEffects(t *testing.T) {
	base, head := support(t, ""), support(t, "replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max 40000")
	whole := []proof.Change{{Intent: "support.refund", Kind: proof.Whole, Reason: "too many rules"}}
	d := Compare(proof.New(base), proof.New(head), whole, nil)
	if len(d.Changes) != 1 || d.Changes[0].Verdict != proof.Undecided {
		t.Errorf("the changes are %+v", d.Changes)
	}
}

func TestStarved(t *testing.T) {
	p := support(t, "")
	poor := version{p, proof.ReachOf(proof.New(p), jsonlogic.Solver{Steps: 1})}
	d := versus(&poor, poor, nil, nil)
	if len(d.Head) == 0 || slices.ContainsFunc(d.Head, func(r Row) bool { return r.Proved && r.Reach == nil }) {
		t.Errorf("without steps the rows are %+v", d.Head)
	}
}

// TestMutants compares the documented pack with packs that one small change makes
// of it, and back: nothing breaks, and twice says the same. Every eighth mutant is
// enough; the changes are of a few kinds.
func TestMutants(t *testing.T) {
	base, seen, all := support(t, ""), 0, 0
	gatetest.Mutants(t, func(src []byte) {
		if all++; all%8 != 0 {
			return
		}
		doc, _ := pack.Read("pack.json", src, pack.DefaultLimits())
		head := pack.New(doc)
		if head == nil {
			return
		}
		seen++
		for _, v := range []versions{{base, head}, {head, base}} {
			first, second := renderSurface(compare(v.base, v.head, nil)), renderSurface(compare(v.base, v.head, nil))
			if first != second {
				t.Errorf("one comparison says\n%s\nand then\n%s", first, second)
			}
			if d, err := diffing.Compare(v.base, v.head, nil); err == nil {
				Loosened(d)
			}
		}
	})
	if seen == 0 {
		t.Error("there are no mutants")
	}
}
