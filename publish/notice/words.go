package notice

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/render"
)

// The words of the issues. Whatever comes from elsewhere goes through the escaping of the report, so that it can
// mention nobody and break nothing. Nothing in them changes from one day to the next.

// mostListed bounds the findings in an issue.
const mostListed = 20

// mostTitle bounds a name in a title, in characters.
const mostTitle = 100

// titled returns a title with names in it.
func titled(format string, names ...string) string {
	shown := make([]any, len(names))
	for i, one := range names {
		shown[i] = render.Visible(pack.Clip(one, mostTitle))
	}
	return fmt.Sprintf(format, shown...)
}

// kept ends every issue.
const kept = "\nThis issue is kept up to date by `packgate notify`: it is closed when this is over, and opened again when it comes back. " +
	"If you close it yourself, it stays closed until something about it changes.\n"

// GoneBody returns the text of the issue about a cause that has ended.
func GoneBody() string { return "This is over.\n" + kept }

func codes(names []string) string {
	shown := make([]string, len(names))
	for i, one := range names {
		shown[i] = render.Code(one)
	}
	return strings.Join(shown, ", ")
}

func (c *Cause) revoked(state publish.StateRecord) (title, body string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s was revoked at %s by %s: %s\n\n", render.Code(c.Pack+"@"+c.Version), render.Code(c.Registry), c.Since,
		render.Code(state.Actor), render.Markdown(cmp.Or(state.Reason, "no reason is given")))
	fmt.Fprintf(&b, "- manifest %s\n- signed statement %s\n\n", render.Code(c.Digest), render.Code(c.Statement))
	if len(c.Environments) == 0 {
		b.WriteString("According to the signed records, no environment runs it. Look for copies that were made without a pin.\n")
	} else {
		fmt.Fprintf(&b, "**It still runs in %s.** Move each of them to another version:\n\n", codes(c.Environments))
		for _, e := range c.Environments {
			fmt.Fprintf(&b, "- %s\n", render.Code(fmt.Sprintf("packgate rollback %s %s@%s", e, c.Pack, c.Version)))
		}
	}
	b.WriteString(kept)
	return titled("%s@%s is revoked", c.Pack, c.Version), b.String()
}

func (c *Cause) failed() (title, body string) {
	var b strings.Builder
	about := "the status of " + render.Code(c.Registry)
	title = titled("packgate audit fails for %s", cmp.Or(c.Pack, "the status of the registry"))
	if c.Pack != "" {
		about = fmt.Sprintf("%s in %s", render.Code(c.Pack), render.Code(c.Registry))
	}
	fmt.Fprintf(&b, "`packgate audit` finds %s in %s:\n\n", pack.Counted(len(c.Findings), "error"), about)
	for _, f := range c.Findings[:min(len(c.Findings), mostListed)] {
		fmt.Fprintf(&b, "- **%s**%s: %s", render.Markdown(f.Check), strings.TrimRight(" "+render.Markdown(f.Version), " "), render.Message(f.message))
		if f.hint != "" {
			fmt.Fprintf(&b, " → %s", render.Message(f.hint))
		}
		b.WriteString("\n")
	}
	if more := len(c.Findings) - mostListed; more > 0 {
		fmt.Fprintf(&b, "- and %d more, which `packgate audit` lists\n", more)
	}
	b.WriteString(kept)
	return title, b.String()
}

func (c *Cause) soaked(done time.Time) (title, body string) {
	body = fmt.Sprintf("%s has been pinned in %s since %s without interruption, which since %s is as long as the catalog of %s requires. It can be promoted, "+
		"once the roles that the catalog names have approved:\n\n- %s\n- pack %s\n%s",
		render.Code(c.Pack+"@"+c.Version), render.Code(c.From), c.Since, stamp(done), render.Code(c.Environment),
		render.Code(fmt.Sprintf("packgate promote %s --from %s --to %s", c.Pack, c.From, c.Environment)), render.Code(c.Content), kept)
	return titled("%s can be promoted to %s", c.Pack, c.Environment), body
}

func (c *Cause) ending(w *repo.Waiver) (title, body string) {
	var b strings.Builder
	fmt.Fprintf(&b, "The waiver of %s for %s has %s as its last day. From the next day on, the findings that it excuses count again, and the waiver itself is an error.\n\n",
		render.Code(c.Rule), render.Code(c.Pack), render.Code(c.Expires))
	for _, one := range [][2]string{{"path", w.Path.Value}, {"of", w.Of.Value}, {"owner", w.Owner.Value}} {
		if one[1] != "" {
			fmt.Fprintf(&b, "- %s %s\n", one[0], render.Code(one[1]))
		}
	}
	fmt.Fprintf(&b, "- reason: %s\n\nFix what it excuses and remove it from `.packgate.yaml`, or ask its owner to set a later day.\n%s", render.Markdown(w.Reason.Value), kept)
	return titled("a waiver of %s for %s ends soon", c.Rule, c.Pack), b.String()
}
