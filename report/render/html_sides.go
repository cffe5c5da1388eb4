package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

func (v *htmlView) sides(c *model.Change) []htmlSide {
	before, now := v.jsonLines(c.Old), v.jsonLines(c.New)
	markLines(before, now)
	label := func(word string, lines []htmlSideLine, line int) htmlSide {
		switch {
		case len(lines) == 0:
			word += ": nothing"
		case line > 0:
			word += fmt.Sprintf(", line %d", line)
		}
		return htmlSide{word, lines}
	}
	return []htmlSide{label("Before", before, c.BaseLine), label("Now", now, c.Line)}
}

// maxSideLines and maxLetters bound one of two values that stand side by side.
const (
	maxSideLines = 200
	maxLetters   = 400
)

// jsonLines returns the lines of a value as indented JSON, none for no value.
func (v *htmlView) jsonLines(value json.RawMessage) []htmlSideLine {
	if len(value) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return []htmlSideLine{{Text: v.text(string(value))}}
	}
	var out []htmlSideLine
	all := strings.Count(b.String(), "\n") + 1
	for line := range strings.Lines(b.String()) {
		if len(out) == maxSideLines {
			return append(out, htmlSideLine{Text: leftOut(all-maxSideLines, "line")})
		}
		text := Visible(shorten(strings.TrimRight(line, "\n"), maxLetters))
		v.size += len(text)
		out = append(out, htmlSideLine{Text: text})
	}
	return out
}

// markLines marks the lines of two values that the other does not have: all but a
// longest common subsequence. Where there is one value alone, nothing is marked.
func markLines(before, now []htmlSideLine) {
	if len(before) == 0 || len(now) == 0 {
		return
	}
	common := make([][]int, len(before)+1) // of what is left of both
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if before[i].Text == now[j].Text {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(before) || j < len(now) {
		switch {
		case i < len(before) && j < len(now) && before[i].Text == now[j].Text:
			i, j = i+1, j+1
		case j == len(now) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			before[i].Differs, before[i].Mark = true, "−"
			i++
		default:
			now[j].Differs, now[j].Mark = true, "+"
			j++
		}
	}
}
