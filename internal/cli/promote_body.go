package cli

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/render"
)

// trailers are the lines that name who started the promotion.
func (o *opening) trailers() string {
	lines := make([]string, len(o.starters))
	for i, login := range o.starters {
		lines[i] = github.StarterLine(login)
	}
	return strings.Join(lines, "\n")
}

// message is that of the commit. It does not have the reason, since words such as [skip ci] would
// keep the checks from running.
func (o *opening) message() string { return o.title() + "\n\n" + o.trailers() }

// oneLine returns a text on one line, without what is not drawn.
func oneLine(s string) string { return render.Visible(strings.Join(strings.Fields(s), " ")) }

// body is the description of the pull request, in Markdown.
func (o *opening) body() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	md := render.Markdown
	say("| pack | %s runs | it is to run | digest |", md(o.options.to))
	say("| --- | --- | --- | --- |")
	for i, m := range o.moved {
		say("| %s | %s | %s, from %s | `%s` |", md(m.Pack), md(o.before[i]), md(m.Version), md(o.options.from), m.Digest)
	}
	say("")
	if why := oneLine(o.options.reason); why != "" {
		say("**Why:** %s\n", md(why))
	}
	for _, line := range o.soaks {
		say("- %s", md(line))
	}
	for _, line := range o.unchecked {
		say("- not checked: %s", md(line))
	}
	members := o.Config.Reviews.Members()
	for _, role := range o.to.Promote.Demanded() {
		say("- needs the approval of %s: ask %s", md(role), md(pack.Joined(members[role], "or")))
	}
	say("- the check of this pull request shows what agents in %s can do after the merge, and which other roles have to approve", md(o.options.to))
	say("\nWhoever started it counts as an author, and does not approve it:\n\n%s", o.trailers())
	return b.String()
}

// soaked notes what the records say of how long the environment has run a version, which meets the
// rules.
func (p *promoting) soaked(m promotion.Move, ran []promotion.Running) {
	for i, is := range ran {
		since := "since when is not known"
		if !is.Since.IsZero() {
			since = "since " + is.Since.UTC().Format("2006-01-02 15:04 MST")
		}
		required := "no time is required"
		if m.Demands[i].Soak > 0 {
			required = fmt.Sprintf("%s is required", p.to.Promote.Soak.Value)
		}
		p.soaks = append(p.soaks, fmt.Sprintf("%s runs %s %s by its signed records, %s; %s", m.Demands[i].From, m.Pack, m.Version, since, required))
	}
}
