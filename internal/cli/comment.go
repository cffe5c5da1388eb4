package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// artifactFiles are the files that an artifact may consist of, each alone, and the most bytes of
// each: who made it is a stranger. The whole report is what workflows of 0.1.0 upload.
var artifactFiles = []github.ArtifactFile{{Name: render.SummaryFile, Limit: model.MaxSummary}, {Name: render.JSONFile, Limit: 16 << 20}}

func newComment(env *Env) *cobra.Command {
	in := inputs{command: github.CommandComment}
	var from string
	c := &cobra.Command{
		Use: "comment", Short: "post the report of another run, on workflow_run", Args: wants(),
		Long: `The second stage of the action, for pull requests whose own run may not write. It runs
in GitHub Actions on the event workflow_run, reads the summary that the run left as
the artifact packgate-report, finds the pull request by the head of that run, and
updates the comment. The comment states whose report it is. If the report passes but
GitHub says that the run did not succeed, no pass is shown, because the pull request can
change what its run does.

The artifact comes from a stranger: it must contain only summary.json, a regular file of
at most 1 MiB that fits the schema of reports and is about the head of the run, or in its
place report.json of at most 16 MiB, as older workflows upload it. The comment is rendered
from it here. Nothing is posted once the pull request has a newer head.
The token is read from the variable GITHUB_TOKEN.

Exit status: 0 posted, or nothing to post; 2 wrong use; 3 the report was refused or
GitHub could not be reached.`,
		Example: "  packgate comment\n  packgate comment --report downloaded/summary.json",
		RunE: func(c *cobra.Command, _ []string) error {
			event, err := github.ReadEvent(env.Getenv, os.ReadFile)
			if err != nil {
				return err
			}
			if _, err := commandOf(github.CommandComment, event.Name); err != nil {
				return err
			}
			in.token = env.Getenv("GITHUB_TOKEN")
			_, said, err := secondStage(c.Context(), env, event, in, from)
			if err != nil {
				return err
			}
			return say(env, said)
		},
	}
	f := c.Flags()
	f.StringVar(&from, "report", "", "`path` of the summary, or of the folder of its artifact (default: download it)")
	f.StringVar(&in.config, "config", "", "config `file` of the first stage, which distinguishes its comment from others")
	choice{"comment", string(github.CommentAlways), "`when` to comment", github.CommentModes()}.add(c, &in.comment)
	return c
}

// secondStage posts the report of the run that the event is about, and returns it with what
// became of it; nil where nothing was posted. File is where the artifact was downloaded to, ""
// where it is still to be.
func secondStage(ctx context.Context, env *Env, event *github.Event, in inputs, file string) (*model.Report, string, error) {
	run := event.Run
	if !slices.Contains(github.Proposals(), run.Event) {
		return nil, fmt.Sprintf("nothing to post: the run was of %q, and comments are for pull requests", run.Event), nil
	}
	if in.token == "" {
		return nil, "", misuse("set the input token, or the variable GITHUB_TOKEN", "there is no token to post with")
	}
	client, err := newClient(env, event, in.token)
	if err != nil {
		return nil, "", err
	}
	conclusion, err := client.Conclusion(ctx, run)
	if err != nil {
		return nil, "", err
	}
	data, err := artifact(ctx, client, run, file)
	if errors.Is(err, github.ErrNotFound) && slices.Contains(withoutReport(), conclusion) {
		return nil, fmt.Sprintf("nothing to post: the run ended with %s and left no report", conclusion), nil
	}
	if err != nil {
		return nil, "", err
	}
	r, err := strangersReport(data, event)
	if err != nil {
		return nil, "", err
	}
	r.Origin = &model.Origin{Conclusion: conclusion}
	pull, err := client.PullRequestAt(ctx, run.HeadSHA, run.HeadOwner, run.HeadBranch)
	if errors.Is(err, github.ErrNotFound) {
		return nil, fmt.Sprintf("nothing to post: no open pull request has the head %.7s any more", run.HeadSHA), nil
	}
	if err != nil {
		return nil, "", err
	}
	marker := render.Marker{Key: run.Workflow + ":" + in.config, Head: run.HeadSHA, Run: run.ID, Attempt: int(run.Attempt)}
	result, err := posting{marker, in.comment, pull.Number, event.RunURL(), in.fullURL}.post(ctx, client, r)
	if err != nil {
		return nil, "", err
	}
	return r, fmt.Sprintf("the comment on pull request %d: %s %s", pull.Number, result.Action, result.URL), nil
}

