package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// RollbackChange moves an environment back.
type RollbackChange struct {
	Pack        string // pack_id
	Environment string
	From        string // version that the environment leaves, "" for whichever it has
	Actor       string // who moves it
	Reason      string // may be empty
	Accept      string // why a version is accepted whose cases do not hold any more, "" where none is
	Stop        bool   // leaves the environment without a version
	Commit      string // whose pins file is in force, "" where there is none
	Approvals   []statement.Approval
	By          string // what stops the environment: statement.ByPinsFile, or "" for a rollback
}

// Skipped is a version that a rollback passed over.
type Skipped struct {
	Pack   string // pack_id@version
	Reason string
}

// RollbackResult is what became of a rollback.
type RollbackResult struct {
	PinResult
	Skipped  []Skipped // the newest first
	Accepted bool      // the cases of the version do not hold, and the record says why it is accepted
	Stopped  bool      // the environment has no version any more
}

// ErrNoWayBack: none of the versions that an environment had before can be gone back to.
var ErrNoWayBack = fault.NewKind("no version to go back to", "publish a good version, and promote it; until then, --stop leaves the environment without one")

// rollback is a rollback under way.
type rollback struct {
	*Publisher
	RollbackChange
	tag     string
	survey  *survey
	moves   []move
	recheck func(context.Context, *Verdict, []byte) error
	out     *RollbackResult
}

// Rollback moves an environment to its last good pin: the newest version that it had
// before, that verifies today, is not revoked, and in whose bytes recheck, which may be nil,
// finds nothing. What recheck finds is an error of kind ErrRefused, which Accept overrules;
// any other ends the rollback. A deprecated version is good. Where there is none, the error
// is of kind ErrNoWayBack and nothing moves; of kind ErrRefused where the environment has
// another version than From. A rollback that was cut off is finished by the next one, which
// then goes no further back; one that names From may be run any number of times.
func (p *Publisher) Rollback(ctx context.Context, c RollbackChange, recheck func(context.Context, *Verdict, []byte) error) (*RollbackResult, error) {
	tag, err := registry.PinTag(c.Environment)
	if err != nil {
		return nil, err
	}
	s, err := p.Checker().survey(ctx, c.Pack, request{tags: []string{tag}})
	if err != nil {
		return nil, err
	}
	r := &rollback{Publisher: p, RollbackChange: c, tag: tag, survey: s, moves: s.moves(c.Environment), recheck: recheck, out: &RollbackResult{}}
	r.out.Environment, r.out.DryRun = c.Environment, p.DryRun
	if len(r.moves) == 0 {
		return nil, &fault.Error{Kind: ErrNoWayBack, Message: fmt.Sprintf("no signed record ever moved the environment %q of %q", c.Environment, c.Pack),
			Hint: "check the environment and the pack"}
	}
	if done, err := r.unfinished(ctx); done || err != nil {
		return r.out, err
	}
	if r.done() {
		return r.out, r.entered(ctx)
	}
	now, back := wayBack(r.moves)
	switch leaves := r.leaving(now); {
	case c.From != "" && c.From != leaves:
		return nil, &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the environment %q is not at version %q, wanted for this rollback: it is at %s", c.Environment, c.From, orNone(leaves)),
			Hint: "look at packgate log: somebody may have moved it already"}
	case c.Stop:
		return r.out, r.stop(ctx, now)
	}
	return r.out, r.back(ctx, now, back)
}

func orNone(version string) string {
	if version == "" {
		return "none"
	}
	return fmt.Sprintf("%q", version)
}

// leaving returns the version that an environment has, "" for none.
func (r *rollback) leaving(now *move) string {
	if now == nil || now.to.artifact == nil {
		return ""
	}
	return now.to.artifact.Version
}

// unfinished moves the tag of a rollback that was recorded and cut off before that.
func (r *rollback) unfinished(ctx context.Context) (done bool, err error) {
	last := r.moves[len(r.moves)-1]
	named := r.survey.tags[r.tag]
	if last.By != statement.ByRollback || last.Stopped || r.Stop || named == last.to.digest || named != last.Previous {
		return false, nil
	}
	found := r.looked(last.to)
	r.out.Outcome = r.outcome(found.repo, found.verdict)
	r.out.Previous, r.out.Bundle, r.out.Signer = last.Previous, last.Bundle, &last.Signer
	if r.DryRun {
		return true, nil
	}
	if err := r.enterPin(ctx, found, &last.PinRecord); err != nil {
		return true, err
	}
	return true, movePin(ctx, found, r.tag, named)
}

