package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// Approval is a decision of somebody who holds a role.
type Approval struct{ Role, Login string }

// RoleNotChecked is a role of which it could not be found out who holds it.
type RoleNotChecked struct {
	Role         string
	Reason, Hint string // says why, and Hint what to do about it
}

// Approvals says, of the roles that were asked for, which have approved a pull
// request. Each role is in exactly one of Granted, Missing, Against and NotChecked,
// and all lists are sorted. Nothing is granted that was not seen.
type Approvals struct {
	Granted    []Approval       // all approvals by which a role has approved; one person may have approved for several
	Missing    []string         // roles for which nobody has approved the last commit
	Against    []Approval       // requests for changes: while one stands, its role has not approved
	NotChecked []RoleNotChecked // roles that depend on what could not be read
	Own        []Author         // who approved, and does not count as an author of the pull request
}

// Complete reports whether every role has approved.
func (a Approvals) Complete() bool { return len(a.Missing)+len(a.Against)+len(a.NotChecked) == 0 }

// Together returns the approvals of several pull requests that are judged as one, all of
// which were asked for the same roles: a role has approved where it has approved each.
func Together(all ...Approvals) (out Approvals) {
	granted := map[string]int{}
	open := map[string]bool{}
	for _, a := range all {
		for i, g := range a.Granted {
			if i == 0 || a.Granted[i-1].Role != g.Role {
				granted[g.Role]++
			}
		}
		for _, o := range a.Against {
			open[o.Role] = true
		}
		out.Against = append(out.Against, a.Against...)
	}
	for _, a := range all {
		for _, n := range a.NotChecked {
			if !open[n.Role] {
				out.NotChecked = append(out.NotChecked, n)
			}
			open[n.Role] = true
		}
	}
	for _, a := range all {
		for _, role := range a.Missing {
			if !open[role] {
				out.Missing = append(out.Missing, role)
			}
			open[role] = true
		}
		for _, g := range a.Granted {
			if granted[g.Role] == len(all) {
				out.Granted = append(out.Granted, g)
			}
		}
	}
	byRole := func(x, y Approval) int { return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(x.Login, y.Login)) }
	for _, list := range []*[]Approval{&out.Granted, &out.Against} {
		slices.SortFunc(*list, byRole)
		*list = slices.Compact(*list)
	}
	for _, a := range all {
		out.Own = append(out.Own, a.Own...)
	}
	slices.SortFunc(out.Own, func(x, y Author) int { return cmp.Or(cmp.Compare(x.Login, y.Login), cmp.Compare(x.Why, y.Why)) })
	out.Own = slices.Compact(out.Own)
	slices.Sort(out.Missing)
	slices.SortFunc(out.NotChecked, func(x, y RoleNotChecked) int { return cmp.Compare(x.Role, y.Role) })
	return out
}

// Question is what is asked about a pull request.
type Question struct {
	Pull  PullRequest
	Roles []string // that are to have approved
	// Members holds, by role, the logins and teams (@org/team) that hold it, whatever their
	// letters' case.
	Members map[string][]string
	// Same reports whether an earlier commit is the same as the last one in everything that
	// is judged, so that its approval counts too. Nil is for never.
	Same func(ctx context.Context, commit string) bool
}

// Approvals looks for the approval of each role.
//
// What counts is the last decision of each reviewer but the author: an approval of
// the last commit of the pull request, or of one that is the same, and a request for
// changes of any, which GitHub too keeps until it is dismissed or followed by an approval. A bot counts
// where its login is listed, and never as the member of a team. The members of a
// team are read where a decision depends on them; a team that the token may not
// read leaves the role in NotChecked.
//
// Who wrote or committed one of its commits, and who started the pull request, as the
// lines say that StartedBy is about, count as its authors too; only requests for changes
// count of those.
//
// The errors are those of kind ErrUnavailable, ErrRateLimited and the others of a
// Client for which the reviews could not be read; with one of them nothing is known.
func (c *Client) Approvals(ctx context.Context, q Question) (Approvals, error) {
	if len(q.Roles) == 0 {
		return Approvals{}, nil
	}
	pull := q.Pull
	if pull.Author == "" || !isSHA(pull.HeadSHA) {
		return Approvals{}, &fault.Error{Kind: ErrUnavailable,
			Message: fmt.Sprintf("GitHub does not say who opened pull request %d, or what its last commit is", pull.Number),
			Hint:    "propose the change again: a deleted account cannot be distinguished from a reviewer"}
	}
	reviews, err := c.reviews(ctx, q)
	if err != nil {
		return Approvals{}, err
	}
	j := judging{client: c, teams: map[string]*team{}}
	if j.reviews, j.out.Own, err = c.unwritten(ctx, pull, reviews); err != nil {
		return Approvals{}, err
	}
	wanted := slices.Clone(q.Roles)
	slices.Sort(wanted)
	for _, role := range slices.Compact(wanted) {
		if err := j.role(ctx, role, q.Members[role]); err != nil {
			return Approvals{}, err
		}
	}
	return j.out, nil
}

