package schema

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SCH012 reports a contract without a name or an issuer.
var SCH012 = &gate.Rule{
	ID:       "SCH012",
	Name:     "empty-name",
	Severity: finding.Error,
	Title:    "The contract has a name and an issuer",
	Doc: `The issuer is who answers for a pack: the publishing tenant or authority, whose
signature is checked before the pack is loaded. contract_name stays the same over
all versions, so that they can be found. An empty text is as good as none, and
so is one of blanks.

Write the tenant's id or the authority as issuer, and the pack_id as
contract_name unless there is a better one.`,
	Bad:   `"contract_meta": {"contract_name": "ctxpack.support", "issuer": ""}`,
	Good:  `"contract_meta": {"contract_name": "ctxpack.support", "issuer": "tenant_acme_prod"}`,
	Since: "0.1.0",
	Check: checkNames,
}

func checkNames(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	meta := &p.Pack.ContractMeta
	checkName(p, "contract_name", meta.ContractName, "write a name that stays the same over all versions, such as the pack_id")
	checkName(p, "issuer", meta.Issuer, "write the tenant or authority that publishes the pack")
}

func checkName(p *gate.Pass, what string, name pack.Text, hint string) {
	if name.OK && strings.TrimSpace(name.Value) == "" {
		p.Report(gate.Diagnostic{At: name.Node, Message: fmt.Sprintf("%s is empty", what), Hint: hint})
	}
}
