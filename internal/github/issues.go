package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// maxIssuePages bounds the pages on which issues are looked for.
const maxIssuePages = 100

// maxIssueTitle is the longest title of an issue that GitHub takes, in characters.
const maxIssueTitle = 256

// Issue is the issue about one cause that should be there.
type Issue struct {
	Key      string // says which cause it is about
	Standing bool   // the cause is there; false where it is gone
	// Fact changes with what is known of the cause, and with nothing else: letters and digits.
	Fact        string
	Title, Body string // the title counts where the issue is opened; it is left to people from then on
}

// The states of a mark.
const (
	issueStanding  = "standing"
	issueEnded     = "ended"
	issueDuplicate = "duplicate" // a second one for a cause, which counts no longer
)

// IssueMark is what packgate writes, as an HTML comment, at the start of an issue: which cause it is
// about, and what was done about it. It is all that packgate remembers.
type IssueMark struct {
	Key   string
	State string // one of the states above
	Seq   int    // counts what was written about the cause: from 1, one more with each change of its facts
	Fact  string
	// Hook and Sent say where the last event about the cause was sent to, and which; "" for none.
	Hook, Sent string
}

// IssuePrefix is what the mark of an issue begins with.
const IssuePrefix = "<!-- packgate:notice v1 "

// String returns the mark in one line, whose HTML comment no key ends before its end.
func (m IssueMark) String() string {
	return fmt.Sprintf("%skey=%s state=%s seq=%d fact=%s hook=%s sent=%s -->", IssuePrefix, url.QueryEscape(m.Key), m.State, m.Seq, m.Fact, m.Hook, m.Sent)
}

var issueMarkLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + IssuePrefix + `key=(\S+) state=(standing|ended|duplicate) seq=([0-9]{1,9}) fact=([0-9A-Za-z]*) hook=([0-9A-Za-z]*) sent=([0-9A-Za-z]*) -->(?:\r?\n|$)`)
})

// parseIssueMark reads the mark at the very start of an issue, and what is below it; ok is false
// for none.
func parseIssueMark(body string) (m IssueMark, rest string, ok bool) {
	found := issueMarkLine().FindStringSubmatch(body)
	if found == nil {
		return IssueMark{}, "", false
	}
	key, keyErr := url.QueryUnescape(found[1])
	seq, seqErr := strconv.Atoi(found[3])
	return IssueMark{Key: key, State: found[2], Seq: seq, Fact: found[4], Hook: found[5], Sent: found[6]}, body[len(found[0]):], cmp.Or(keyErr, seqErr) == nil
}

// KeptIssue is an issue about a cause that is there.
type KeptIssue struct {
	IssueMark
	Number int
	URL    string
	open   bool
	text   string // the body below the mark
}

// Standing reports whether the cause was there when the issue was written last.
func (k *KeptIssue) Standing() bool { return k.State == issueStanding }

// IssueAction is what was done about an issue.
type IssueAction string

// The values of IssueAction.
const (
	IssueOpened    IssueAction = "opened"
	IssueUpdated   IssueAction = "updated"
	IssueReopened  IssueAction = "reopened"
	IssueClosed    IssueAction = "closed"
	IssueUnchanged IssueAction = "unchanged" // it says so already, or there is none and no cause
	IssueLeft      IssueAction = "left"      // somebody closed it, and nothing has changed since
)

// Issues are the issues about causes: one for each, found by its mark and by its author, which is the
// login that the token writes as. Anybody can write a mark, and nobody else can write as a login.
//
// GitHub has no way to open an issue only where there is none, so that two runs can open one each.
// Settle looks for that: the first one counts, and whoever finds a second one closes it.
type Issues struct {
	c       *Client
	login   string
	found   map[string]*KeptIssue // by key
	doubles []*KeptIssue
	listed  map[int]bool // numbers of all that have a mark of ours
	opened  []int        // numbers that have to be among them
}

// Issues reads the issues about causes. The errors here and below have the kinds of a Client.
func (c *Client) Issues(ctx context.Context) (*Issues, error) {
	login, err := c.login(ctx)
	if err != nil {
		return nil, err
	}
	s := &Issues{c: c, login: login}
	return s, s.read(ctx)
}

