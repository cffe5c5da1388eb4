package github

import (
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

	"github.com/google/go-github/v62/github"
)

const (
	MaxSuggestions   = 10                             // how many suggestions one review holds: more of them are a case for fixing the file at once
	maxReviewPages   = 50                             // bounds the pages on which earlier suggestions are looked for
	suggestionPrefix = "<!-- packgate:suggestion v1 " // what the marker of every suggestion begins with
)

// Suggestion is the mechanical repair of one finding: some lines of a file, and
// what is to stand in their place.
type Suggestion struct {
	Path          string   // the file, relative to the root of the repository
	Fingerprint   string   // identifies the finding within the file
	Line          int      // the number of the first line of Before, from 1
	Before, After []string // the lines that are replaced, one at least, and After those that take their place. Neither has line ends.
	Text          string   // the Markdown above the suggestion. What it holds of a pack has to be escaped already.
}

// SuggestResult is what became of suggestions.
type SuggestResult struct {
	Posted, Known int    // counts those that were written, Known those that were there before
	URL           string // the page of the review, empty where none was written
}

// Suggest posts suggestions for a pull request in one review, which is a comment
// and neither approves nor refuses. GitHub shows a suggestion only at lines that
// the pull request's difference shows, so others are left out. So are those whose
// lines read otherwise in the difference than in Before, which happens where the
// branch below changed the file too; those that overlap one before them; those that
// a comment cannot hold exactly; and all after the first MaxSuggestions.
//
// Each bears a marker with its fingerprint. What is posted already, by whoever the
// token writes as, is not posted again, also after a write of which it is not known
// whether it was carried out. Head is the commit that the suggestions are about.
// Errors have the kinds of a Client.
func (c *Client) Suggest(ctx context.Context, pull int, head string, list []Suggestion) (SuggestResult, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(s Suggestion) bool { return !s.exact() })
	if len(list) == 0 {
		return SuggestResult{}, nil
	}
	for tries := 1; ; tries++ {
		result, err := c.suggest(ctx, pull, head, list)
		var write *writeError
		if !errors.As(err, &write) {
			return result, err
		}
		if !c.again(ctx, err, tries) {
			return SuggestResult{}, write.error
		}
	}
}

// suggest looks for what is there and writes once at most.
func (c *Client) suggest(ctx context.Context, pull int, head string, list []Suggestion) (SuggestResult, error) {
	known, err := c.suggested(ctx, pull)
	if err != nil {
		return SuggestResult{}, err
	}
	result := SuggestResult{}
	for _, s := range list {
		if known[s.key()] {
			result.Known++
		}
	}
	if result.Known == len(list) {
		return result, nil
	}
	patches, err := c.patches(ctx, pull, list)
	if err != nil {
		return result, err
	}
	next := choose(list, patches, known)
	if len(next) == 0 {
		return result, nil
	}
	written, _, err := c.api.PullRequests.CreateReview(ctx, c.owner, c.repo, pull, reviewOf(head, next))
	if err != nil {
		return result, &writeError{error: c.failed("write the suggestions", err)}
	}
	result.Posted, result.URL = len(next), written.GetHTMLURL()
	return result, nil
}

func (c *Client) suggested(ctx context.Context, pull int) (map[suggestionKey]bool, error) {
	author, err := c.login(ctx)
	if err != nil {
		return nil, err
	}
	known := map[suggestionKey]bool{}
	for comment, err := range pages(c, "read the suggestions", maxReviewPages, func(page github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		return c.api.PullRequests.ListComments(ctx, c.owner, c.repo, pull, &github.PullRequestListCommentsOptions{ListOptions: page})
	}) {
		if err != nil {
			return nil, err
		}
		if fingerprint, ok := parseSuggestion(comment.GetBody()); ok && strings.EqualFold(comment.GetUser().GetLogin(), author) {
			known[suggestionKey{comment.GetPath(), fingerprint}] = true
		}
	}
	return known, nil
}

// patches returns, by path, the differences of the files that suggestions are for.
// It stops asking once it has seen all of them.
func (c *Client) patches(ctx context.Context, pull int, list []Suggestion) (map[string]string, error) {
	wanted := map[string]bool{}
	for _, s := range list {
		wanted[s.Path] = true
	}
	patches := map[string]string{}
	for f, err := range c.files(ctx, pull) {
		if err != nil {
			return nil, err
		}
		if wanted[f.GetFilename()] {
			patches[f.GetFilename()] = f.GetPatch()
		}
		if len(patches) == len(wanted) {
			break
		}
	}
	return patches, nil
}

