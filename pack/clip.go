package pack

import "fmt"

// Clip returns a text, or the most characters of it that may be shown with an
// ellipsis after them.
func Clip(text string, most int) string {
	count := 0
	for i := range text {
		if count == most {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

// Counted returns how many there are of something, such as "1 error" or "2 errors".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
