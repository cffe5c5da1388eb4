package github

import (
	"context"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// RunSucceeded is the one conclusion of a run by which a commit has passed. A run can also be
// skipped or neutral, which a branch rule counts as passed and nobody else should.
const RunSucceeded = "success"

// Conclusion returns how an attempt at a workflow run ended, as GitHub says now: RunSucceeded, failure,
// cancelled, timed_out and others; "" where it has not ended, or nothing says how. Where the event and
// the API differ it is the one that is no success. The error is of kind ErrRejected where the attempt
// was at another commit, and else of a kind of a Client.
func (c *Client) Conclusion(ctx context.Context, run WorkflowRun) (string, error) {
	var found github.WorkflowRun
	address := fmt.Sprintf("repos/%s/%s/actions/runs/%d/attempts/%d", c.owner, c.repo, run.ID, run.Attempt)
	if err := c.get(ctx, "read the run", address, &found); err != nil {
		return "", err
	}
	switch {
	case found.GetID() != run.ID || found.GetHeadSHA() != run.HeadSHA:
		return "", &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("run %d is of the commit %q, wanted %q", run.ID, clip(found.GetHeadSHA(), 80), run.HeadSHA)}
	case found.GetStatus() != "completed":
		return "", nil
	case found.GetConclusion() == RunSucceeded:
		return run.Conclusion, nil
	}
	return found.GetConclusion(), nil
}
