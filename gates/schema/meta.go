package schema

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SCH012 reports a contract without a name or an issuer.
var SCH012 = &gate.Rule{
	ID: "SCH012", Name: "empty-name", Severity: finding.Error,
	Title: "The contract has a name and an issuer",
	Doc: "The issuer is responsible for a pack: the publishing tenant or authority, whose signature is checked before the pack " +
		"is loaded. contract_name is the same in all versions, so that they can be found. An empty or blank text does not " +
		"count.\n\n" +
		"Write the tenant's id or the authority as issuer, and the pack_id as contract_name unless there is a better one.",
	Bad:   `"contract_meta": {"contract_name": "ctxpack.support", "issuer": ""}`,
	Good:  `"contract_meta": {"contract_name": "ctxpack.support", "issuer": "tenant_acme_prod"}`,
	Check: ofPack(checkNames),
}

func checkNames(p *gate.Pass) {
	meta := &p.Pack.ContractMeta
	checkName(p, "contract_name", meta.ContractName, "write a name that stays the same over all versions, such as the pack_id")
	checkName(p, "issuer", meta.Issuer, "write the tenant or authority that publishes the pack")
}

func checkName(p *gate.Pass, what string, name pack.Text, hint string) {
	if name.OK && strings.TrimSpace(name.Value) == "" {
		p.Report(gate.Diagnostic{At: name.Node, Message: fmt.Sprintf("%s is empty", what), Hint: hint})
	}
}

// SCH006 reports a pack_id or pack_version that no reference can hold.
var SCH006 = &gate.Rule{
	ID: "SCH006", Name: "invalid-pack-reference", Severity: finding.Error,
	Title: "The pack can be referred to as pack_id@pack_version",
	Doc: "An agent is invoked with pinned packs, `ctxpack.support@1.4.0`. The part before the @ is pack_id: letters, digits and " +
		"`_ . : -`. The part after it is pack_version: three numbers, without leading zeros, pre-release or build. A pack whose " +
		"id or version does not fit can be published, but nobody can request it.\n\n" +
		"Use another id, or the plain version. Keep what is not yet a release on a branch, and do not mark it in the version.",
	Bad:   `"pack_meta": {"pack_id": "ctxpack support", "pack_version": "1.4.0-rc.1"}`,
	Good:  `"pack_meta": {"pack_id": "ctxpack.support", "pack_version": "1.4.0"}`,
	Check: ofPack(checkReference),
}

// SCH007 reports versions that are no semantic versions, and a created_at that
// is no RFC 3339 time.
var SCH007 = &gate.Rule{
	ID: "SCH007", Name: "invalid-version-or-time", Severity: finding.Error,
	Title: "Versions are semantic versions and created_at is an RFC 3339 time",
	Doc: "contract_version, the version of the ontology and that of each decision spec are compared to decide whether a change " +
		"is compatible. That works for semantic versions (MAJOR.MINOR.PATCH; a pre-release or build may follow), and not for " +
		"\"1.0\", \"v1.0.0\" or a date. created_at is an RFC 3339 date and time with its zone, so that it means the same moment " +
		"everywhere.\n\n" +
		"Write the version in full, and the time as in `2026-05-09T00:00:00Z`.",
	Bad:   `"contract_meta": {"contract_version": "1.0", "created_at": "2026-05-09"}`,
	Good:  `"contract_meta": {"contract_version": "1.0.0", "created_at": "2026-05-09T00:00:00Z"}`,
	Check: ofPack(checkVersions),
}

// SCH008 reports requirements that are missing or cannot be compared.
var SCH008 = &gate.Rule{
	ID: "SCH008", Name: "invalid-requirement", Severity: finding.Error,
	Title: "The pack states which runtime it needs, as a version range",
	Doc: "compatibility.requires states what a pack needs. The runtime must be part of it: otherwise a runtime that does not " +
		"know half of its members could load the pack. Every value is a range of semantic versions, so that it can be compared " +
		"with what an environment has.\n\n" +
		"Add `runtime`, and write ranges such as `>=1.0.0`, `>=1.2.0 <2.0.0`, `^1.4` or `1.x`.",
	Bad:   `"compatibility": {"requires": {"ontology": "latest"}}`,
	Good:  `"compatibility": {"requires": {"runtime": ">=1.0.0", "ontology": ">=1.0.0"}}`,
	Check: ofPack(checkRequirements),
}

