package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
	"github.com/contextosai/packgate/test/gittest"
)

const waiverBase = "version: 1\nseverity: {RPL006: warning, EVL013: warning}\n"

// waiverRepository is a git repository with one pack and a config, committed on a day.
type waiverRepository struct {
	t   *testing.T
	dir string
}

func newWaiverRepository(t *testing.T) *waiverRepository {
	r := &waiverRepository{t, t.TempDir()}
	src, err := os.ReadFile(filepath.Join(gittest.Example(), "packs", "support", "pack.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "pack.json"), src, 0o644); err != nil {
		t.Fatal(err)
	}
	gittest.Git(t, r.dir, "init", "-q", "-b", "main")
	return r
}

func (r *waiverRepository) config(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, ".packgate.yaml"), []byte(waiverBase+text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *waiverRepository) commit(day, text string) {
	r.t.Helper()
	r.config(text)
	gittest.Git(r.t, r.dir, "add", ".")
	c := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", day)
	c.Dir, c.Env = r.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+day+"T00:00:00Z", "GIT_COMMITTER_DATE="+day+"T00:00:00Z")
	if out, err := c.CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
}

func (r *waiverRepository) run(args ...string) (out, problems string, code int) {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	e := env(&stdout, args...)
	e.Stderr = &stderr
	code = Main(r.t.Context(), e)
	return stdout.String(), stderr.String(), code
}

func waiverOf(rule, pack, expires string) string {
	return "  - {rule: " + rule + ", pack: \"" + pack + "\", reason: pilot, owner: me, expires: " + expires + "}\n"
}

// The day is 2026-05-09. The age of a waiver is that of what it excuses: another name of its
// rule, a pattern for its pack, and a month without it make it no younger.
func TestWaiversAreListed(t *testing.T) {
	r := newWaiverRepository(t)
	r.commit("2024-01-01", "waivers:\n"+waiverOf("SCH005", "ctxpack.support", "2024-03-01"))
	r.commit("2025-12-01", "")
	r.commit("2026-01-01", "waivers:\n"+waiverOf("RSK006", "ctxpack.support", "2026-03-01"))
	r.commit("2026-02-20", "waivers:\n"+waiverOf("RSK006", "ctxpack.support", "2026-04-30"))
	r.commit("2026-03-01", "")
	r.commit("2026-04-01", "waivers:\n"+waiverOf("conditional-gate", "ctxpack.sup*", "2026-05-20")+waiverOf("SCH005", "ctxpack.support", "2026-12-31"))
	r.config("waivers:\n" + waiverOf("conditional-gate", "ctxpack.sup*", "2026-05-20") + waiverOf("SCH005", "ctxpack.support", "2026-12-31") + waiverOf("SCH009", "ctxpack.support", "2026-05-08"))
	out, problems, code := r.run("waivers", r.dir, "--format", "json")
	if code != gating.ExitPass || problems != "" {
		t.Fatalf("exit %d: %s", code, problems)
	}
	var form any
	var list model.Waivers
	if err := json.Unmarshal([]byte(out), &form); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	if violations, err := schemas.Validate("waivers", form); err != nil || len(violations) > 0 {
		t.Fatal(violations, err)
	}
	if len(list.Waivers) != 3 || len(list.NotChecked) != 0 {
		t.Fatalf("%s", out)
	}
	gate, member, gone := list.Waivers[0], list.Waivers[1], list.Waivers[2]
	if gate.Rule != "RSK006" || gate.State != model.WaiverUsed || gate.Findings != 1 || !slices.Equal(gate.Packs, []string{"ctxpack.support"}) ||
		gate.Since != "2026-01-01" || *gate.AgeDays != 128 || gate.Renewals != 2 || gate.DaysLeft != 12 || !gate.EndsSoon || gate.Long {
		t.Errorf("%+v", gate)
	}
	if member.State != model.WaiverUnused || member.Since != "2026-04-01" || member.Renewals != 0 || !member.Long || member.EndsSoon {
		t.Errorf("%+v", member)
	}
	if gone.State != model.WaiverExpired || gone.Since != "" || gone.AgeDays != nil || gone.DaysLeft != 0 {
		t.Errorf("%+v", gone)
	}
}

