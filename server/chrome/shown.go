package chrome

import "chaperone/relay/program"

// The bounds of what a page says of itself, in characters; what is cut ends in an ellipsis.
const (
	longestTitle  = 300
	longestURL    = 4000
	longestDialog = 1000
)

// shown is a tab's view with what the page says of itself cut.
func shown(t program.Tab, url, title string) program.Tab {
	t.URL, t.Title = program.Clip(url, longestURL), program.Clip(title, longestTitle)
	return t
}
