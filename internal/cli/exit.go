package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// verdictError carries an exit code out of a command whose report has been
// written: there is nothing more to say.
type verdictError struct{ code int }

func (e *verdictError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// verdict returns the error that carries an exit code; nil for a pass.
func verdict(code int) error {
	if code == gating.ExitPass {
		return nil
	}
	return &verdictError{code}
}

// misuse returns the error of wrong use: what is there, and what to do about it.
func misuse(hint, format string, args ...any) error {
	return &repo.Problem{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// refusedError is a decision against something, and no failure: it exits as findings do.
type refusedError struct{ problems []model.Problem }

func (e *refusedError) Error() string { return e.problems[0].Message }

// useKinds are the kinds of failure that whoever called packgate corrects.
var useKinds = []*fault.Kind{
	registry.ErrName, publish.ErrRef, attest.ErrToken, attest.ErrRefusedBySigning,
	github.ErrRefused, github.ErrUnknownEvent, github.ErrNotActions, github.ErrNoRepository, github.ErrUnknownRevision,
}

// exitCode returns the code that an error stands for.
func exitCode(err error) int {
	var verdict *verdictError
	var refused *refusedError
	switch {
	case err == nil:
		return gating.ExitPass
	case errors.As(err, &verdict):
		return verdict.code
	case errors.As(err, &refused):
		return gating.ExitFindings
	case errors.Is(err, repo.ErrUse), fault.Is(err, useKinds...):
		return gating.ExitUse
	}
	return gating.ExitFailure
}

// problemsOf returns an error in the report's form, one problem for each fault in it.
func problemsOf(err error) []model.Problem {
	var many repo.Problems
	var one *repo.Problem
	var refused *refusedError
	var collision *publish.Collision
	var unseen *repo.Unseen
	switch {
	case errors.As(err, &unseen):
		var problems []model.Problem
		for _, one := range unseen.Errors {
			problems = append(problems, problemsOf(one)...)
		}
		return problems
	case errors.As(err, &refused):
		return refused.problems
	case errors.As(err, &collision):
		return []model.Problem{{Message: version.VER004.ID + ": " + collision.Error(), Hint: collision.Hint()}}
	case errors.As(err, &many):
		var problems []model.Problem
		for _, p := range many {
			problems = append(problems, problemAt(p.Location, p.Message, p.Hint))
		}
		return problems
	case errors.As(err, &one):
		return problemsOf(repo.Problems{one})
	}
	var problems []model.Problem
	for _, one := range parts(err) {
		problems = append(problems, model.Problem{Message: one.Error(), Hint: nextStep(one)})
	}
	return problems
}

// parts returns the errors that were joined into one; the error itself where it is one.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	var lines []string
	for _, one := range joined.Unwrap() {
		all = append(all, parts(one)...)
		lines = append(lines, one.Error())
	}
	if strings.Join(lines, "\n") != err.Error() {
		return []error{err} // it has words of its own
	}
	return all
}

// problemAt returns what is wrong at a place; l may be without a line.
func problemAt(l finding.Location, message, hint string) model.Problem {
	return model.Problem{Message: message, Hint: hint, File: l.File, Line: l.Start.Line, Column: l.Start.Column}
}

// printProblems writes an error for a person.
func printProblems(w io.Writer, err error) {
	for _, p := range problemsOf(err) {
		printProblem(w, p)
	}
}

// printProblem writes place, message, and what to do.
func printProblem(w io.Writer, p model.Problem) {
	place := ""
	switch {
	case p.Line > 0:
		place = fmt.Sprintf("%s:%d:%d: ", render.Visible(p.File), p.Line, p.Column)
	case p.File != "":
		place = render.Visible(p.File) + ": "
	}
	text := fmt.Sprintf("packgate: %s%s\n", place, render.Visible(p.Message))
	if p.Hint != "" {
		text += fmt.Sprintf("  → %s\n", render.Visible(p.Hint))
	}
	fmt.Fprint(w, render.Inert(text))
}

// remedies are what to do about what the machine refuses. The first that fits counts.
var remedies = []struct {
	err  error
	hint string
}{
	{atomicfile.ErrNotOurs, "name another folder for the reports, or move away what is there"},
	{syscall.EMFILE, "raise the limit of open files, for example with ulimit -n 1024"},
	{syscall.ENFILE, "the whole machine has too many files open: end other programs, or raise its limit"},
	{syscall.ENOSPC, "free space on the disk, then run it again"},
	{syscall.EDQUOT, "free space within the quota, then run it again"},
	{syscall.EFBIG, "raise the limit on the size of files, for example with ulimit -f unlimited"},
	{syscall.EROFS, "name a place that may be written to"},
	{syscall.EISDIR, "name a file, this is a folder"},
	{syscall.ENOTDIR, "name a place below a folder, a part of this path is a file"},
	{syscall.EIO, "the disk could not be read or written: look after it, then run it again"},
	{atomicfile.ErrChanged, "run it again once nothing writes to the file"},
	{fs.ErrPermission, "give this user the right to it, or run packgate as a user who has it"},
}

// nextStep returns what to do about an error: what the machine needs, or what the
// error says. It is "" where nobody knows.
func nextStep(err error) string {
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return r.hint
		}
	}
	return fault.Hint(err)
}

// stopped names the signal where an error says no more than that the work was
// cancelled. Name is what was worked on.
func stopped(ctx context.Context, name string, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || errors.Is(err, gating.ErrStopped) {
		return err
	}
	return fmt.Errorf("stopped before any pack of %s was checked: %w", name, context.Cause(ctx))
}
