package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

func newAction(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "action", Short: "run as a GitHub Action", Args: wants(),
		Long: `Reads the event and the inputs from the GitHub runner's environment, checks the
packs that the event concerns, compares them with the base, and writes job
summary, comment, check run or annotations, outputs and report files. After a run
of another workflow (workflow_run) it posts what that run reported, as packgate
comment does.

Exit status: that of the work that the event requires, as listed by packgate --help.`,
		Example: "  packgate action",
		RunE:    func(c *cobra.Command, _ []string) error { return action(c.Context(), env) },
	}
}

// actionRun is one run as a GitHub Action.
type actionRun struct {
	*run
	event       *github.Event // nil where it could not be read
	runner      *github.Runner
	inputs      inputs
	changed     []string            // packs that changed, id@version
	labels      bool                // the config asks for labels
	suggestions []github.Suggestion // mechanical repairs for the lines of a pull request
	expires     string              // of the timestamp that was signed
}

func action(ctx context.Context, env *Env) error {
	a := &actionRun{runner: &github.Runner{Out: env.Stdout, Getenv: env.Getenv}}
	a.run = newRun(env, "action", gating.FailOnError)
	err := a.prepare()
	switch {
	case errors.Is(err, github.ErrNotActions):
		return err // nobody is there to deliver a report to
	case err != nil && a.links():
		return err // the report that is there stays
	case err == nil && a.links():
		return a.link(ctx)
	case err == nil && a.inputs.command == github.CommandComment:
		return a.postOther(ctx)
	case err == nil && a.aboutVersions():
		return a.versions(ctx)
	case err == nil && (a.inputs.command != github.CommandPublish || a.bound()):
		err = a.gateEvent(ctx)
	}
	if err == nil && a.publishes() {
		if err = a.publish(ctx); err == nil {
			err = a.applyPins(ctx)
		}
	}
	if err != nil {
		a.Fail(stopped(ctx, "the event", err))
	}
	a.Settle()
	a.deliver(ctx)
	return verdict(a.Report.ExitCode)
}

// prepare reads event and inputs and goes to the workspace, which need not be
// the current folder of a container.
func (a *actionRun) prepare() (err error) {
	if a.event, err = github.ReadEvent(a.env.Getenv, os.ReadFile); err != nil {
		return err
	}
	if err := os.Chdir(a.event.Workspace); err != nil {
		return fmt.Errorf("go to the workspace: %w", err)
	}
	if a.inputs, err = readInputs(a.env.Getenv, a.event); err != nil {
		return err
	}
	a.FailOn, a.Report.Shard = a.inputs.failOn, a.inputs.part.String()
	return nil
}

// inputs are what a workflow gives to the action.
type inputs struct {
	command   string
	named     bool         // the command was named, and not chosen for the event
	part      gating.Shard // what is gated of the packs
	config    string       // "" for the repository's own
	packs     []string     // patterns; none for the config's
	base      string       // "" for that of the event
	token     string
	comment   string
	failOn    string
	strict    *bool // nil for what the config says
	sarif     string
	reportDir string // folder of the report files, within the workspace
	fullURL   string // where the full report is or will be; "" where that is not known

	// What publishing and the commands about versions take.
	signing     signingOptions
	ref         string
	reason      string
	environment string
	replay      bool
	accept      string
	stop        bool
}

