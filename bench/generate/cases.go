package generate

import (
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
)

// files returns the files of a pack by their name in its folder.
func (s *shape) files() (map[string][]byte, error) {
	src, err := s.pack()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"pack.json": src}
	if files["tool-surface.json"], err = file(s.surface()); err != nil {
		return nil, err
	}
	if files["scorecards/evals-3.json"], err = file(s.scorecard(src)); err != nil {
		return nil, err
	}
	cases := make(map[string]object, CasesPerPack)
	for i, family := range families {
		c := s.golden(family, i%s.intents)
		name := fmt.Sprintf("golden/%s.case.json", c[1].value)
		if files[name], err = file(append(c, member{"expect", object{{"outcome", string(compiler.Compiled)}}})); err != nil {
			return nil, err
		}
		cases[name] = c
	}
	results, err := compile(files)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.Compiled == nil {
			return nil, fmt.Errorf("case %s does not compile: %s %v", r.Case, r.Reason, r.Problems)
		}
		if files[r.File], err = file(append(cases[r.File], member{"expect", expectation(r)})); err != nil {
			return nil, err
		}
		files[r.SnapshotName] = r.Compiled
	}
	return files, nil
}

// compile runs the golden cases of a pack, as packgate does it.
func compile(files map[string][]byte) ([]golden.Result, error) {
	tree := fstest.MapFS{}
	for name, src := range files {
		tree[name] = &fstest.MapFile{Data: src}
	}
	settings, err := repo.ParseConfig(repo.ConfigName, []byte(config))
	if err != nil {
		return nil, err
	}
	src, err := file(catalog("prod"))
	if err != nil {
		return nil, err
	}
	environment, err := repo.ParseEnvironment("environments/prod.json", src, settings.Limits)
	if err != nil {
		return nil, err
	}
	unit, err := repo.FilesOf(tree, ".", "").Unit("pack.json", settings)
	if err != nil {
		return nil, err
	}
	return golden.Run(unit, []*repo.Environment{environment}, settings), nil
}

// expectation says what a case was compiled to.
func expectation(r golden.Result) object {
	var rules []string
	for _, entry := range r.Detail.Context.Manifests.PolicyManifest {
		rules = append(rules, entry.RuleIDs...)
	}
	return object{
		{"outcome", string(r.Outcome)},
		{"tools", texts(r.Detail.Context.ContextLedger.Tools)},
		{"gates", texts(r.Detail.Context.RuntimeControls.ApprovalGatesActive)},
		{"denied", texts(r.Detail.Trace.Denied)},
		{"rules", texts(rules)},
	}
}

// families are those of the cases of each pack.
var families = [CasesPerPack]string{golden.FamilyApproval, golden.FamilyDenied, golden.FamilyAllowed, golden.FamilyCeiling, golden.FamilyBudget}

// golden returns a case of a family for an intent, without what it expects.
func (s *shape) golden(family string, at int) object {
	name := s.domain.actions[at].name + "-" + strings.ReplaceAll(family, "_", "-")
	id := strings.ReplaceAll(name, "-", "_")
	mode, evidence := "destructive", 4000
	if family == golden.FamilyCeiling {
		mode = "read_only"
	}
	if family == golden.FamilyBudget {
		evidence = 60
	}
	user := object{{"user_id", fmt.Sprintf("usr_%d", s.number)}, {"role", agentRoles[0]}, {"delegation", object{
		{"auth_type", "oauth2"}, {"scopes", list{"records.read", "records.write"}}, {"subject", fmt.Sprintf("u:user:%d", s.number)},
	}}}
	agent := object{{"agent_id", "agt_" + s.domain.name}, {"role", s.domain.name + "_operations"}}
	trace := fmt.Sprintf("%032x", s.number*CasesPerPack+at+1)
	intent := s.intent(at)
	return object{
		{"$schema", "https://contextosai.com/schemas/packgate/case.v1.schema.json"},
		{"case", name},
		{"family", family},
		{"description", "A request of " + intent + " of family " + family + "."},
		{"environment", "prod"},
		{"overlay", nil},
		{"invoke", object{
			{"request_id", "req_" + id}, {"session_id", "sess_" + id}, {"tenant_id", tenant}, {"user", user}, {"agent", agent},
			{"context_pack_refs", list{s.id() + "@" + s.version()}},
			{"input", object{{"intent", intent}, {"message", "Please look into this " + s.domain.actions[at].noun + "."}, {"channel", channels[0]}, {"locale", "en-IE"}, {"context", s.context(family, intent)}}},
			{"mode", "stream"},
			{"runtime", object{{"plan_timeout_ms", 15000}, {"max_tool_calls", 8}, {"max_cost_cents", 25}}},
			{"trace", object{{"trace_id", trace}, {"span_id", trace[16:]}}},
		}},
		{"run_context", object{
			{"run_id", "run_" + id}, {"trace_id", trace}, {"session_id", "sess_" + id}, {"tenant_id", tenant}, {"user", user}, {"agent", agent},
			{"intent", intent}, {"locale", "en-IE"}, {"safety_mode", mode},
			{"run_budget", object{
				{"total_tokens", 40000},
				{"bucket_tokens", object{{"business", 4000}, {"policy", 12000}, {"tool", 12000}, {"evidence", evidence}, {"memory", 1500}, {"session", 2200}}},
				{"max_tool_calls", 8}, {"max_cost_cents", 25},
			}},
		}},
		{"evidence", s.evidence(intent)},
		{"memory", list{object{{"memory_ref", fmt.Sprintf("mem:cus_%d:preferred_channel", s.number)}, {"content", "Prefers to be answered in the app."}, {"promoted", true}}}},
	}
}

// context returns what the request of a case says about the decisions of its
// intent.
func (s *shape) context(family, intent string) object {
	var all object
	for _, d := range s.decisions {
		if d.intent != intent {
			continue
		}
		if family == golden.FamilyDenied {
			all = append(all, d.failing...)
			continue
		}
		for _, m := range d.passing {
			if family == golden.FamilyApproval && m.name == d.name+"_amount" {
				m.value = d.above
			}
			all = append(all, m)
		}
	}
	return all
}

// evidence returns a piece of evidence from each tool that the intent reads.
func (s *shape) evidence(intent string) list {
	items := list{object{
		{"evidence_ref", fmt.Sprintf("kg:%s:rec_%d#snapshot_%s", s.domain.name, s.number, snapshot)},
		{"content", "The record is complete, was changed last in the spring of this year, and nobody has marked it for review since."},
	}}
	for _, d := range s.decisions {
		if d.intent != intent {
			continue
		}
		for i, source := range d.sources {
			items = append(items, object{
				{"evidence_ref", fmt.Sprintf("tool:%s.%s:tool_%d", d.records(), source, i+1)},
				{"content", fmt.Sprintf("The %s of the %s agree with what the customer says, and the amount is within what was agreed.", source, d.action.noun)},
			})
		}
	}
	return items
}