// Kept returns the issues that are there, sorted by key.
func (s *Issues) Kept() (list []*KeptIssue) {
	for _, k := range s.found {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b *KeptIssue) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// read looks for the issues of the login, those that are closed too.
func (s *Issues) read(ctx context.Context) error {
	var all []*KeptIssue
	for issue, err := range pages(s.c, "read the issues", maxIssuePages, func(page github.ListOptions) ([]*github.Issue, *github.Response, error) {
		return s.c.api.Issues.ListByRepo(ctx, s.c.owner, s.c.repo, &github.IssueListByRepoOptions{State: "all", Creator: s.login, ListOptions: page})
	}) {
		if err != nil {
			return err
		}
		if kept := s.kept(issue); kept != nil {
			all = append(all, kept)
		}
	}
	slices.SortFunc(all, func(a, b *KeptIssue) int { return cmp.Compare(a.Number, b.Number) })
	s.found, s.doubles, s.listed = map[string]*KeptIssue{}, nil, map[int]bool{}
	for _, k := range all {
		s.listed[k.Number] = true
		switch first := s.found[k.Key]; {
		case k.State == issueDuplicate: // counts no longer
		case first == nil:
			s.found[k.Key] = k
		case first.Number != k.Number: // a list that grows shows one twice
			s.doubles = append(s.doubles, k)
		}
	}
	return nil
}

// kept returns an issue of ours; nil for any other.
func (s *Issues) kept(issue *github.Issue) *KeptIssue {
	mark, text, ok := parseIssueMark(issue.GetBody())
	if !ok || issue.IsPullRequest() || !strings.EqualFold(issue.GetUser().GetLogin(), s.login) {
		return nil
	}
	return &KeptIssue{IssueMark: mark, Number: issue.GetNumber(), URL: issue.GetHTMLURL(), open: issue.GetState() != "closed", text: text}
}

// Keep brings the issue about a cause up to date: it is opened, edited when the facts change, closed
// when the cause is gone, and opened again when that comes back. One that somebody closed while its
// cause was there stays closed until the facts change. After a write of which it is not known whether
// it was carried out, the issues are read again before anything is written.
func (s *Issues) Keep(ctx context.Context, want Issue) (IssueAction, error) {
	return s.trying(ctx, func() (IssueAction, error) { return s.keep(ctx, want) })
}

// trying does what writes once at most, and again where it is not known what became of it.
func (s *Issues) trying(ctx context.Context, do func() (IssueAction, error)) (IssueAction, error) {
	var tried IssueAction // by a write that failed, and may have been carried out
	for tries := 1; ; tries++ {
		action, err := do()
		var write *writeError
		if !errors.As(err, &write) {
			if err == nil && action == IssueUnchanged && tried != "" {
				action = tried
			}
			return action, err
		}
		tried = IssueAction(write.action)
		if !s.c.again(ctx, err, tries) {
			return "", write.error
		}
		if err := s.read(ctx); err != nil {
			return "", err
		}
	}
}

// keep writes once at most.
func (s *Issues) keep(ctx context.Context, want Issue) (IssueAction, error) {
	old := s.found[want.Key]
	switch {
	case old == nil && !want.Standing:
		return IssueUnchanged, nil
	case old == nil:
		return IssueOpened, s.open(ctx, want)
	}
	mark := old.IssueMark
	mark.State, mark.Fact = issueEnded, ""
	if want.Standing {
		mark.State, mark.Fact = issueStanding, want.Fact
	}
	same := mark == old.IssueMark
	if !same {
		mark.Seq++
	}
	switch {
	case same && want.Standing && !old.open:
		return IssueLeft, nil
	case same && strings.TrimSpace(old.text) == strings.TrimSpace(want.Body): // GitHub may trim it
		return IssueUnchanged, nil
	case same && !want.Standing:
		return IssueUnchanged, nil // whatever an earlier version said when it closed it
	}
	action, state := IssueUpdated, "open"
	if !want.Standing {
		action, state = IssueClosed, "closed"
	} else if !old.open {
		action = IssueReopened
	}
	return action, s.edit(ctx, old, change{mark: mark, text: want.Body, state: state, action: action})
}

// open opens the issue about a cause.
func (s *Issues) open(ctx context.Context, want Issue) error {
	mark := IssueMark{Key: want.Key, State: issueStanding, Seq: 1, Fact: want.Fact}
	body := mark.String() + "\n" + want.Body
	if err := issueFits(body); err != nil {
		return err
	}
	written, _, err := s.c.api.Issues.Create(ctx, s.c.owner, s.c.repo, &github.IssueRequest{Title: ptr(clip(want.Title, maxIssueTitle)), Body: &body})
	if err != nil {
		return &writeError{s.c.failed("open the issue", err), string(IssueOpened)}
	}
	kept := s.kept(written)
	if kept == nil {
		return s.foreign(ctx, written)
	}
	s.found[want.Key], s.opened = kept, append(s.opened, kept.Number)
	return nil
}

// foreign closes an issue that was just written, and that no later run would find.
func (s *Issues) foreign(ctx context.Context, written *github.Issue) error {
	login := written.GetUser().GetLogin()
	err := &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("the issue #%d was written as %q, wanted %q: no later run would find it, so it is closed again", written.GetNumber(), login, s.login),
		Hint: "leave out the input token, so that the run writes as itself"}
	if _, _, closing := s.c.api.Issues.Edit(ctx, s.c.owner, s.c.repo, written.GetNumber(), &github.IssueRequest{State: ptr("closed"), StateReason: ptr("not_planned")}); closing != nil {
		err.Cause = s.c.failed("close it", closing)
	}
	return err
}