// readInputs reads the inputs of the action, and decides what an event runs.
func readInputs(getenv func(string) string, event *github.Event) (inputs, error) {
	get := func(name string) string { return github.Input(getenv, name) }
	in := inputs{
		config: get("config"), packs: github.InputList(getenv, "packs"), base: get("base-ref"), token: get("token"),
		comment: cmp.Or(get("comment"), string(github.CommentAlways)), failOn: get("fail-on"), sarif: get("sarif-file"),
	}
	in.fullURL = get("report-url")
	var err error
	if in.sarif != "" {
		if in.sarif, err = localInput("sarif-file", in.sarif); err != nil {
			return in, err
		}
	}
	if in.reportDir, err = localInput("report-dir", cmp.Or(get("report-dir"), defaultReportDir)); err != nil {
		return in, err
	}
	if in.command, err = commandOf(get("command"), event.Name); err != nil {
		return in, err
	}
	in.named = get("command") != ""
	in.signing.registryOptions = registryOptions{
		config: in.config, registry: get("registry"), trustedRoot: get("trusted-root"), look: look{format: "terminal", color: "never"},
	}
	in.signing.signingConfig, in.ref, in.reason, in.environment = get("signing-config"), get("ref"), get("reason"), get("environment")
	in.accept = get("accept")
	strict, strictErr := truth("strict", get("strict"))
	dryRun, dryRunErr := truth("dry-run", get("dry-run"))
	replay, replayErr := truth("replay", get("replay"))
	stop, stopErr := truth("stop", get("stop"))
	if err := cmp.Or(strictErr, dryRunErr, replayErr, stopErr); err != nil {
		return in, err
	}
	in.strict, in.signing.dryRun, in.replay = strict, dryRun != nil && *dryRun, replay != nil && *replay
	in.stop = stop != nil && *stop
	if err := in.choosePart(get("shard"), get("comment")); err != nil {
		return in, err
	}
	return in, cmp.Or(
		in.complete(),
		oneOf("the input fail-on", in.failOn, append(gating.FailOnLevels(), "")...),
		oneOf("the input comment", in.comment, github.CommentModes()...),
	)
}

// choosePart reads the input shard. The run of a shard only gates: jobs beside each
// other would publish the same, and overwrite each other's comment.
func (in *inputs) choosePart(value, comment string) (err error) {
	if in.part, err = gating.ParseShard("the input shard", value); err != nil || in.part.Whole() {
		return err
	}
	if in.command != github.CommandCheck {
		return misuse("use it with check", "the input shard does not go with the command %s", in.command)
	}
	if comment != "" && comment != string(github.CommentNever) {
		return misuse("leave the input comment out, and post the merged report", "the input shard does not go with the comment %q", comment)
	}
	in.named, in.comment = true, string(github.CommentNever)
	return nil
}

// truth reads an input that is true or false; nil where it is left out.
func truth(name, value string) (*bool, error) {
	if value == "" {
		return nil, nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return nil, misuse("use true or false", "the input %s is %q", name, value)
	}
	return &b, nil
}

// complete says which input a command lacks.
func (in *inputs) complete() error {
	lacks := func(name, what string) error {
		return misuse(what, "the command %s needs the input %s", in.command, name)
	}
	about := []string{github.CommandDeprecate, github.CommandPin, github.CommandRevoke, github.CommandRollback}
	moves := in.command == github.CommandPin || in.command == github.CommandRollback
	applies := in.command == github.CommandPin && in.ref == "" // the pins files, of all environments where none is named
	switch about := slices.Contains(about, in.command) && !applies; {
	case about && in.ref == "":
		return lacks("ref", "name the version, such as ctxpack.support@1.0.0")
	case about && !moves && in.reason == "":
		return lacks("reason", "say why, in a sentence")
	case in.fullURL != "" && !model.WebURL(in.fullURL):
		return misuse("write an address that begins with https://", "the input report-url is %q", in.fullURL)
	case in.command == github.CommandLink && in.fullURL == "":
		return lacks("report-url", "give it the address of the uploaded report, such as steps.page.outputs.artifact-url")
	case moves && !applies && in.environment == "":
		return lacks("environment", "name the environment, such as prod")
	}
	return nil
}

// commandOf returns what runs: the command that was named, or else what the event
// is for. An event that has no place for the command refuses it. What signs is
// refused where it is about to, with what is to be changed in the workflow.
func commandOf(named, event string) (string, error) {
	fits := github.CommandCheck
	if event == github.EventWorkflowRun {
		fits = github.CommandComment
	}
	if named == "" {
		return fits, nil
	}
	if err := oneOf("the input command", named, github.Commands()...); err != nil {
		return "", err
	}
	if named == github.CommandLink {
		return named, nil // where there is no comment it says so
	}
	if (slices.Contains(github.Proposals(), event) || event == github.EventMergeGroup) && named != github.CommandCheck && named != github.CommandPublish { // which refuses it
		return "", misuse("use check, or leave the input out", "the input command is %q, and a pull request is checked", named)
	}
	if (named == github.CommandComment) != (fits == github.CommandComment) {
		return "", misuse(fmt.Sprintf("use %s, or leave the input out", fits), "the input command is %q, which does not run on %s", named, event)
	}
	return named, nil
}