// What a change may do with waivers is decided by the config of the base.
func TestWaiversOfAChange(t *testing.T) {
	const roles = "reviews: {config: [a], waivers: [b], roles: {a: [mona], b: [lena]}}\n"
	long, good := "waivers:\n"+waiverOf("RSK006", "ctxpack.support", "2099-01-31"), "waivers:\n"+waiverOf("RSK006", "ctxpack.support", "2026-11-05")
	r := newWaiverRepository(t)
	for _, c := range []struct {
		name, base, head string
		code             int
		says             []string
	}{
		{"the last day there is", roles, roles + good, gating.ExitPass, []string{"b needed (ask lena)", "! a needed", "! WVR"}},
		{"too late", roles, roles + long, gating.ExitFindings, []string{"error WVR003", "a waiver ends within 180 days", "write a day until 2026-11-05"}},
		{"a limit that is raised with it", roles, roles + "limits: {max_waiver_days: 3650}\n" + strings.Replace(good, "11-05", "11-06", 1), gating.ExitFindings,
			[]string{"error WVR003", "within 180 days", "a needed (ask mona) for a looser config: limits.max_waiver_days", "b needed"}},
		{"renewed too far", roles + good, roles + long, gating.ExitFindings, []string{"error WVR003"}},
		{"renewed", roles + strings.Replace(good, "11-05", "06-01", 1), roles + good, gating.ExitPass, []string{"b needed (ask lena)", "! WVR"}},
		{"an old one that nobody touches", roles + long, roles + "strict: true\n" + long, gating.ExitPass, []string{"warning WVR003"}},
		{"an old one that is shortened", roles + long, roles + good, gating.ExitPass, []string{"! WVR", "! needed (ask"}},
		{"one that has ended is removed", roles + "waivers:\n" + waiverOf("SCH005", "ctxpack.support", "2026-01-31"), roles, gating.ExitPass, []string{"! WVR", "! needed (ask"}},
		{"one that has ended stays", roles + "waivers:\n" + waiverOf("SCH005", "ctxpack.support", "2026-01-31"), roles + "labels: true\nwaivers:\n" + waiverOf("SCH005", "ctxpack.support", "2026-01-31"), gating.ExitFindings, []string{"error WVR001"}},
		{"an unused one is removed", "waivers:\n" + waiverOf("SCH005", "ctxpack.support", "2026-10-31"), "", gating.ExitPass, []string{"! WVR"}},
		{"an unused pattern", "waivers:\n" + waiverOf("SCH005", "ctxpack.s*", "2026-10-31"), "labels: true\nwaivers:\n" + waiverOf("SCH005", "ctxpack.s*", "2026-10-31"), gating.ExitFindings, []string{"error WVR002", `"ctxpack.s*" excuses nothing`}},
		{"a pattern that is used", "waivers:\n" + waiverOf("RSK006", "*support", "2026-10-31"), "labels: true\nwaivers:\n" + waiverOf("RSK006", "*support", "2026-10-31"), gating.ExitPass, []string{"! WVR", "waived"}},
		{"a pattern of all packs", "", "waivers:\n" + waiverOf("RSK006", "ctxpack.*", "2026-10-31"), gating.ExitUse, []string{`the pattern "ctxpack.*" matches every pack`}},
		{"a pattern for what is of one pack", "", "waivers:\n  - {rule: RPL014, pack: \"ctxpack.s*\", of: a, reason: r, owner: o, expires: 2026-10-31}\n", gating.ExitUse, []string{"is for one thing of one pack"}},
		{"a pattern for no pack", "", "waivers:\n" + waiverOf("RSK006", "ctxpack.x*", "2026-10-31"), gating.ExitUse, []string{"! RSK006 conditional-gate waived", `the waiver is for the pack "ctxpack.x*", which is not in this repository`}},
		{"a rule without waivers", "", "waivers:\n" + waiverOf("CFG001", "ctxpack.support", "2026-10-31"), gating.ExitUse, []string{"CFG001 cannot be waived"}},
		{"who approves waivers", roles, strings.Replace(roles, "waivers: [b], ", "waivers: [], ", 1) + good, gating.ExitPass, []string{"a needed (ask mona) for a looser config: reviews.waivers", "b needed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			r.commit("2026-05-01", c.base+"# "+c.name+"\n")
			r.config(c.head)
			out, problems, code := r.run("check", r.dir, "--base", "HEAD")
			if code != c.code {
				t.Errorf("exit %d\n%.3000s\n%s", code, out, problems)
			}
			for _, words := range c.says {
				words, not := strings.CutPrefix(words, "! ")
				if strings.Contains(out+problems, words) == not {
					t.Errorf("%q is said: %v\n%s", words, not, problems)
				}
			}
		})
	}
}