// idCharacters are the characters of a pack_id (invokeAgent contract,
// context_pack_refs).
const idCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-"

func checkReference(p *gate.Pass) {
	meta := &p.Pack.PackMeta
	checkPackID(p, meta.PackID)
	checkPackVersion(p, meta.PackVersion)
}

func checkPackID(p *gate.Pass, id pack.Text) {
	odd := strings.TrimLeft(id.Value, idCharacters)
	if !id.OK || odd == "" && id.Value != "" {
		return
	}
	d := gate.Diagnostic{At: id.Node, Message: "pack_id is empty", Hint: "use only letters from A to Z, digits and _ . : -"}
	if odd != "" {
		c, _ := utf8.DecodeRuneInString(odd)
		d.Message = fmt.Sprintf("pack_id %s holds %q", quote(id.Value), string(c))
	}
	p.Report(d)
}

func checkPackVersion(p *gate.Pass, version pack.Text) {
	if !version.OK {
		return
	}
	v, err := semver.StrictNewVersion(version.Value)
	if err == nil && v.Prerelease() == "" && v.Metadata() == "" {
		return
	}
	d := gate.Faultf(version.Node, versionHint(version.Value), "pack_version %s is not MAJOR.MINOR.PATCH", quote(version.Value))
	if err == nil {
		d.Message = fmt.Sprintf("pack_version %s is more than MAJOR.MINOR.PATCH, and cannot be referred to", quote(version.Value))
		d.Hint = fmt.Sprintf(`write "%d.%d.%d", without pre-release and build`, v.Major(), v.Minor(), v.Patch())
	}
	p.Report(d)
}

// versionHint proposes the semantic version that a text probably means.
func versionHint(text string) string {
	plain := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "v")
	if v, err := semver.NewVersion(plain); err == nil && v.String() != text {
		return fmt.Sprintf("write %q", v.String())
	}
	return "write three numbers, such as 1.2.0"
}

func checkVersions(p *gate.Pass) {
	checkVersion(p, "contract_version", p.Pack.ContractMeta.ContractVersion)
	checkVersion(p, "ontology version", p.Pack.IntelligenceRefs.Ontology.Version)
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		checkVersion(p, "decision version", d.Version)
	}
	created := p.Pack.ContractMeta.CreatedAt
	if created.OK && !isTime(created.Value) {
		p.Reportf(created.Node, "write date, time and zone, as in 2026-05-09T00:00:00Z",
			"created_at %s is not an RFC 3339 date and time", quote(created.Value))
	}
}

func checkVersion(p *gate.Pass, what string, version pack.Text) {
	if !version.OK {
		return
	}
	if _, err := semver.StrictNewVersion(version.Value); err != nil {
		p.Reportf(version.Node, versionHint(version.Value), "%s %s is not a semantic version", what, quote(version.Value))
	}
}

// timeForm is the form of RFC 3339, section 5.6. Package time checks the
// calendar and is lenient about the form.
var timeForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
})

// isTime reports whether a text is an RFC 3339 date and time. A leap second is
// none here: it cannot be compared, and no pack needs one.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	return err == nil && timeForm().MatchString(text)
}

func checkRequirements(p *gate.Pass) {
	requires := p.Pack.ContractMeta.Compatibility.Requires
	if _, ok := requires.Get("runtime"); !ok && requires.OK {
		p.Report(gate.Faultf(requires.Node, `add "runtime" with the range of versions that the pack was written for, such as ">=1.0.0"`,
			`"requires" does not name the runtime`).Keyed("runtime"))
	}
	for _, e := range requires.Entries {
		if !e.Value.OK {
			continue
		}
		if _, err := semver.NewConstraint(e.Value.Value); err != nil {
			p.Reportf(e.Value.Node, "write a range such as >=1.0.0, >=1.2.0 <2.0.0, ^1.4 or 1.x",
				"the required %s version %s is not a version range", quote(e.Name), quote(e.Value.Value))
		}
	}
}
