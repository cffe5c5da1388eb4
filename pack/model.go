package pack

import "slices"

// Field is one value of the typed pack. Node is where it stands, nil if the
// member is absent. OK says that Value was read: the member is present and of
// the right type. A zero Value with OK false is a missing or mistyped member.
type Field[T string | float64 | bool] struct {
	Value T
	Node  *Node
	OK    bool
}

// Text, Num and Flag are the scalar fields of a pack.
type (
	Text = Field[string]
	Num  = Field[float64]
	Flag = Field[bool]
)

// List is an array of the typed pack. Items of the wrong type are there with
// OK false (or without a Node to read members from), so that positions in
// Items and in the document agree.
type List[T any] struct {
	Items []T
	Node  *Node
	OK    bool
}

// Values returns the texts of a list, without items that are no strings.
func Values(l List[Text]) []string {
	values := make([]string, 0, len(l.Items))
	for _, item := range l.Items {
		if item.OK {
			values = append(values, item.Value)
		}
	}
	return values
}

// Dict is an object whose member names are free, in document order.
type Dict[T any] struct {
	Entries []Entry[T]
	Node    *Node
	OK      bool
}

// Entry is one member of a Dict.
type Entry[T any] struct {
	Name  string
	Value T
}

// Get returns the entry of that name; of duplicates the last one, as Node.Get.
func (d Dict[T]) Get(name string) (value T, ok bool) {
	for _, e := range slices.Backward(d.Entries) {
		if e.Name == name {
			return e.Value, true
		}
	}
	return value, false
}

// Part is embedded in every object of the typed pack: where it stands. Node is
// nil where the object is absent, and of another kind where it is mistyped.
type Part struct{ Node *Node }

// Place returns the first of the nodes that is there: the place to report
// something that may be missing, such as Place(rule.If, rule.Node).
func Place(nodes ...*Node) *Node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

// Pack is a Context Pack v2 (the contract's ten layers).
type Pack struct {
	Part
	ContractMeta     ContractMeta     `json:"contract_meta"`
	PackMeta         PackMeta         `json:"pack_meta"`
	IntelligenceRefs IntelligenceRefs `json:"intelligence_refs"`
	BusinessContext  BusinessContext  `json:"business_context"`
	PolicyLayer      PolicyLayer      `json:"policy_layer"`
	ToolingLayer     ToolingLayer     `json:"tooling_layer"`
	DecisionLayer    DecisionLayer    `json:"decision_layer"`
	MemoryLayer      MemoryLayer      `json:"memory_layer"`
	EvaluationLayer  EvaluationLayer  `json:"evaluation_layer"`
	ToneAndComms     ToneAndComms     `json:"tone_and_comms"`

	// Faults are the names in it that have control characters, and are not read.
	Faults []Fault `json:"-"`
	// Shared is set where the config lists the pack as one that several tenants use.
	Shared bool `json:"-"`

	// United are the packs that it is the union of; nil for one that was read.
	United []*Pack `json:"-"`
}

// Admits reports whether a request of a tenant may use the pack: one of its own tenant,
// and of a pack that is shared one of any.
func (p *Pack) Admits(tenant string) bool {
	return tenant == p.PackMeta.Tenant.TenantID.Value || p.Shared && tenant != ""
}

// Ref returns the reference of the pack: pack_id@pack_version, as far as they
// can be read.
func (p *Pack) Ref() string { return p.PackMeta.PackID.Value + "@" + p.PackMeta.PackVersion.Value }

// Layers returns the names of the ten layers in the contract's order.
func Layers() []string {
	return []string{
		"contract_meta", "pack_meta", "intelligence_refs", "business_context", "policy_layer",
		"tooling_layer", "decision_layer", "memory_layer", "evaluation_layer", "tone_and_comms",
	}
}

// ContractMeta says what the contract is and who issued it.
type ContractMeta struct {
	Part
	ContractName    Text `json:"contract_name"`
	ContractVersion Text `json:"contract_version"`
	Issuer          Text `json:"issuer"`
	CreatedAt       Text `json:"created_at"`
	Compatibility   struct {
		Part
		Requires Dict[Text] `json:"requires"`
	} `json:"compatibility"`
}

