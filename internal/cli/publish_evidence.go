package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/report/model"
)

// judge judges a version as the one that follows the published one. What it proves less is
// excused by those who have approved the pull requests that made it so.
func (p *publication) judge(ctx context.Context, s *candidate, before *publish.Verdict, last *gating.Release) (*gating.Successor, error) {
	j, err := p.succession.Judge(ctx, s.unit, last, nil)
	if err != nil || len(j.Lost()) == 0 {
		return j, err
	}
	approvals := p.reviews.evidence(ctx, j, s.name, before)
	for _, note := range p.reviews.notes() {
		p.Notice("%s", note)
	}
	if approvals == nil {
		return j, nil
	}
	return p.succession.Judge(ctx, s.unit, last, approvals)
}

// granted returns the approvals that excuse what a version proves less; nil for none.
func granted(j *gating.Successor) *model.Reviews {
	list := j.Granted()
	if len(list) == 0 {
		return nil
	}
	return &model.Reviews{Required: []model.RequiredReview{}, Granted: list}
}

// notes says what is to be known of the approvals that were looked for since it was last asked.
func (r *reviewing) notes() []string {
	if len(r.cut) == 0 {
		return nil
	}
	note := shallow(r.cut)
	r.cut = nil
	return []string{note}
}

// asking returns what asks for approvals by those who hold roles.
func (r *reviewing) asking(members map[string][]string) *asking {
	return &asking{client: r.client, base: r.base, members: members}
}

// evidence returns the approvals, by the roles that the config names for it, of the pull
// requests that made a pack prove less than the version before; nil where it names none.
func (r *reviewing) evidence(ctx context.Context, j *gating.Successor, name string, before *publish.Verdict) *gating.Approvals {
	roles := r.w.Config.Reviews.EvidenceRoles()
	if len(roles) == 0 {
		return nil
	}
	out, q := &gating.Approvals{}, r.asking(r.w.Config.Reviews.Members())
	found, err := r.since(ctx, q, name, before)
	var by map[int]bool
	if err == nil {
		stages := make([]gating.Stage, len(found))
		for i, b := range found {
			stages[i] = b.stage
		}
		by, err = j.LostBy(ctx, r.base, stages)
	}
	for i, b := range found {
		if err != nil || !by[i] {
			continue
		}
		var part gating.Part
		part, err = q.part(ctx, b, roles)
		out.Parts = append(out.Parts, part)
	}
	out.Unknown, r.cut = err, append(r.cut, q.cut...)
	return out
}

// since returns the pull requests that changed anything that the gating of a pack reads, since
// the commit that the version before was published from.
func (r *reviewing) since(ctx context.Context, q *asking, name string, before *publish.Verdict) ([]brought, error) {
	switch {
	case r.event == nil:
		return nil, misuse("publish from the workflow", "only a run on GitHub can see it")
	case r.base == nil || before.Summary == nil || before.Summary.Source.Commit == "":
		return nil, fmt.Errorf("the statement of %s names no commit that it was published from", before.Name())
	}
	from, err := r.base.Open(ctx, before.Summary.Source.Commit)
	if err != nil {
		return nil, err
	}
	stages, err := r.base.At(from).Stages(ctx, r.base.Tree)
	if err != nil {
		return nil, err
	}
	stages = slices.DeleteFunc(stages, func(s gating.Stage) bool { return !r.base.Concerns(ctx, s, name) })
	return q.brought(ctx, stages, func(ctx context.Context, s gating.Stage) (github.PullRequest, error) {
		return r.client.MergedPull(ctx, s.To.SHA())
	})
}

// same says whether an earlier commit than the head of a merged pull request gives gating the
// same to read; never where it is not known what it was merged into.
func (r *reviewing) same(ctx context.Context, q *asking, pull github.PullRequest) func(context.Context, string) bool {
	if r.base == nil {
		return nil
	}
	merged, err := r.base.Open(ctx, pull.MergeSHA)
	if err != nil {
		return nil
	}
	into, err := merged.Parent()
	if err != nil || into == nil {
		return func(ctx context.Context, commit string) bool {
			q.cut = append(q.cut, commit)
			return false
		}
	}
	return q.same(r.base.At(into), pull.HeadSHA)
}
