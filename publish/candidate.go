package publish

import (
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Candidate is one version that passed the gates, with what its statement is to say.
type Candidate struct {
	Pack, Version string
	// Content is the pack file's bytes as read; they are never encoded anew.
	Content []byte
	// Report is the JSON gate report, the bytes that are attached to the version.
	Report []byte
	// Class is patch, minor or major, or "initial" for the first version of a pack.
	Class       string
	Baseline    *statement.Baseline
	Approvals   []statement.Approval
	PullRequest string // address of the merged pull request, "" where there is none
	Tool        string // packgate's version
	Rules       string // version of the rule set
	Config      string // digest of the config in force, "" without one
	Source      statement.Source
}

// name returns "pack_id@version", the name by which statements speak of it.
func (c Candidate) name() string { return nameOf(c.Pack, c.Version) }

func nameOf(packID, version string) string { return packID + "@" + version }

// artifact returns the OCI artifact of the candidate. The error says where the
// candidate is not the pack that it is said to be: a statement must never name
// bytes that name themselves otherwise.
func (c Candidate) artifact() (*registry.Artifact, error) {
	if len(c.Report) == 0 {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("%q has no gate report", c.name()), Hint: "run the gates before publishing"}
	}
	return artifactOf(c.Pack, c.Version, c.Content)
}

func artifactOf(packID, version string, content []byte) (*registry.Artifact, error) {
	found, err := nameIn(content)
	if err != nil {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("the content of %q is no pack", nameOf(packID, version)), Cause: err}
	}
	if want := nameOf(packID, version); found != want {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("the content says that it is %q, wanted %q", found, want)}
	}
	return registry.NewArtifact(packID, version, content)
}

// nameIn returns the "pack_id@version" that the pack file itself says it is.
func nameIn(content []byte) (string, error) {
	document, faults := pack.Read("pack.json", content, pack.DefaultLimits())
	if len(faults) > 0 {
		return "", fmt.Errorf("line %d: %s", faults[0].Location.Start.Line, faults[0].Message)
	}
	return pack.New(document).Ref(), nil
}
