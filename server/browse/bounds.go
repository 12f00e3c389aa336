package browse

// The bounds of what a page, or an edge, may say in an answer, in characters: text, snapshots and lists of lines
// have budgets of their own. What is cut ends in an ellipsis. The page script keeps to the same bounds.
const (
	longestTitle  = 300
	longestURL    = 4000
	longestDialog = 1000
	longestName   = 200
	longestLink   = 200  // an address within a line
	longestValue  = 4000 // what a line or a field holds
	longestWhy    = 300  // an edge's own sentence
	mostStates    = 16   // of a line
	mostDialogs   = 32   // of an answer; the newest stay
	mostListed    = 30   // options or matches in a detail
	longestOption = 80
)

// short is Clean within a bound.
func short(text string, most int) string {
	const invisible = 8 // times as much is looked at: some of it may show nothing
	return clip(Clean(clip(text, invisible*most)), most)
}

// clip cuts text to at most so many characters, its ellipsis among them.
func clip(text string, most int) string {
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
