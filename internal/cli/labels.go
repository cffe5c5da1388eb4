package cli

import (
	"context"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
)

// labelPrefix begins the labels that are packgate's.
const labelPrefix = "packgate: "

// labelNames returns the labels of all classes that a change can have.
func labelNames() (names []string) {
	for _, class := range []string{model.ClassInitial, "patch", "minor", "major", "reject"} {
		names = append(names, labelPrefix+class)
	}
	return names
}

// label gives the pull request the label of the class, where the config asks for labels, and
// none where no pack changed or nothing could be compared. It is for people and for filters,
// and nothing reads it.
func (a *actionRun) label(ctx context.Context, client *github.Client) error {
	if client == nil || !a.labels || !a.event.Proposal() || !a.inputs.part.Whole() {
		return nil
	}
	l := github.Label{PullRequest: a.event.PullRequest, HeadSHA: a.event.HeadSHA, Group: labelNames()}
	if class, _ := classOf(a.Report); class != "" && class != "none" && a.Report.Result != model.Broken {
		l.Name = labelPrefix + class
	}
	return client.Label(ctx, l)
}
