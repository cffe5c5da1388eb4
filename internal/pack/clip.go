package pack

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
