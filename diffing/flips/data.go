package flips

// leaves counts the values of a request.
func leaves(data any) int {
	n := 0
	switch v := data.(type) {
	case map[string]any:
		for _, value := range v {
			n += leaves(value)
		}
		return n
	case []any:
		for _, value := range v {
			n += leaves(value)
		}
		return n + 1
	}
	return 1
}
