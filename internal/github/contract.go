package github

// The interface of the action, as action.yml declares it.

// The commands of the action.
const (
	CommandAudit     = "audit"
	CommandCheck     = "check"
	CommandComment   = "comment"
	CommandDeprecate = "deprecate"
	CommandPin       = "pin"
	CommandPublish   = "publish"
	CommandRevoke    = "revoke"
)

// Commands returns the commands that an input may name, sorted.
func Commands() []string {
	return []string{CommandAudit, CommandCheck, CommandComment, CommandDeprecate, CommandPin, CommandPublish, CommandRevoke}
}

// SigningCommands returns the commands that sign, sorted.
func SigningCommands() []string {
	return []string{CommandDeprecate, CommandPin, CommandPublish, CommandRevoke}
}

// ActionInputs returns the names of the inputs that the action reads, sorted.
func ActionInputs() []string {
	return []string{
		"base-ref", "command", "comment", "config", "dry-run", "environment", "fail-on", "packs", "reason", "ref", "registry", "replay",
		"report-dir", "sarif-file", "shard", "signing-config", "strict", "token", "trusted-root",
	}
}

// ActionOutputs returns the names of the outputs that the action sets, sorted.
func ActionOutputs() []string {
	return []string{
		"changed-packs", "class", "errors", "published", "report-html", "report-json", "report-md", "report-sarif",
		"required-version", "result", "tool-surface-grew", "warnings",
	}
}

// ReportArtifact is the artifact in which the first stage leaves its JSON report,
// alone, for the second.
const ReportArtifact = "packgate-report"
