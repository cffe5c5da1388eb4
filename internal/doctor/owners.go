package doctor

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/report/model"
)

// Who owns what decides, as GitHub reads it ("About code owners"): the first file of three places,
// of whose lines the last one counts that matches.

// ownerFiles are the places of the file, in the order in which GitHub looks.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// mostOwners bounds the file in bytes: GitHub loads none that is larger.
const mostOwners = 3 << 20

// owners are the lines of the file.
type owners []ownerLine

type ownerLine struct {
	pattern *regexp.Regexp
	owned   bool // somebody is named
}

// own reports whether the last line that matches a file names somebody.
func (o owners) own(name string) bool {
	for _, l := range slices.Backward(o) {
		if l.pattern.MatchString(name) {
			return l.owned
		}
	}
	return false
}

// ownerForm is that of a login, a team or an address.
var ownerForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(@[A-Za-z0-9](-?[A-Za-z0-9])*(_[A-Za-z0-9]+)?(/[A-Za-z0-9._-]+)?|[^@\s]+@[^@\s]+\.[^@\s]+)$`)
})

// ownerWords are the words of a line: a blank that is escaped ends none, and # begins a comment.
var ownerWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:\\.|[^\s\\])+`) })

// parseOwners reads the lines, and returns the numbers of those that GitHub skips.
func parseOwners(text string) (o owners, skipped []int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := ownerWords().FindAllString(line, -1)
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") }); i >= 0 {
			words = words[:i]
		}
		if len(words) == 0 {
			continue
		}
		pattern := ownerPattern(words[0])
		if pattern == nil || slices.ContainsFunc(words[1:], func(w string) bool { return !ownerForm().MatchString(w) }) {
			skipped = append(skipped, n)
			continue
		}
		o = append(o, ownerLine{pattern, len(words) > 1})
	}
	return o, skipped
}

// ownerPattern returns what a pattern matches; nil for one that GitHub does not take: it knows no
// negation, no ranges and no escaped #.
func ownerPattern(pattern string) *regexp.Regexp {
	if strings.HasPrefix(pattern, "!") || strings.ContainsAny(pattern, "[]") || strings.HasPrefix(pattern, `\#`) || len(pattern) > 1000 {
		return nil
	}
	folder := strings.HasSuffix(pattern, "/")
	trimmed := strings.TrimSuffix(pattern, "/")
	anchored := strings.Contains(trimmed, "/")
	trimmed = strings.TrimPrefix(trimmed, "/")
	var b strings.Builder
	b.WriteString(`\A`)
	if !anchored {
		b.WriteString(`(?:.*/)?`)
	}
	for i := 0; i < len(trimmed); i++ {
		switch rest := trimmed[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			i++
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
		case rest[0] == '?':
			b.WriteString(`[^/]`)
		case rest[0] == '\\' && len(rest) > 1:
			i++
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	switch {
	case folder:
		b.WriteString(`/.*`)
	case !anchored || trimmed != "*" && !strings.HasSuffix(trimmed, "/*"): // docs/* has no folders of docs
		b.WriteString(`(?:/.*)?`)
	}
	compiled, err := regexp.Compile(b.String() + `\z`)
	if err != nil { // bytes that are no text
		return nil
	}
	return compiled
}

// decideIn notes which files of a workspace decide: the config, catalogs, the pins that environments
// have or may get, and overlays.
func (d *doctoring) decideIn(w *gating.Workspace) {
	folder, err := filepath.Rel(d.root, w.Dir)
	if err != nil {
		return
	}
	add := func(name string) { d.deciding = append(d.deciding, path.Join(filepath.ToSlash(folder), name)) }
	add(w.ConfigName())
	for _, e := range w.Environments {
		add(e.Path)
		add("pins/" + e.Environment.Value + ".json")
	}
	for _, name := range w.Packs {
		found, err := fs.Glob(w.Files.Tree(), path.Dir(name)+"/overlays/*.json")
		if err != nil {
			continue // a folder whose name is no pattern
		}
		for _, overlay := range found {
			add(overlay)
		}
	}
}

// checkOwners names what decides and has no owner.
func (d *doctoring) checkOwners(workflows []*workflow) {
	for _, w := range workflows {
		if slices.ContainsFunc(w.jobs, func(j *job) bool { return len(j.gates) > 0 || j.scripted() }) {
			d.deciding = append(d.deciding, workflowFolder+"/"+w.base())
		}
	}
	if len(d.deciding) == 0 {
		return
	}
	const hint = "name an owner in CODEOWNERS (packgate init prints the lines), and require reviews from code owners in the rules of the branch"
	name := d.ownersFile()
	if name == "" {
		d.say(advice, "no-owner", finding.Location{}, hint, "no code owner has to review these files, which packgate relies on: %s", d.unowned(nil))
		return
	}
	at := finding.Location{File: d.files.Show(name)}
	text, err := fs.ReadFile(d.files.Tree(), name)
	switch {
	case err != nil:
		d.skipped = append(d.skipped, notChecked{File: at.File, Reason: err.Error()})
		return
	case len(text) > mostOwners:
		d.say(advice, "no-owner", at, "keep it below 3 MB", "GitHub does not load a file of %d bytes, so nobody owns anything", len(text))
		return
	}
	o, skipped := parseOwners(string(text))
	for _, line := range skipped {
		l := at
		l.Start = finding.Position{Line: line, Column: 1}
		d.say(advice, "no-owner", l, "write a pattern, and owners as @login, @org/team or an address", "GitHub skips this line")
	}
	d.deciding = append(d.deciding, name)
	if unowned := d.unowned(o); unowned != "" {
		d.say(advice, "no-owner", at, hint, "no code owner has to review these files, which packgate relies on: %s", unowned)
	}
}

// ownersFile returns the file that GitHub reads; "" where there is none.
func (d *doctoring) ownersFile() string {
	for _, name := range ownerFiles {
		if there, err := d.files.Exists(name); there && err == nil {
			return name
		}
	}
	return ""
}

// unowned names the files that decide and that nobody owns; "" for none.
func (d *doctoring) unowned(o owners) string {
	slices.Sort(d.deciding)
	d.deciding = slices.Compact(d.deciding)
	left := slices.DeleteFunc(slices.Clone(d.deciding), o.own)
	if len(left) == 0 {
		return ""
	}
	return model.Few(left, 8, "file")
}

// unseen is what decides too, and is not in the checkout.
var unseen = []string{
	"the rules of the branch and rulesets: the required status, reviews from code owners, required workflows, and who may bypass them",
	"what the token of a run may do by default",
	"environments with reviewers, secrets, and variables such as PACKGATE_PUBLISH",
}