// PackMeta identifies the pack and its tenant.
type PackMeta struct {
	Part
	PackID      Text `json:"pack_id"`
	PackVersion Text `json:"pack_version"`
	Tenant      struct {
		Part
		TenantID Text `json:"tenant_id"`
		Name     Text `json:"name"`
	} `json:"tenant"`
	EnvironmentDefaults struct {
		Part
		Language Text `json:"language"`
		Timezone Text `json:"timezone"`
		Currency Text `json:"currency"`
		Region   Text `json:"region"`
	} `json:"environment_defaults"`
	TTLSeconds         Num  `json:"ttl_seconds"`
	DataClassification Text `json:"data_classification"`
}

// IntelligenceRefs pins ontology, graph, identities and embeddings.
type IntelligenceRefs struct {
	Part
	Ontology struct {
		Part
		Namespace         Text       `json:"namespace"`
		Version           Text       `json:"version"`
		EntityTypes       List[Text] `json:"entity_types"`
		RelationshipTypes List[Text] `json:"relationship_types"`
	} `json:"ontology"`
	KnowledgeGraph struct {
		Part
		SnapshotPinRule Text `json:"snapshot_pin_rule"`
	} `json:"knowledge_graph"`
	IdentityLayer struct {
		Part
		CEIDNamespaces List[Text] `json:"ceid_namespaces"`
	} `json:"identity_layer"`
	EmbeddingKeys List[Text] `json:"embedding_keys"`
}

// BusinessContext says what the business does and what it never does.
type BusinessContext struct {
	Part
	Summary struct {
		Part
		WhatWeDo        Text       `json:"what_we_do" text:"prose"`
		WhoWeServe      List[Text] `json:"who_we_serve" text:"prose"`
		Differentiators List[Text] `json:"differentiators" text:"prose"`
	} `json:"summary"`
	NonNegotiables List[Text] `json:"non_negotiables" text:"prose"`
}

// PolicyLayer holds rules, guardrails and approval gates.
type PolicyLayer struct {
	Part
	PolicyBundles List[Bundle] `json:"policy_bundles"`
	Guardrails    struct {
		Part
		MustRefuse     List[Text] `json:"must_refuse"`
		MustEscalate   List[Text] `json:"must_escalate"`
		RedactionRules List[Text] `json:"redaction_rules"`
	} `json:"guardrails"`
	ApprovalGates List[ApprovalGate] `json:"approval_gates"`
}

// Bundle is a policy bundle: rules under one priority.
type Bundle struct {
	Part
	BundleID  Text `json:"bundle_id"`
	Priority  Num  `json:"priority"`
	PolicyDSL struct {
		Part
		Language Text       `json:"language"`
		Rules    List[Rule] `json:"rules"`
	} `json:"policy_dsl"`
}

// Rule is a policy rule. If is its JsonLogic condition as it stands.
type Rule struct {
	Part
	RuleID    Text `json:"rule_id"`
	AppliesTo struct {
		Part
		Intent Text `json:"intent"`
	} `json:"applies_to"`
	If              *Node   `json:"if"`
	Then            Outcome `json:"then"`
	Else            Outcome `json:"else"`
	DecisionBinding Text    `json:"decision_binding"`
	Rationale       Text    `json:"rationale" text:"prose"`
	NonEnforcing    Flag    `json:"non_enforcing"`
}

// Outcomes returns the rule's then and else, as far as they are there.
func (r *Rule) Outcomes() []*Outcome {
	var outcomes []*Outcome
	for _, o := range []*Outcome{&r.Then, &r.Else} {
		if o.Node != nil {
			outcomes = append(outcomes, o)
		}
	}
	return outcomes
}

// Outcome is what a rule's then or else says.
type Outcome struct {
	Part
	Allow                Flag             `json:"allow"`
	Requires             List[Text]       `json:"requires"`
	ApprovalMode         Text             `json:"approval_mode"`
	RequiresApprovalGate Text             `json:"requires_approval_gate"`
	Reason               Text             `json:"reason" text:"prose"`
	ArgConstraints       Dict[Constraint] `json:"arg_constraints"`
	Prohibits            List[Text]       `json:"prohibits"`
}

// Constraint bounds one argument of a capability.
type Constraint struct {
	Part
	Min            Num   `json:"min"`
	Max            Num   `json:"max"`
	Required       Flag  `json:"required"`
	Enum           *Node `json:"enum"`
	Pattern        Text  `json:"pattern" text:"prose"`
	UnlessApproved Flag  `json:"unless_approved"`
}

