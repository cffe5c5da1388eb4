package repo

import (
	"github.com/contextosai/packgate/internal/pack"
)

// Environment is an environment catalog: what exists in one environment. Every
// section may be absent (its Node is nil); a check that needs an absent section
// is reported as not checked.
type Environment struct {
	Document *pack.Document `json:"-"`
	pack.Part
	Environment     pack.Text                             `json:"environment"`
	Runtime         pack.Text                             `json:"runtime"`
	Ontologies      pack.Dict[pack.Dict[OntologyVersion]] `json:"ontologies"`
	Snapshots       pack.Dict[pack.Text]                  `json:"snapshots"`
	Endpoints       pack.Dict[Endpoint]                   `json:"endpoints"`
	Issuers         pack.List[pack.Text]                  `json:"issuers"`
	Intents         pack.List[pack.Text]                  `json:"intents"`
	ApproverRoles   pack.List[pack.Text]                  `json:"approver_roles"`
	Schemas         pack.List[pack.Text]                  `json:"schemas"`
	Regions         pack.List[pack.Text]                  `json:"regions"`
	MaxApprovalMode pack.Text                             `json:"max_approval_mode"`
	Pins            pack.Dict[pack.Text]                  `json:"pins"`
}

// OntologyVersion lists the types of one version of an ontology.
type OntologyVersion struct {
	pack.Part
	EntityTypes       pack.List[pack.Text] `json:"entity_types"`
	RelationshipTypes pack.List[pack.Text] `json:"relationship_types"`
}

// Endpoint says which tenants an endpoint serves.
type Endpoint struct {
	pack.Part
	Tenants pack.List[pack.Text] `json:"tenants"`
}

// Name returns the name of the environment, or of its file where it has none.
func (e *Environment) Name() string {
	if e.Environment.Value != "" {
		return e.Environment.Value
	}
	return e.Document.File
}
