package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// handMove is what decides whether an environment may be moved back by hand.
type handMove struct {
	environment string
	commit      string // that is checked out, "" where the environment has no pins file
	// The rest is not there outside of GitHub, where the key is what permits a move.
	held  *heldRules
	roles []string        // of which one is required, by the catalogs and by what still holds
	notes []model.Problem // what to say of the latter where it is refused
}

// moveByHand finds out what decides about a move of an environment by hand.
func moveByHand(ctx context.Context, r *reviewing, environment string) (*handMove, error) {
	m := &handMove{environment: environment}
	if err := r.open(); err != nil {
		return nil, err
	}
	if r.base == nil {
		return m, onlyOutside(r)
	}
	defer r.close()
	if pinsFileOf(r.w, environment) != nil {
		m.commit = r.base.Ref
	}
	if r.event == nil {
		return m, nil
	}
	p, err := r.base.PromotionOf(environment, "", nil, gating.Stage{})
	if err != nil {
		return nil, err
	}
	if m.held, err = r.heldRules(ctx, environment); err != nil {
		return nil, err
	}
	m.notes = m.held.add(p)
	m.roles = p.Roles()
	return m, nil
}

// onlyOutside refuses a run on GitHub that has no history to look at.
func onlyOutside(r *reviewing) error {
	if r.event == nil {
		return nil
	}
	return misuse("check out the repository with actions/checkout and `fetch-depth: 0`", "the job has no git repository, so the rules of the environment before are not known")
}

// pinsFileOf returns the pins file of an environment, nil where it has none.
func pinsFileOf(w *gating.Workspace, environment string) *repo.Pins {
	for _, e := range w.Environments {
		if e.Name() == environment && e.PinsFile != nil {
			return e.PinsFile
		}
	}
	return nil
}

// mayGoBack returns the roles by which whoever started the run may move the environment back:
// any that its catalogs require. Where they require none, and outside of GitHub, there are none.
// The error is a *refusedError where the person holds none of them.
func (m *handMove) mayGoBack(ctx context.Context, r *reviewing) (approvals []statement.Approval, err error) {
	if len(m.roles) == 0 {
		return nil, nil
	}
	// Who runs a job again is not who caused it first.
	actor := cmp.Or(r.env.Getenv("GITHUB_TRIGGERING_ACTOR"), r.event.Actor)
	of, err := r.client.Holds(ctx, actor, m.roles, m.held.members(r.w.Config))
	if err != nil {
		return nil, err
	}
	if len(of.Granted) == 0 {
		problems := []model.Problem{{
			Message: fmt.Sprintf("%q may not move the environment %q: its catalog requires one of the roles %s", actor, m.environment, strings.Join(m.roles, ", ")),
			Hint:    "have somebody start the run who holds one, as reviews.roles of the config says",
		}}
		for _, n := range of.NotChecked {
			problems = append(problems, model.Problem{Message: fmt.Sprintf("whether %q holds the role %s is not known: %s", actor, n.Role, n.Reason), Hint: n.Hint})
		}
		return nil, &refusedError{append(problems, m.notes...)}
	}
	for _, g := range of.Granted {
		approvals = append(approvals, statement.Approval{Role: g.Role, Login: g.Login})
	}
	return approvals, nil
}

// mayPin refuses to pin a version by hand in an environment that has a pins file, or that has or
// still has rules for promotion: they hold for the lines of such a file, and nobody goes around
// them without one.
func mayPin(ctx context.Context, env *Env, o lifecycleOptions) error {
	w, err := gating.Open(ctx, ".", gating.Settings{Config: o.config})
	if err != nil {
		return err
	}
	defer w.Close()
	back := fmt.Sprintf("packgate rollback %s goes back to what ran before", shellWord(o.environment))
	write := fmt.Sprintf("write its pins file with packgate promote --to %s, in a pull request; %s", shellWord(o.environment), back)
	if file := pinsFileOf(w, o.environment); file != nil {
		return refusedBecause("change its line there by a pull request, as packgate promote does; "+back,
			"the environment %q is moved by %s, and not by hand", o.environment, file.Document.File)
	}
	if slices.ContainsFunc(w.Environments, func(e *repo.Environment) bool { return e.Name() == o.environment && e.Promote.Node != nil }) {
		return refusedBecause(write, "the catalog of %q has rules for promotion, which a version that is pinned by hand does not meet", o.environment)
	}
	m, err := moveByHand(ctx, &reviewing{env: env, w: w}, o.environment)
	if err != nil {
		return err
	}
	if m.held != nil && len(m.held.rules) > 0 {
		problem := model.Problem{Message: fmt.Sprintf("the environment %q still has rules for promotion, which a version that is pinned by hand does not meet", o.environment), Hint: write}
		return &refusedError{append([]model.Problem{problem}, m.held.rulesNotes...)}
	}
	return nil
}
