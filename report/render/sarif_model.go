package render

// The part of SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format) that
// packgate writes, member by member as the standard names them.

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool            `json:"tool"`
	Automation  sarifAutomation      `json:"automationDetails"`
	Invocations []sarifInvocation    `json:"invocations"`
	Bases       map[string]sarifBase `json:"originalUriBaseIds"`
	Provenance  []sarifProvenance    `json:"versionControlProvenance,omitempty"`
	Columns     string               `json:"columnKind"`
	Results     []sarifResult        `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name       string            `json:"name"`
	Version    string            `json:"version,omitempty"`
	URI        string            `json:"informationUri"`
	Rules      []sarifRule       `json:"rules"`
	Properties map[string]string `json:"properties"`
}

type sarifRule struct {
	ID         string              `json:"id"`
	Name       string              `json:"name,omitempty"`
	Short      sarifText           `json:"shortDescription"`
	Full       *sarifText          `json:"fullDescription,omitempty"`
	Help       *sarifMarkdown      `json:"help,omitempty"`
	URI        string              `json:"helpUri,omitempty"`
	Default    *sarifLevel         `json:"defaultConfiguration,omitempty"`
	Properties sarifRuleProperties `json:"properties"`
}

type sarifRuleProperties struct {
	Tags      []string `json:"tags"`
	Precision string   `json:"precision,omitempty"`
	Severity  string   `json:"problem.severity,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifMarkdown struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifLevel struct {
	Level string `json:"level"`
}

type sarifResult struct {
	Rule         string                `json:"ruleId"`
	Index        int                   `json:"ruleIndex"`
	Level        string                `json:"level"`
	Message      sarifText             `json:"message"`
	Locations    []sarifLocation       `json:"locations"`
	Related      []sarifLocation       `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string     `json:"partialFingerprints"`
	Suppressions []sarifSuppression    `json:"suppressions,omitempty"`
	Properties   sarifResultProperties `json:"properties"`
}

type sarifResultProperties struct {
	Pack    string `json:"pack"`
	Gate    string `json:"gate"`
	State   string `json:"state,omitempty"`
	Pointer string `json:"pointer,omitempty"`
}

type sarifLocation struct {
	ID       int            `json:"id,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri,omitempty"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifBase struct {
	Description sarifText `json:"description"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	ExitCode      int                 `json:"exitCode"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifProvenance struct {
	Repository string        `json:"repositoryUri"`
	Revision   string        `json:"revisionId,omitempty"`
	Branch     string        `json:"branch,omitempty"`
	Mapped     sarifArtifact `json:"mappedTo"`
}
