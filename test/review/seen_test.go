package review_test

import (
	"regexp"
	"strings"
)

var folded = regexp.MustCompile(`(?s)<details>.*?</details>\n`)

// seen returns the lines of Markdown that are seen before anything is unfolded, as wide as a
// comment of GitHub is.
func seen(src string) (lines []string) {
	const width = 118
	link := regexp.MustCompile(`\]\(<[^>]*>\)|<[^>]*>|[*\x60\\]`)
	for line := range strings.Lines(folded.ReplaceAllString(src, "fold\n")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "| ---") {
			continue
		}
		for part := range strings.SplitSeq(line, "<br>") {
			for n := len([]rune(link.ReplaceAllString(part, ""))); n >= 0; n -= width {
				lines = append(lines, part)
			}
		}
	}
	return lines
}