// Holds looks for the roles that a login holds, by the members of each as Question has them.
// Each role is Granted, Missing or NotChecked. A bot holds none. The errors are those of
// Approvals.
func (c *Client) Holds(ctx context.Context, login string, roles []string, members map[string][]string) (Approvals, error) {
	if login == "" || strings.HasSuffix(strings.ToLower(login), "[bot]") {
		return Approvals{Missing: slices.Compact(slices.Sorted(slices.Values(roles)))}, nil
	}
	j := judging{client: c, reviews: []review{{login: login, state: reviewApproved, current: true}}, teams: map[string]*team{}}
	for _, role := range slices.Compact(slices.Sorted(slices.Values(roles))) {
		if err := j.role(ctx, role, members[role]); err != nil {
			return Approvals{}, err
		}
	}
	return j.out, nil
}

// judging is one look at the reviews of a pull request.
type judging struct {
	client  *Client
	reviews []review
	teams   map[string]*team
	out     Approvals
}

// team is what is known of a team: its members in lower case, or why they are not
// known.
type team struct {
	members []string
	err     *fault.Error
}

// role judges one role, and puts it into one of the lists.
func (j *judging) role(ctx context.Context, role string, members []string) error {
	var granted, against []Approval
	var approver, objector *fault.Error // why it is not known whether one holds the role
	for _, r := range j.reviews {
		approves, objects := r.state == reviewApproved && r.current, r.state == reviewChangesRequested
		if !approves && !objects {
			continue
		}
		holds, doubt, err := j.holds(ctx, r.login, members)
		switch {
		case err != nil:
			return err
		case holds && approves:
			granted = append(granted, Approval{role, r.login})
		case holds:
			against = append(against, Approval{role, r.login})
		case approves:
			approver = cmp.Or(approver, doubt)
		default:
			objector = cmp.Or(objector, doubt)
		}
	}
	switch {
	case len(against) > 0:
		j.out.Against = append(j.out.Against, against...)
	case objector != nil:
		j.out.NotChecked = append(j.out.NotChecked, RoleNotChecked{role, objector.Message, objector.Hint})
	case len(granted) > 0:
		j.out.Granted = append(j.out.Granted, granted...)
	case approver != nil:
		j.out.NotChecked = append(j.out.NotChecked, RoleNotChecked{role, approver.Message, approver.Hint})
	default:
		j.out.Missing = append(j.out.Missing, role)
	}
	return nil
}

// holds reports whether a login is among the members of a role; doubt says why that
// is not known.
func (j *judging) holds(ctx context.Context, login string, members []string) (holds bool, doubt *fault.Error, err error) {
	if slices.ContainsFunc(members, func(m string) bool { return strings.EqualFold(m, login) }) {
		return true, nil, nil
	}
	if strings.HasSuffix(strings.ToLower(login), "[bot]") {
		return false, nil, nil
	}
	for _, m := range members {
		name, isTeam := strings.CutPrefix(m, "@")
		if !isTeam {
			continue
		}
		t, err := j.team(ctx, name)
		if err != nil {
			return false, nil, err
		}
		if slices.Contains(t.members, strings.ToLower(login)) {
			return true, nil, nil
		}
		doubt = cmp.Or(doubt, t.err)
	}
	return false, doubt, nil
}

