package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/report/model"
)

// edits say what was typed, with the places, but for what is said elsewhere: the controls that
// are weaker, and the texts. First comes what lets agents do more, then what has anything else to do with
// what they can, and then the rest by its class.
func (b *builder) edits(p *model.Pack, told []control) sentence {
	known := func(c *model.Change) bool {
		return readText(c) || slices.ContainsFunc(told, func(o control) bool {
			return slices.ContainsFunc(o.changes, func(o *model.Change) bool { return o.Path == c.Path && o.Kind == c.Kind })
		})
	}
	all := ranked(slices.DeleteFunc(p.Diff.Changes(), known), func(c *model.Change) int { return editRank(p.Diff, c) })
	said := each(all, typedWords)
	for i := range p.Environments {
		e := &p.Environments[i]
		for _, c := range ranked(e.Changes, func(c model.Change) int { return behind(loosening(e, &c) == nil) }) {
			if !known(&c) && (loosening(e, &c) != nil || !typedInPack(p.Diff, &c)) {
				said = append(said, inside(e).add(editWords(&c)))
			}
		}
	}
	if len(said) == 0 {
		return nil
	}
	itself := func(s sentence) sentence { return s }
	lead := "Edited: "
	if p.Pinned != nil {
		lead = "Between the versions: "
	}
	return plain(lead).add(series(" · ", few(said, b.atMost(maxEdits), itself, func(left int) sentence { return plain(more(left, "change")) })...))
}

// editWords say what was typed, and where.
func editWords(c *model.Change) sentence {
	where, behind := changedAt(*c), " "
	if where.base {
		behind = ": " // "of the base" is before it
	}
	return at(where).plain(behind).add(changeWords(c))
}

// typedInPack reports whether a change of an environment is what a change of the pack itself comes to there.
func typedInPack(d *model.Diff, c *model.Change) bool {
	return slices.ContainsFunc(d.Changes(), func(o *model.Change) bool {
		line := o.Line
		if c.Kind == "removed" {
			line = o.BaseLine
		}
		return o.File == c.File && line == c.Line
	})
}

// typedWords are editWords, with the reason why a person has to judge a change that no proof is about.
func typedWords(c *model.Change) sentence {
	s := editWords(c)
	if c.NeedsHumanClass && c.Proof == nil && c.Class == "major" {
		s = s.plain(" (").message(c.Reason).plain(")")
	}
	return s
}

// maxEditRank is behind everything that has to do with what agents can do.
const maxEditRank = 10

// editRank orders changes by what they have to do with what agents can.
func editRank(d *model.Diff, c *model.Change) int {
	switch {
	case c.Proof != nil && grew(c.Proof.Verdict), slices.ContainsFunc(d.Loosened, func(l model.Loosened) bool { return l.Change.Path == c.Path && l.Change.Kind == c.Kind }):
		return 0
	case c.Proof != nil && c.Proof.Verdict != "equal":
		return 1
	}
	return maxEditRank - model.ClassRank(c.Class)
}

// reordered is the row of a list of which nothing but the order differs.
const reordered = "any.order"

// changeWords name what changed, and show of both values what differs.
func changeWords(c *model.Change) sentence {
	thing := pack.ThingAt(c.Path)
	member := thing.Member
	var s sentence
	switch {
	case c.Path == "":
		return plain("the catalog is " + c.Kind)
	case strings.HasPrefix(c.Row, "catalog."):
		s = code(pack.Dotted(c.Path))
	case thing.Name == "":
		s = code(member)
	case member == "":
		s = plain(thing.Noun + " ").code(thing.Name)
	default:
		s = code(thing.Name).plain(" " + member)
	}
	before, after := c.Old, c.New
	switch {
	case c.Row == reordered:
		return s.plain(": the same items in another order")
	case c.Kind == "added" && member == "":
		return s.plain(" added")
	case c.Kind == "removed" && member == "":
		return s.plain(" removed")
	case c.Kind == "added":
		return s.plain(" added").add(valueWords(c.Path, after))
	case c.Kind == "removed":
		return s.plain(" removed").add(valueWords(c.Path, before))
	}
	if !conditionAt(c.Path) && !boundAt(c.Path) {
		before, after = membersApart(before, after)
	}
	old, now := differing(asWritten(c.Path, before), asWritten(c.Path, after))
	return s.plain(": ").code(old).plain(" → ").code(now)
}

