package cli

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish/notice"
	"github.com/contextosai/packgate/publish/webhook"
	"github.com/contextosai/packgate/report/model"
)

// list shows what there is to tell, and tells nobody.
func (n *notifying) list() {
	for i := range n.causes {
		n.out.Notices = append(n.out.Notices, shownNotice(&n.causes[i], n.causes[i].Key()))
	}
}

// shownNotice returns a notice in the report's form; c is nil for a cause that has ended.
func shownNotice(c *notice.Cause, key string) model.Notice {
	if c == nil {
		return model.Notice{Kind: string(notice.KindOf(key)), State: notice.Ended, Key: key}
	}
	return model.Notice{Kind: string(c.Notice), State: notice.Standing, Key: key, Title: c.Title}
}

// shown returns what the run says of a cause.
func (n *notifying) shown(c *notice.Cause, key string) *model.Notice {
	at := slices.IndexFunc(n.out.Notices, func(one model.Notice) bool { return one.Key == key })
	if at < 0 {
		at, n.out.Notices = len(n.out.Notices), append(n.out.Notices, shownNotice(c, key))
	}
	return &n.out.Notices[at]
}

// mostOpened bounds the issues that one run opens: the rest is for the next one.
const mostOpened = 50

// tell brings the issues up to date, and then sends what is new to the webhook, whatever became of the
// issues.
func (n *notifying) tell(ctx context.Context) {
	issues, err := n.client.Issues(ctx)
	if err == nil {
		err = n.keep(ctx, issues)
	}
	if err != nil {
		n.failures = append(n.failures, err)
	}
	kept := map[string]*github.KeptIssue{}
	if issues != nil {
		for _, k := range issues.Kept() {
			kept[k.Key] = k
		}
	}
	for i := range n.out.Notices {
		if k := kept[n.out.Notices[i].Key]; k != nil {
			n.out.Notices[i].URL = k.URL
		}
	}
	if n.hook != nil {
		n.send(ctx, issues, kept)
	}
}

// keep brings the issues up to date. The error is one that keeps the rest from it too.
func (n *notifying) keep(ctx context.Context, issues *github.Issues) error {
	there := issues.Kept()
	opened := 0
	for i := range n.causes {
		c := &n.causes[i]
		key := c.Key()
		known := slices.ContainsFunc(there, func(k *github.KeptIssue) bool { return k.Key == key })
		if !known && opened == mostOpened {
			n.shown(c, key).Issue = "deferred"
			continue
		}
		if !known {
			opened++
		}
		if err := n.keepOne(ctx, issues, c, github.Issue{Key: key, Standing: true, Fact: c.Fact(), Title: c.Title, Body: c.Body}); err != nil {
			return err
		}
	}
	for _, k := range there {
		gone := !slices.ContainsFunc(n.causes, func(c notice.Cause) bool { return c.Key() == k.Key })
		if gone && k.Standing() && n.world.Known(k.Key) {
			if err := n.keepOne(ctx, issues, nil, github.Issue{Key: k.Key, Body: notice.GoneBody()}); err != nil {
				return err
			}
		}
	}
	return issues.Settle(ctx)
}

// keepOne brings one issue up to date. A text that GitHub does not take is the failure of that one alone.
func (n *notifying) keepOne(ctx context.Context, issues *github.Issues, c *notice.Cause, want github.Issue) error {
	shown := n.shown(c, want.Key)
	action, err := issues.Keep(ctx, want)
	shown.Issue = string(action)
	if err == nil {
		return nil
	}
	shown.Issue = "failed"
	if fault.Is(err, github.ErrTooLong) {
		n.failures = append(n.failures, err)
		return nil
	}
	return err
}

// send sends the events that were not sent to this webhook yet, as the issues have it. What no issue
// remembers is sent with the id that it will have once one does, so that the receiver can drop it then.
func (n *notifying) send(ctx context.Context, issues *github.Issues, kept map[string]*github.KeptIssue) {
	for i := range n.causes {
		c := &n.causes[i]
		told := notice.Told{Key: c.Key(), Standing: true, Fact: c.Fact(), Seq: 1}
		k := kept[told.Key]
		remembered := k != nil && k.Standing() && k.Fact == told.Fact
		switch {
		case remembered:
			told.Seq, told.Issue = k.Seq, k.URL
		case k != nil:
			told.Seq, told.Issue = k.Seq+1, k.URL
		}
		if remembered && k.Hook == n.hookID && k.Sent == notice.EventID(n.source(), told) {
			continue
		}
		if !n.sendOne(ctx, told, c) {
			return
		}
		if remembered {
			n.remember(ctx, issues, told)
		}
	}
	n.sendEnds(ctx, issues)
}

// sendEnds sends the events about causes that have ended, to a webhook that has heard of them before.
func (n *notifying) sendEnds(ctx context.Context, issues *github.Issues) {
	if issues == nil {
		return
	}
	for _, k := range issues.Kept() {
		told := notice.Told{Key: k.Key, Seq: k.Seq, Issue: k.URL}
		if k.Standing() || k.Hook != n.hookID || notice.KindOf(k.Key) == "" || k.Sent == notice.EventID(n.source(), told) {
			continue
		}
		if !n.sendOne(ctx, told, nil) {
			return
		}
		n.remember(ctx, issues, told)
	}
}

// source is the address of the repository, by which receivers tell its events from others.
func (n *notifying) source() string { return n.event.ServerURL + "/" + n.event.Repository }

// remember notes in an issue that the event was sent, where it was.
func (n *notifying) remember(ctx context.Context, issues *github.Issues, told notice.Told) {
	if shown := n.shown(nil, told.Key); shown.Event != "sent" {
		return
	}
	if err := issues.Sent(ctx, told.Key, n.hookID, notice.EventID(n.source(), told)); err != nil {
		n.failures = append(n.failures, err)
	}
}

// sendOne sends an event; c is nil for a cause that has ended. It returns whether the next one is worth
// trying.
func (n *notifying) sendOne(ctx context.Context, told notice.Told, c *notice.Cause) bool {
	shown := n.shown(c, told.Key)
	event, err := notice.EventOf(n.source(), told, c)
	var body []byte
	if err == nil {
		shown.ID = event.ID
		body, err = json.Marshal(event)
	}
	if err == nil {
		err = n.hook.Send(ctx, event.ID, body)
	}
	if shown.Event = "sent"; err != nil {
		shown.Event, n.failures = "failed", append(n.failures, err)
	}
	return ctx.Err() == nil && !fault.Is(err, webhook.ErrAddress, webhook.ErrUnavailable)
}
