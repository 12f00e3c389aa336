package browse

import "chaperone/relay/program"

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
	return program.Clip(Clean(program.Clip(text, invisible*most)), most)
}