// valueWords show the value that was added or removed at a path, nothing where the path says it.
func valueWords(path string, value json.RawMessage) sentence {
	if parts, ok := pack.SplitPointer(path); ok && len(parts) > 0 && textOf(value) == parts[len(parts)-1] {
		return nil
	}
	return plain(": ").code(pack.Clip(asWritten(path, value), maxWritten))
}

// membersApart leaves out of two objects the members that both have alike.
func membersApart(before, after json.RawMessage) (json.RawMessage, json.RawMessage) {
	var a, b map[string]json.RawMessage
	if len(before)+len(after) > maxRead || json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil || len(a) == 0 || len(b) == 0 {
		return before, after
	}
	for name, value := range a {
		if other, ok := b[name]; ok && bytes.Equal(value, other) {
			delete(a, name)
			delete(b, name)
		}
	}
	return json.RawMessage(pack.CompactJSON(a)), json.RawMessage(pack.CompactJSON(b))
}

// prefixed are the long names of variables that everybody knows.
var prefixed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:request\.context|run_context|request)\.([a-z_])`)
})

// asWritten shows a value of a pack: a condition in infix, a bound as one reads it, all else as JSON.
func asWritten(path string, raw json.RawMessage) string {
	if len(raw) > maxRead {
		return pack.Clip(string(raw), maxWritten)
	}
	d, _ := pack.Read("", raw, pack.DefaultLimits())
	if d == nil || d.Root == nil {
		return string(raw)
	}
	switch {
	case conditionAt(path):
		return prefixed().ReplaceAllString(rulebook.Condition(d.Root), "$1")
	case boundAt(path):
		return boundWords(d.Root.Any())
	}
	return pack.CompactJSON(d.Root.Any())
}

// maxRead is up to how many bytes of a value are read to be said.
const maxRead = 1 << 14

// conditionAt reports whether a path leads to a condition, boundAt to what an argument may be.
func conditionAt(path string) bool {
	folder, last := splitPath(path)
	return last == "if" || last == "when" || strings.HasSuffix(folder, "/eligibility_rules")
}

func boundAt(path string) bool {
	folder, _ := splitPath(path)
	return strings.HasSuffix(folder, "/arg_constraints")
}

func splitPath(keyed string) (folder, last string) {
	i := strings.LastIndexByte(keyed, '/')
	return keyed[:max(i, 0)], keyed[i+1:]
}

// differing leaves out of two conditions what both begin and end with, at whole parts of them.
func differing(before, after string) (string, string) {
	a, b := strings.Split(before, " and "), strings.Split(after, " and ")
	for len(a) > 1 && len(b) > 1 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	before, after = strings.Join(a, " and "), strings.Join(b, " and ")
	if len(a) == 1 && len(b) == 1 {
		for _, operator := range []string{" > ", " >= ", " < ", " <= ", " == ", " != ", " in "} {
			left, _, ok := strings.Cut(before, operator)
			if ok && strings.HasPrefix(after, left+" ") {
				after = strings.TrimPrefix(after, left+" ")
				break
			}
		}
	}
	return pack.Clip(before, maxWritten), pack.Clip(after, maxWritten)
}

// maxWritten is how many characters of a condition stand in a line.
const maxWritten = 160

// texts are the texts of the prompt that changed, whole, old beside new.
func (b *builder) texts(p *model.Pack) (nodes []node) {
	if p.Diff == nil {
		return nil
	}
	all := those(p.Diff.Changes(), readText)
	if b.tight && len(all) > 1 {
		nodes, all = append(nodes, plain(pack.Counted(len(all), "text")+" changed: read them under Layer by layer.")), nil
	}
	for i, c := range all[:min(len(all), maxTexts)] {
		lead := textName(c.Path).plain(" changes: ")
		if i > 0 && reflect.DeepEqual(textName(c.Path), textName(all[i-1].Path)) {
			lead = plain("Another one: ")
		}
		nodes = append(nodes, lead.add(at(changedAt(*c))).plain(" “").add(textStep(textOf(c.Old), textOf(c.New))).plain("”"))
	}
	if left := len(all) - maxTexts; left > 0 {
		nodes = append(nodes, plain(more(left, "text")+" changed: read them under Layer by layer."))
	}
	if words := promptWords(p); words != "" {
		nodes = append(nodes, plain(words))
	}
	return nodes
}

// besideWords name the files beside a pack that changed, whatever the checks make of it, but for those
// in which an edit is said to be.
func besideWords(p *model.Pack) sentence {
	files := those(p.Files, func(f model.FileChange) bool {
		if f.Kind == "removed" && slices.ContainsFunc(p.Findings, func(of model.Finding) bool { return weakens(of) && fileGone(&of, f.File) }) {
			return false
		}
		return !slices.ContainsFunc(p.Environments, func(e model.Environment) bool {
			return slices.ContainsFunc(e.Changes, func(c model.Change) bool { return c.File == f.File })
		})
	})
	if len(files) == 0 {
		return nil
	}
	return plain("Changed beside the pack: ").add(among(files, maxEdits, "file", func(f model.FileChange) sentence {
		s := at(spot{file: f.File, base: f.Kind == "removed"})
		if f.Kind != "changed" {
			s = s.plain(" (" + f.Kind + ")")
		}
		return s
	}))
}

// fileGone reports whether a finding is about a file of the version before, or one beside it.
func fileGone(f *model.Finding, file string) bool {
	return slices.ContainsFunc(f.Related, func(r model.Related) bool { return r.Revision != "" && path.Dir(r.File) == path.Dir(file) })
}

// textName names a text: one of the prompt, or whose it is where it belongs to one thing. What the
// prompt has of a rule is the reason of its outcome; its rationale is documentation.
func textName(keyed string) sentence {
	layer, _, _ := strings.Cut(strings.TrimPrefix(keyed, "/"), "/")
	thing := pack.ThingAt(keyed)
	switch what := thing.Member[strings.LastIndexByte(thing.Member, '.')+1:]; {
	case layer == "business_context" || layer == "tone_and_comms":
		return plain("A text of the prompt")
	case thing.Name == "":
		return plain("The text ").code(thing.Member)
	default:
		return plain("The " + cmp.Or(what, "text") + " of " + thing.Noun + " ").code(thing.Name)
	}
}

// readText reports whether a change is of a text that agents or people read, and no value.
func readText(c *model.Change) bool {
	return (isText(c.Old) || isText(c.New)) && slices.ContainsFunc(readParts, func(part string) bool { return strings.Contains(c.Path, part) })
}

// readParts are in the paths of texts that somebody reads.
var readParts = []string{"/summary", "/non_negotiables", "/tone_and_comms", "/rationale", "/reason", "/description", "/business_context"}

// isText reports whether a value is a text, and not an empty one.
func isText(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > len(`""`) && raw[0] == '"'
}

func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// maxText is how many characters of a text are shown above the fold (decisions, D14).
const maxText = 1000

// textStep shows two versions of a text in one: what is gone struck, what is new strong.
func textStep(before, after string) sentence {
	a, b := strings.Fields(before), strings.Fields(after)
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	var s sentence
	if first > 0 {
		s = plain(clipText(strings.Join(a[:first], " ") + " "))
	}
	if gone := a[first : len(a)-last]; len(gone) > 0 {
		s = s.put(struckPiece, clipText(strings.Join(gone, " ")))
		if first < len(b)-last {
			s = s.plain(" ")
		}
	}
	if added := b[first : len(b)-last]; len(added) > 0 {
		s = s.put(addedPiece, clipText(strings.Join(added, " ")))
	}
	if last > 0 {
		s = s.plain(clipText(" " + strings.Join(a[len(a)-last:], " ")))
	}
	return s
}

func clipText(s string) string {
	if len(s) <= maxText {
		return s
	}
	return pack.Clip(s, maxText) + " (read all of it)"
}

// promptWords say in how many golden cases the prompt changes, "" where it does in none.
func promptWords(p *model.Pack) string {
	changed, tokens, compared := 0, 0, 0
	for i := range p.Golden {
		c := &p.Golden[i]
		if c.Base == nil || c.Base.Outcome == "" {
			continue
		}
		compared++
		if slices.ContainsFunc(c.Base.Sections, func(s model.SectionChange) bool { return strings.HasPrefix(s.Path, "/compiled_prompt/") }) {
			changed++
		}
		for _, t := range c.Base.Tokens {
			tokens += t.Head - t.Base
		}
	}
	if changed == 0 {
		return ""
	}
	return fmt.Sprintf("The prompt changes in %d of %s (%+d tokens).", changed, pack.Counted(compared, "golden case"), tokens)
}

func caseName(file string) (name string, kind string) {
	base := path.Base(file)
	for _, k := range []string{"case", "compiled", "packet", "record"} {
		if name, ok := strings.CutSuffix(base, "."+k+".json"); ok {
			return name, strings.NewReplacer("compiled", "case").Replace(k)
		}
	}
	return base, ""
}