// gateEvent gates what the event concerns.
func (a *actionRun) gateEvent(ctx context.Context) error {
	commit, err := gating.OpenCommit(a.event.Workspace, a.historian(), a.base(ctx))
	if err != nil {
		return err
	}
	defer commit.Close() // only read from
	a.revisions(commit)
	configName, err := a.configOf(commit)
	if err != nil {
		return err
	}
	s := gating.Settings{Config: a.inputs.config, Packs: a.inputs.packs, Partial: true, Evaluators: evaluators(ctx)}
	// A change does not decide by what it is judged. What is pushed has been merged.
	if commit != nil && a.event.Name != github.EventPush {
		if s.InForce, err = commit.InForce(configName, s.Config != ""); err != nil {
			return err
		}
	}
	w, err := gating.Open(ctx, ".", s)
	if err != nil {
		return err
	}
	defer w.Close()
	a.tighten(w)
	a.labels = w.Config.Labels.Value
	in := gating.Inputs{Workspace: w, Strict: a.inputs.strict, Shard: a.inputs.part}
	switch {
	case commit == nil && len(w.Packs) == 0:
		return a.noPacks(w)
	case commit == nil: // the event changes nothing
		return a.All(ctx, in)
	}
	if a.Lookup, err = openLookup(ctx, a.env, w, lookupOptions{a.inputs.signing.registryOptions, true}); err != nil {
		return err
	}
	if in.Base, err = commit.Baseline(w); err != nil {
		return err
	}
	in.Base.ConfigName, in.Base.Open = path.Base(configName), a.trees(in.Base)
	in.Approvals = a.approvals(ctx, in)
	return a.gateChanged(ctx, in)
}

// historian returns the client for a base that the clone lacks; nil where there is no
// token. Without an address of the API there is none, which whoever delivers says.
func (a *actionRun) historian() *github.Client {
	if a.inputs.token == "" {
		return nil
	}
	client, _ := newClient(a.env, a.event, a.inputs.token) // nil with an error
	return client
}

func (a *actionRun) revisions(base *gating.Commit) {
	a.Report.Head = &model.Revision{Ref: a.event.HeadRef, SHA: a.event.HeadSHA}
	a.Report.Base = base.Revision()
	for _, r := range []*model.Revision{a.Report.Base, a.Report.Head} {
		if r != nil {
			r.BlobURL = a.event.BlobURL(r.SHA)
		}
	}
}

// gateChanged gates the packs that the change concerns.
func (a *actionRun) gateChanged(ctx context.Context, in gating.Inputs) error {
	change, err := in.Base.Change(ctx)
	if err != nil {
		return err
	}
	if err := cmp.Or(change.Complete(), change.Committed(ctx), a.anyPack(in.Workspace, change)); err != nil {
		return err
	}
	own, err := a.Changed(ctx, in, change)
	if err != nil {
		return err
	}
	a.repairs(in.Workspace)
	for _, p := range a.Report.Packs.Briefs() {
		if versionName().MatchString(p.Pack) && slices.Contains(own, p.Path) { // the checks refuse another form
			a.changed = append(a.changed, p.Pack)
		}
	}
	return nil
}

// anyPack refuses patterns that match nothing, unless the change removes what
// they matched: a gate that looks into the wrong folder would be green for ever.
// A repository that names no patterns may still be without packs.
func (a *actionRun) anyPack(w *gating.Workspace, c *gating.Change) error {
	if len(w.Packs) > 0 || len(c.Removed()) > 0 {
		return nil
	}
	if len(a.inputs.packs) > 0 || w.Config.Packs.Node != nil {
		return a.noPacks(w)
	}
	a.Notice("there is no pack in this repository; a pack is a file named pack.json or NAME.pack.json")
	return nil
}

func (a *actionRun) noPacks(w *gating.Workspace) error {
	if len(a.inputs.packs) == 0 {
		return w.Files.NoPacks(w.Config)
	}
	return misuse("name the pack files relative to the config's folder, for example packs/*/pack.json",
		"no file matches the input packs, which is %q", a.inputs.packs)
}

// configPath returns the name of a config relative to the workspace, the current folder.
func configPath(named string) (string, error) {
	if named == "" {
		return repo.ConfigName, nil
	}
	name := named
	if filepath.IsAbs(name) {
		here, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if name, err = filepath.Rel(here, name); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(name) {
		return "", misuse("name it relative to the workspace", "the config %q is outside the workspace", named)
	}
	return path.Clean(filepath.ToSlash(name)), nil
}