// done reports whether the rollback that is asked for is the last thing that happened to the
// environment, which only From can say.
func (r *rollback) done() bool {
	last := r.moves[len(r.moves)-1]
	left := r.survey.holdings[last.Previous]
	if r.From == "" || last.By != statement.ByRollback || last.Stopped != r.Stop || left == nil || left.artifact == nil || left.artifact.Version != r.From {
		return false
	}
	found := r.looked(last.to)
	r.out.Outcome = r.outcome(found.repo, found.verdict)
	r.out.Already, r.out.Stopped, r.out.Previous, r.out.Bundle, r.out.Signer = true, last.Stopped, last.Previous, last.Bundle, &last.Signer
	return true
}

// entered sees to it that the last move is in the history, where a run was cut off before that.
func (r *rollback) entered(ctx context.Context) error {
	if r.DryRun {
		return nil
	}
	last := r.moves[len(r.moves)-1]
	return r.enterPin(ctx, r.looked(last.to), &last.PinRecord)
}

// looked returns a holding as what a reference to it names.
func (r *rollback) looked(h *holding) *looked {
	version := ""
	if h.artifact != nil {
		version = h.artifact.Version
	}
	return &looked{verdict: r.survey.judge(version, h), holding: h, repo: r.survey.repo}
}

// back moves the environment to the first of the versions that is good.
func (r *rollback) back(ctx context.Context, now *move, back []move) error {
	for i, m := range back {
		if now != nil && m.what() == now.what() || slices.ContainsFunc(back[:i], func(b move) bool { return b.what() == m.what() }) {
			continue
		}
		found := r.looked(m.to)
		if err := r.Checker().runs(ctx, found.repo, found.verdict, &m.PinRecord); err != nil {
			return err
		}
		found.verdict.settle()
		why, err := r.objection(ctx, found)
		if err != nil {
			return err
		}
		if why != "" {
			r.out.Skipped = append(r.out.Skipped, Skipped{found.verdict.Name(), why})
			continue
		}
		return r.pin(ctx, found, m.Runs)
	}
	message := fmt.Sprintf("the environment %q of %q has no earlier version that it can go back to", r.Environment, r.Pack)
	for _, s := range r.out.Skipped {
		message += fmt.Sprintf("; %q: %s", s.Pack, s.Reason)
	}
	return &fault.Error{Kind: ErrNoWayBack, Message: message}
}

// objection says why a version is passed over, "" where it is good or accepted.
func (r *rollback) objection(ctx context.Context, found *looked) (why string, err error) {
	switch v := found.verdict; {
	case v.Status == Revoked || v.Status == Untrusted:
		return strings.TrimPrefix(refusedBy(v, "").Message, ": "), nil
	case r.recheck == nil:
		return "", nil
	}
	err = r.recheck(ctx, found.verdict, found.holding.artifact.Content)
	switch {
	case err == nil:
		return "", nil
	case !errors.Is(err, ErrRefused):
		return "", err
	case r.Accept != "":
		r.out.Accepted = true
		return "", nil
	}
	return err.Error(), nil
}

// pin signs the record of the rollback, and moves the tag.
func (r *rollback) pin(ctx context.Context, found *looked, runs *statement.Version) error {
	c := PinChange{
		Ref: registry.Ref{Pack: r.Pack, Digest: found.holding.digest}, Environment: r.Environment, Actor: r.Actor, Reason: r.Reason,
		Replay: found.verdict.Status == Deprecated, By: statement.ByRollback, Commit: r.Commit, Approvals: r.Approvals, bundle: runs,
	}
	if r.out.Accepted {
		c.Accept = r.Accept
	}
	out, err := r.pinTo(ctx, found, r.tag, c)
	if out != nil {
		r.out.PinResult = *out
	}
	return err
}

// stop records that the environment has no version any more. Its tag stays where it is:
// the record says that it counts no longer.
func (r *rollback) stop(ctx context.Context, now *move) error {
	last := r.moves[len(r.moves)-1]
	found := r.looked(last.to)
	r.out.Outcome, r.out.Stopped, r.out.Previous = r.outcome(found.repo, found.verdict), true, last.to.digest
	if now == nil {
		r.out.Already, r.out.Bundle, r.out.Signer = true, last.Bundle, &last.Signer
		return r.entered(ctx)
	}
	if found.holding.artifact == nil {
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf("the environment %q cannot be stopped: %s", r.Environment, found.holding.problem.Message)}
	}
	if r.DryRun {
		return r.preflight(ctx)
	}
	at := r.following(last.Time)
	return r.record(ctx, found, recording{doing: "stopping", of: "stop", kind: statement.TypeStop, entry: statement.KindStop, environment: r.Environment, at: at, statement: statement.Stop{Move: statement.Move{
		Version: found.holding.version, Environment: r.Environment, Previous: found.holding.digest, Actor: r.Actor, Reason: r.Reason,
		By: cmp.Or(r.By, statement.ByRollback), Commit: r.Commit, Approvals: r.Approvals, Time: at,
	}}}, &r.out.Outcome)
}
