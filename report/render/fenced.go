package render

import (
	"strings"
)

// Fenced returns a text in a fenced code block of Markdown (GitHub Flavored Markdown,
// section 4.5), which nothing in it can close, and in which nothing is a command to a runner.
func Fenced(text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return fence + "text\n" + Inert(strings.TrimRight(text, "\n")) + "\n" + fence + "\n"
}
