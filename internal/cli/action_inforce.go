package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// bound reports whether the inputs of the run can only tighten what the base says: who
// opens a pull request may edit the workflow that gives them.
func (a *actionRun) bound() bool {
	return a.event.Proposal() || a.event.Name == github.EventMergeGroup
}

// bounds say of each input of the action how it is kept from loosening how a change is
// judged: one that would is set back to what the base says, and the error says so. Nil is
// for what touches no verdict.
var bounds = map[string]func(in *inputs, c *repo.Config) error{
	"fail-on": func(in *inputs, c *repo.Config) error {
		asked, config := in.failOn, cmp.Or(c.FailOn.Value, gating.FailOnError)
		in.failOn = gating.Tightest(asked, config)
		switch {
		case asked == "" || asked == in.failOn:
			return nil
		case asked == gating.FailOnNever:
			return loosens("let the job itself say continue-on-error, or do not require its status", "fail-on is %q", asked)
		}
		return loosens("write it as fail_on of the config, in a change of its own", "fail-on is %q, and the config has %q", asked, config)
	},
	"registry": func(in *inputs, c *repo.Config) error {
		return other(&in.signing.registry, "registry", c.Publish.Registry.Value)
	},
	"signing-config": func(in *inputs, c *repo.Config) error {
		return other(&in.signing.signingConfig, "signing-config", c.Publish.SigningConfig.Value)
	},
	"trusted-root": func(in *inputs, c *repo.Config) error {
		return other(&in.signing.trustedRoot, "trusted-root", c.Publish.TrustedRoot.Value)
	},
	// The packs of the base are gated, and those of the input besides (packsLeftOut). What
	// the base is strict about stays strict (gating.Workspace.Policy). The base is the
	// event's (base), the config that of the base (configOf), and no other command than
	// check runs (commandOf).
	"packs": nil, "strict": nil, "base-ref": nil, "config": nil, "command": nil,
	// Another shard is another job's, and each says what is wrong with the repository.
	"shard": nil,
	// These say where the report goes.
	"comment": nil, "report-dir": nil, "report-url": nil, "sarif-file": nil, "token": nil,
	// These are of commands that no change runs.
	"accept": nil, "dry-run": nil, "environment": nil, "reason": nil, "ref": nil, "replay": nil, "stop": nil,
}

// other refuses a value that is not the one of the config, where that has one.
func other(value *string, name, config string) error {
	given := *value
	if config == "" || given == "" || given == config {
		return nil
	}
	*value = ""
	return loosens("change the config, in a change of its own", "%s is %q, and the config has %q", name, given, config)
}

func loosens(hint, format string, args ...any) error {
	return misuse(hint, "on pull requests inputs can only tighten what the base says, and the input "+format+"; the change is judged without it", args...)
}

// tighten sets back the inputs that would loosen how a change is judged, and fails the run
// for each.
func (a *actionRun) tighten(w *gating.Workspace) {
	if !a.bound() {
		return
	}
	for _, name := range github.ActionInputs() {
		if set := bounds[name]; set != nil {
			if err := set(&a.inputs, w.Config); err != nil {
				a.Fail(err)
			}
		}
	}
	a.FailOn = a.inputs.failOn
	if err := a.packsLeftOut(w); err != nil {
		a.Fail(err)
	}
}

// packsLeftOut says which pack of the workspace, whose patterns are those of the base and
// the input, the input would leave out.
func (a *actionRun) packsLeftOut(w *gating.Workspace) error {
	if len(a.inputs.packs) == 0 {
		return nil
	}
	var left []string
	for _, name := range w.Packs {
		if !repo.Matches(a.inputs.packs, name) {
			left = append(left, w.Files.Show(name))
		}
	}
	switch len(left) {
	case 0:
		return nil
	case len(w.Packs):
		return a.noPacks(w)
	}
	return loosens("write it under packs: of the config, in a change of its own", "packs leaves out %s", strings.Join(left[:1], ""))
}

// configOf returns the config by which the event is judged: the one that is named, unless
// the base has one at the root and none of its workflows that run packgate names another.
func (a *actionRun) configOf(commit *gating.Commit) (string, error) {
	name, err := configPath(a.inputs.config)
	if err != nil || commit == nil || !a.bound() || name == repo.ConfigName {
		return name, err
	}
	_, there, err := commit.Read(repo.ConfigName, 0)
	if errors.Is(err, github.ErrTooLarge) {
		there, err = true, nil
	}
	if err != nil || !there {
		return name, err
	}
	gates, err := commit.Workflows()
	if err != nil || gates.Has(a.inputs.config) {
		return name, err
	}
	if _, err := commit.Config(name, true); errors.Is(err, repo.ErrUse) {
		return name, nil // which is not there, or not valid, and says so
	}
	a.inputs.config, a.inputs.signing.config = "", ""
	a.Fail(loosens("name it in the workflow in a change of its own", "config is %q, and the base has %s", name, repo.ConfigName))
	return repo.ConfigName, nil
}

// base chooses what the event is compared with; nothing where it has no base. That of a
// pull request is the event's.
func (a *actionRun) base(ctx context.Context) gating.Choice {
	return func(git *github.Repository) (*github.Tree, string, error) {
		named, err := a.baseRef(ctx, git)
		if named != nil || err != nil {
			return named, a.inputs.base, err
		}
		b, err := git.Base(ctx, a.event, a.inputs.token)
		if err == nil && b.Tree == nil {
			a.Notice("nothing to compare with: %s", b.Reason)
		}
		return b.Tree, a.event.BaseRef, err
	}
}

// baseRef returns the base that the input names, nil where it names none that counts.
func (a *actionRun) baseRef(ctx context.Context, git *github.Repository) (*github.Tree, error) {
	switch {
	case a.inputs.base == "":
		return nil, nil
	case a.bound():
		a.Notice("the input base-ref is %q, and a pull request is compared with the base of its event", a.inputs.base)
		return nil, nil
	}
	sha, err := git.Resolve(a.inputs.base)
	if err != nil {
		return nil, err
	}
	return git.At(ctx, a.event, a.inputs.token, sha)
}