// choose returns the suggestions to post. One that is known keeps its lines, and
// so keeps others off them.
func choose(list []Suggestion, patches map[string]string, known map[suggestionKey]bool) []Suggestion {
	var taken, next []Suggestion
	for _, s := range list {
		if !shown(patches[s.Path], s.Line, s.Before) || slices.ContainsFunc(taken, s.overlaps) {
			continue
		}
		taken = append(taken, s)
		if !known[s.key()] && len(next) < MaxSuggestions {
			next = append(next, s)
		}
	}
	return next
}

// hunk finds the first line of the new file in the header of a hunk.
var hunk = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -[0-9]+(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@`)
})

// shown reports whether one hunk of a difference shows lines of the new file as
// they are expected, from a number on.
func shown(patch string, line int, lines []string) bool {
	number, seen := 0, 0
	for text := range strings.SplitSeq(patch, "\n") {
		if header := hunk().FindStringSubmatch(text); header != nil {
			n, err := strconv.Atoi(header[1])
			if err != nil {
				return false
			}
			number, seen = n, 0
			continue
		}
		if number == 0 || text == "" || text[0] != ' ' && text[0] != '+' {
			continue // before the first hunk, a line that is gone, or a remark
		}
		if number == line+seen && text[1:] == lines[seen] {
			if seen++; seen == len(lines) {
				return true
			}
		}
		number++
	}
	return false
}

// reviewOf returns the review that holds suggestions.
func reviewOf(head string, list []Suggestion) *github.PullRequestReviewRequest {
	r := &github.PullRequestReviewRequest{
		CommitID: &head, Event: ptr("COMMENT"),
		Body: ptr(fmt.Sprintf("packgate can fix %d of its findings here. Each suggestion fixes one; read it before you commit it.", len(list))),
	}
	for _, s := range list {
		comment := &github.DraftReviewComment{Path: ptr(s.Path), Body: ptr(s.body()), Side: ptr("RIGHT"), Line: ptr(s.end())}
		if s.end() > s.Line { // GitHub takes no range of one line
			comment.StartSide, comment.StartLine = ptr("RIGHT"), ptr(s.Line)
		}
		r.Comments = append(r.Comments, comment)
	}
	return r
}

func (s Suggestion) end() int { return s.Line + len(s.Before) - 1 }

func (s Suggestion) overlaps(other Suggestion) bool {
	return s.Path == other.Path && s.Line <= other.end() && other.Line <= s.end()
}

// suggestionKey tells suggestions of one pull request apart: two files may have the
// same finding at the same place.
type suggestionKey struct{ path, fingerprint string }

func (s Suggestion) key() suggestionKey { return suggestionKey{s.Path, s.Fingerprint} }

// exact reports whether a comment can hold the suggestion so that committing it
// gives After and nothing else. GitHub writes line ends in its own way, and a
// character that is none would become another one.
func (s Suggestion) exact() bool {
	if s.Line < 1 || len(s.Before) == 0 || len(s.After) == 0 {
		return false
	}
	for _, line := range slices.Concat(s.Before, s.After) {
		if strings.ContainsAny(line, "\r\n\x00") || !utf8.ValidString(line) {
			return false
		}
	}
	return utf8.RuneCountInString(s.body()) <= MaxComment
}

// body is the comment that holds the suggestion: the marker, the words, and the
// lines in a fence that nothing in them can end.
func (s Suggestion) body() string {
	text := strings.Join(s.After, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s -->\n%s\n\n%ssuggestion\n%s\n%s\n", suggestionPrefix, url.QueryEscape(s.Fingerprint), s.Text, fence, text, fence)
}

// parseSuggestion reads the marker at the start of a comment; ok is false where
// there is none.
func parseSuggestion(body string) (fingerprint string, ok bool) {
	rest, ok := strings.CutPrefix(body, suggestionPrefix)
	if !ok {
		return "", false
	}
	escaped, _, ok := strings.Cut(rest, " -->")
	fingerprint, err := url.QueryUnescape(escaped)
	return fingerprint, ok && err == nil
}