// ApprovalGate is a human approval; When is its JsonLogic condition as it stands.
type ApprovalGate struct {
	Part
	GateID               Text  `json:"gate_id"`
	When                 *Node `json:"when"`
	RequiredApproverRole Text  `json:"required_approver_role"`
	TTLSeconds           Num   `json:"ttl_seconds"`
}

// ToolingLayer holds adapters and permissions.
type ToolingLayer struct {
	Part
	AdapterRegistry List[Adapter]    `json:"adapter_registry"`
	Permissions     List[Permission] `json:"permissions"`
}

// Adapter is a tool adapter with its capabilities and the highest risk that
// any of them can produce.
type Adapter struct {
	Part
	AdapterID       Text       `json:"adapter_id"`
	Type            Text       `json:"type"`
	EndpointRef     Text       `json:"endpoint_ref"`
	Capabilities    List[Text] `json:"capabilities"`
	ApprovalMode    Text       `json:"approval_mode"`
	CapabilityRisks Dict[Risk] `json:"capability_risks"`
}

// Risk holds the native risk dimensions of one capability.
type Risk struct {
	Part
	Effect        Text `json:"effect"`
	Authority     Text `json:"authority"`
	Reversibility Text `json:"reversibility"`
	Interaction   Text `json:"interaction"`
	DataScope     Text `json:"data_scope"`
}

// Permission allows or forbids one capability of one adapter.
type Permission struct {
	Part
	PermissionID         Text             `json:"permission_id"`
	AdapterID            Text             `json:"adapter_id"`
	Capability           Text             `json:"capability"`
	Allow                Flag             `json:"allow"`
	RequiresApprovalGate Text             `json:"requires_approval_gate"`
	ArgConstraints       Dict[Constraint] `json:"arg_constraints"`
}

// DecisionLayer holds the decisions that the agent may take part in.
type DecisionLayer struct {
	Part
	DecisionSpecs List[DecisionSpec] `json:"decision_specs"`
}

// DecisionSpec is one decision; EligibilityRules is JsonLogic as it stands.
type DecisionSpec struct {
	Part
	DecisionKey      Text       `json:"decision_key"`
	Version          Text       `json:"version"`
	OwnerRole        Text       `json:"owner_role"`
	RequiredEvidence List[Text] `json:"required_evidence"`
	AllowedOutcomes  List[Text] `json:"allowed_outcomes"`
	ApprovalMode     Text       `json:"approval_mode"`
	DecisionRight    Text       `json:"decision_right"`
	InputsSchemaRef  Text       `json:"inputs_schema_ref"`
	OutputsSchemaRef Text       `json:"outputs_schema_ref"`
	EligibilityRules *Node      `json:"eligibility_rules"`
}

// MemoryLayer says what may be remembered and for how long.
type MemoryLayer struct {
	Part
	MemoryPolicy struct {
		Part
		TierTTLs            Dict[Text] `json:"tier_ttls"`
		WriteClassesAllowed List[Text] `json:"write_classes_allowed"`
		ConsentGating       struct {
			Part
			PIIWriteBackAllowed Flag `json:"pii_write_back_allowed"`
		} `json:"consent_gating"`
	} `json:"memory_policy"`
	PromotionThresholds struct {
		Part
		AutoPromoteConfidence Num `json:"auto_promote_confidence"`
	} `json:"promotion_thresholds"`
}

// EvaluationLayer holds targets and release gates.
type EvaluationLayer struct {
	Part
	EvalTargets  List[EvalTarget]  `json:"eval_targets"`
	ReleaseGates List[ReleaseGate] `json:"release_gates"`
}

// EvalTarget is what one intent has to reach. Scores are from 0 to 1.
type EvalTarget struct {
	Part
	Intent                    Text `json:"intent"`
	Policy                    Num  `json:"policy"`
	Utility                   Num  `json:"utility"`
	LatencyP99MS              Num  `json:"latency_p99_ms"`
	Safety                    Num  `json:"safety"`
	EconomicsCentsPerDecision Num  `json:"economics_cents_per_decision"`
}

// ReleaseGate bounds how much a metric may get worse in a release.
type ReleaseGate struct {
	Part
	Metric   Text `json:"metric"`
	MaxDelta Num  `json:"max_delta"`
}

// ToneAndComms says how the agent speaks.
type ToneAndComms struct {
	Part
	VoiceAttributes List[Text] `json:"voice_attributes" text:"prose"`
	Do              List[Text] `json:"do" text:"prose"`
	Dont            List[Text] `json:"dont" text:"prose"`
}