func issueFits(body string) error {
	if n := utf8.RuneCountInString(body); n > MaxComment { // of an issue as of a comment
		return &fault.Error{Kind: ErrTooLong, Message: fmt.Sprintf("the issue has %d characters, wanted at most %d", n, MaxComment)}
	}
	return nil
}

// change is what becomes of an issue in one request.
type change struct {
	mark        IssueMark
	text, state string // state is "" where it stays as it is
	action      IssueAction
}

// edit changes an issue: mark, text and state together or none of them.
func (s *Issues) edit(ctx context.Context, old *KeptIssue, to change) error {
	body := to.mark.String() + "\n" + to.text
	if err := issueFits(body); err != nil {
		return err
	}
	request := &github.IssueRequest{Body: &body}
	if to.state != "" {
		request.State = &to.state
	}
	switch {
	case to.mark.State == issueDuplicate:
		request.StateReason = ptr("not_planned")
	case to.state == "closed":
		request.StateReason = ptr("completed")
	}
	if _, _, err := s.c.api.Issues.Edit(ctx, s.c.owner, s.c.repo, old.Number, request); err != nil {
		return &writeError{s.c.failed("edit the issue", err), string(to.action)}
	}
	old.IssueMark, old.text = to.mark, to.text
	if to.state != "" {
		old.open = to.state == "open"
	}
	return nil
}

// Sent notes in an issue that the event about its cause was sent to a hook.
func (s *Issues) Sent(ctx context.Context, key, hook, event string) error {
	_, err := s.trying(ctx, func() (IssueAction, error) {
		k := s.found[key]
		if k == nil || k.Hook == hook && k.Sent == event {
			return IssueUnchanged, nil
		}
		mark := k.IssueMark
		mark.Hook, mark.Sent = hook, event
		return IssueUpdated, s.edit(ctx, k, change{mark: mark, text: k.text, action: IssueUpdated})
	})
	return err
}

// Settle reads the issues again where any were opened or one cause has two. Of these the first one counts; the
// others are closed, and say so. An issue that was opened and is not in GitHub's list is an error: no
// later run would find it.
func (s *Issues) Settle(ctx context.Context) error {
	for tries := 1; len(s.opened) > 0; tries++ {
		if err := s.read(ctx); err != nil {
			return err
		}
		lost := s.lost()
		if lost == 0 {
			s.opened = nil
			break
		}
		err := &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("GitHub's list of issues by %q does not have #%d, which this run opened", s.login, lost)}
		if tries == attempts || !s.c.again(ctx, err, tries) {
			return err
		}
	}
	for len(s.doubles) > 0 {
		_, err := s.trying(ctx, func() (IssueAction, error) {
			if len(s.doubles) == 0 {
				return IssueUnchanged, nil
			}
			return IssueClosed, s.closeDouble(ctx, s.doubles[0])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lost returns the number of an issue that was opened and is not in the list; 0 for none.
func (s *Issues) lost() int {
	for _, number := range s.opened {
		if !s.listed[number] {
			return number
		}
	}
	return 0
}

// closeDouble closes a second issue about a cause.
func (s *Issues) closeDouble(ctx context.Context, k *KeptIssue) error {
	mark := k.IssueMark
	mark.State = issueDuplicate
	text := fmt.Sprintf("Two runs opened an issue about the same cause. #%d is the one that is kept up to date.\n", s.found[k.Key].Number)
	err := s.edit(ctx, k, change{mark: mark, text: text, state: "closed", action: IssueClosed})
	if err == nil {
		s.doubles = s.doubles[1:]
	}
	return err
}