// withoutReport are the conclusions of runs that need not have come to a report.
func withoutReport() []string { return []string{"action_required", "cancelled", "skipped", "stale"} }

// say prints what became of a comment, in which no runner finds a command.
func say(env *Env, text string) error {
	_, err := fmt.Fprint(env.Stdout, render.Inert(render.Visible(text)+"\n"))
	return err
}

// posting is a report on its way to a pull request.
type posting struct {
	marker render.Marker // tells this comment from those of other gates
	mode   string
	pull   int
	// runURL is the address of the run, and fullURL that of the full report, "" where it has none.
	runURL, fullURL string
}

func (p posting) post(ctx context.Context, client *github.Client, r *model.Report) (github.CommentResult, error) {
	class, _ := classOf(r)
	s := render.Summary(r) // what the second stage has, so that both say the same
	return client.Comment(ctx, github.Comment{
		PullRequest: p.pull, Mode: github.CommentMode(p.mode),
		Body:    render.Comment(s, render.CommentOptions{Marker: p.marker, RunURL: p.runURL, ArtifactURL: p.fullURL}),
		Nothing: r.Entries() == 0 && len(r.Errors) == 0,
		Changed: class != "" && class != "none",
		Failed:  r.Result != model.Passed || r.Doubted(),
	})
}

// artifact returns the report that a run left, downloaded or from a path.
func artifact(ctx context.Context, client *github.Client, run github.WorkflowRun, name string) ([]byte, error) {
	if name == "" {
		return client.Artifact(ctx, run.ID, github.ReportArtifact, artifactFiles)
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		if len(entries) != 1 || !slices.ContainsFunc(artifactFiles, func(f github.ArtifactFile) bool { return f.Name == entries[0].Name() }) {
			return nil, refused("the artifact contains %d files, wanted only %q", len(entries), render.SummaryFile)
		}
		name = filepath.Join(name, entries[0].Name())
		if info, err = os.Lstat(name); err != nil {
			return nil, err
		}
	}
	if !info.Mode().IsRegular() {
		return nil, refused("%s is %s, wanted a regular file", name, info.Mode().Type())
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	limit := mostBytes(name)
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, refused("%s has more than %d bytes", name, limit)
	}
	return data, err
}

// mostBytes returns how large the file of an artifact may be; one of another name may be as large as
// the largest.
func mostBytes(name string) (most int64) {
	for _, one := range artifactFiles {
		if filepath.Base(name) == one.Name {
			return one.Limit
		}
		most = max(most, one.Limit)
	}
	return most
}

// refused is what a stranger's report is answered with.
func refused(format string, args ...any) error {
	return &fault.Error{Kind: github.ErrArtifact, Message: fmt.Sprintf(format, args...)}
}

// strangersReport reads the report of another run. Nothing in it is believed beyond
// what the event says too: it has to be about the head of the run, and leads to no
// other server. It can say that something was published, and the run of a pull request
// publishes nothing.
func strangersReport(data []byte, event *github.Event) (*model.Report, error) {
	r, err := model.Read(bytes.NewReader(data))
	if errors.Is(err, model.ErrNotAReport) {
		return nil, refused("the report is refused: %s", err)
	}
	if err != nil {
		return nil, err
	}
	if r.Head == nil || r.Head.SHA != event.Run.HeadSHA {
		return nil, refused("the report is about another commit than %.7s, the head of the run", event.Run.HeadSHA)
	}
	r.Published = nil
	for _, revision := range []*model.Revision{r.Base, r.Head} {
		if revision != nil {
			revision.BlobURL = event.BlobURL(revision.SHA)
		}
	}
	return r, nil
}
