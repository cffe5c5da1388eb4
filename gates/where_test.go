package gates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// environmentsOf returns environments with their pins, as "name", or "name=pack_id,pack_id" for
// one that states its pins.
func environmentsOf(t *testing.T, list string) (all []*repo.Environment) {
	t.Helper()
	for _, one := range strings.Fields(list) {
		name, ids, stated := strings.Cut(one, "=")
		src := fmt.Sprintf(`{"environment": %q`, name)
		if stated {
			var pins []string
			for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
				pins = append(pins, fmt.Sprintf(`%q: "1.0.0"`, id))
			}
			src += `, "pins": {` + strings.Join(pins, ", ") + "}"
		}
		e, err := repo.ParseEnvironment("environments/"+name+".json", []byte(src+"}"), pack.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// Whose errors count: those of the environments in which the pack is pinned, by the head or by
// the base, whatever a change does to pins, names and catalogs.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		name, head, base, faulty string
		ids                      []string
		want                     string // the environments that count
	}{
		{"nobody says where packs run", "prod staging", "prod staging", "staging", []string{"p"}, "prod staging"},
		{"no environment at all", "", "", "", []string{"p"}, ""},
		{"pinned in staging alone", "prod= staging=p", "prod= staging=p", "prod", []string{"p"}, "staging"},
		{"an environment that says nothing beside one that does", "prod staging=p", "prod staging=p", "prod", []string{"p"}, "staging"},
		{"the change pins it", "prod=p staging=p", "prod= staging=p", "prod", []string{"p"}, "prod staging"},
		{"the change takes the pin away", "prod= staging=p", "prod=p staging=p", "prod", []string{"p"}, "prod staging"},
		{"the change takes all pins away", "prod staging", "prod=p staging", "prod", []string{"p"}, "prod"},
		{"the change moves the pin", "prod= staging=p", "prod=p staging=", "prod", []string{"p"}, "prod staging"},
		{"the environment gets another name", "production= staging=p", "prod=p staging=p", "production", []string{"p"}, "production staging"},
		{"its catalog is deleted", "staging=", "prod=p staging=", "staging", []string{"p"}, "staging"},
		{"the pack gets another id", "prod=old staging=", "prod=old staging=", "prod", []string{"new", "old"}, "prod"},
		{"pinned nowhere, and one environment could run it", "prod=q staging=", "prod=q staging=", "prod", []string{"p"}, ""},
		{"pinned nowhere, and none could run it", "prod=q staging=", "prod=q staging=", "prod staging", []string{"p"}, "prod staging"},
		{"a pack without an id", "prod=q staging=", "", "prod staging", []string{""}, "prod staging"},
	} {
		var found []finding.Finding
		for _, name := range strings.Fields(c.faulty) {
			found = append(found, finding.Finding{Rule: "REF017", Severity: finding.Error, Environment: name})
		}
		head := environmentsOf(t, c.head)
		verdicts := WhereOf(head, environmentsOf(t, c.base), c.ids...).verdicts(head, found)
		var counts []string
		for _, v := range verdicts {
			if v.Counts {
				counts = append(counts, v.Environment)
			}
			if faulty := strings.Contains(" "+c.faulty+" ", " "+v.Environment+" "); v.Fails != faulty || (v.Errors > 0) != faulty {
				t.Errorf("%s: the verdict is %+v", c.name, v)
			}
		}
		if got := strings.Join(counts, " "); got != c.want {
			t.Errorf("%s: %q count, want %q", c.name, got, c.want)
		}
	}
}

// An error of an environment that does not count is said as a warning; one of the pack itself,
// one that is excused and one of an environment that counts are what they are.
func TestNotPinnable(t *testing.T) {
	head := environmentsOf(t, "prod=p staging=")
	found := []finding.Finding{
		{Rule: "REF017", Severity: finding.Error, Environment: "staging", Key: "staging", Message: "it is not there"},
		{Rule: "REF017", Severity: finding.Error, Environment: "prod", Key: "prod"},
		{Rule: "SEC001", Severity: finding.Error},
		{Rule: "REF014", Severity: finding.Warning, Environment: "staging"},
		{Rule: "TEN007", Severity: finding.Error, Environment: "staging", Waived: &finding.Waiver{}},
	}
	for _, c := range []struct {
		where Where
		want  string
	}{
		{WhereOf(head, nil, "p"), "ENV001 warning, REF017 error, SEC001 error, REF014 warning, TEN007 error"},
		{Where{}, "REF017 error, REF017 error, SEC001 error, REF014 warning, TEN007 error"},
		{PinningIn("staging"), "REF017 error, ENV001 warning, SEC001 error, REF014 warning, TEN007 error"},
	} {
		verdicts := c.where.verdicts(head, found)
		var got []string
		for _, f := range (Policy{}).pinnable(found, verdicts) {
			got = append(got, f.Rule+" "+f.Severity.String())
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%+v: %q, want %q", c.where, got, c.want)
		}
		if !verdicts[0].Fails || !verdicts[1].Fails {
			t.Errorf("the pack can be pinned in spite of its own error: %+v", verdicts)
		}
	}
}
