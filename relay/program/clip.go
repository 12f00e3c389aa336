package program

// Clip cuts text to at most so many characters, its ellipsis among them.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count, end := 0, 0
	for i := range text {
		if count == most-1 {
			end = i
		}
		if count == most {
			return text[:end] + "…"
		}
		count++
	}
	return text
}