// team reads the members of a team, once. The error is one that passes: without an
// answer the whole look has to be taken again.
func (j *judging) team(ctx context.Context, name string) (*team, error) {
	key := strings.ToLower(name)
	if t := j.teams[key]; t != nil {
		return t, nil
	}
	org, slug, _ := strings.Cut(key, "/")
	members, err := j.client.TeamMembers(ctx, org, slug)
	t := &team{members: members}
	if err != nil && (!errors.As(err, &t.err) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRateLimited)) {
		return nil, err
	}
	j.teams[key] = t
	return t, nil
}

// maxMembers bounds the pages of a team's members.
const maxMembers = 50

// TeamMembers returns the logins of the members of a team, and of the teams below
// it, in lower case and sorted. The token of a workflow may not read teams: the error
// is of kind ErrForbidden then, or of kind ErrNotFound, as GitHub does not tell a team
// that one may not see from one that is not there. Else it has the kinds of a Client.
func (c *Client) TeamMembers(ctx context.Context, org, slug string) ([]string, error) {
	at := fmt.Sprintf("@%s/%s", clip(org, 80), clip(slug, 80))
	if !isName(org) || !isName(slug) {
		return nil, &fault.Error{Kind: ErrNotFound, Message: fmt.Sprintf("the team %q cannot be a team on GitHub", at), Hint: "write a team as @org/team"}
	}
	var members []string
	for user, err := range pages(c, "read the members of the team "+at, maxMembers, func(page github.ListOptions) ([]*github.User, *github.Response, error) {
		return c.api.Teams.ListTeamMembersBySlug(ctx, org, slug, &github.TeamListTeamMembersOptions{ListOptions: page})
	}) {
		var failure *fault.Error
		if errors.As(err, &failure) && (errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)) {
			failure.Hint = "give the input token a token with read:org, or list logins in the config instead of the team"
		}
		if err != nil {
			return nil, err
		}
		members = append(members, strings.ToLower(user.GetLogin()))
	}
	slices.Sort(members)
	return members, nil
}

// maxPages bounds the pages of a list of reviews.
const maxPages = 20

// The states of a review that count, as GitHub spells them.
const (
	reviewApproved         = "APPROVED"
	reviewChangesRequested = "CHANGES_REQUESTED"
	reviewDismissed        = "DISMISSED"
)

// review is what one reviewer decided last.
type review struct {
	login, state string
	commit       string
	current      bool // true where the head of the pull request was reviewed, or what is the same: an approval of another commit says nothing about what would be merged
}

// maxEarlier bounds the earlier commits that are compared with the head of a pull request.
const maxEarlier = 20

// setCurrent finds the approvals that count.
func setCurrent(ctx context.Context, q Question, reviews []review) {
	same := map[string]bool{q.Pull.HeadSHA: true}
	for i := range reviews {
		r := &reviews[i]
		known := false
		if r.current, known = same[r.commit]; known || r.state != reviewApproved {
			continue
		}
		if q.Same != nil && isSHA(r.commit) && len(same) <= maxEarlier {
			r.current = q.Same(ctx, r.commit)
			same[r.commit] = r.current
		}
	}
}

// reviews returns the last decision of each reviewer of a pull request, sorted by
// login. A comment decides nothing and does not undo a decision; the author of the
// pull request is left out. The errors have the kinds of a Client; with one of
// them nothing is known, and nothing is returned.
func (c *Client) reviews(ctx context.Context, q Question) ([]review, error) {
	last, pull := map[string]review{}, q.Pull
	// GitHub lists reviews in the order in which they were submitted.
	for r, err := range pages(c, "read the reviews", maxPages, func(page github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, c.owner, c.repo, pull.Number, &page)
	}) {
		if err != nil {
			return nil, err
		}
		login, state := r.GetUser().GetLogin(), strings.ToUpper(r.GetState())
		decides := slices.Contains([]string{reviewApproved, reviewChangesRequested, reviewDismissed}, state)
		if decides && login != "" && !strings.EqualFold(login, pull.Author) {
			last[strings.ToLower(login)] = review{login: login, state: state, commit: strings.ToLower(r.GetCommitID())}
		}
	}
	reviews := slices.SortedFunc(maps.Values(last), func(a, b review) int { return cmp.Compare(a.login, b.login) })
	setCurrent(ctx, q, reviews)
	return reviews, nil
}
