package chrome

import "chaperone/relay/program"

// The bounds of what a page says of itself, in characters; what is cut ends in an ellipsis.
const (
	longestTitle  = 300
	longestURL    = 4000
	longestDialog = 1000
)

func short(text string, most int) string {
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

// shown is a tab's view with what the page says of itself cut.
func shown(t program.Tab, url, title string) program.Tab {
	t.URL, t.Title = short(url, longestURL), short(title, longestTitle)
	return t
}
