package browse

import (
	"fmt"
	"strings"
)

// Readable is a result as a model or a person at a terminal reads it: between boundaries a header (`title — url`), where it
// is not that of the answer before, and what the page says, then our own notices. Pictures are not in it.
func Readable(r Result) string {
	var parts []string
	if text := pageText(r); text != "" {
		parts = append(parts, Bounded(text))
	}
	parts = append(parts, ownWords(r)...)
	if len(parts) == 0 {
		return r.Action + ": done"
	}
	return strings.Join(parts, "\n")
}

// header is the page's title, which is its own text like all else.
func header(r Result) string {
	if r.Title == "" {
		return Clean(r.URL)
	}
	return Clean(r.Title) + " — " + Clean(r.URL)
}

// pageText is everything of the result that a page may have written and its reader does not know.
func pageText(r Result) string {
	if r.AsAsked {
		r.Snapshot, r.Value = nil, nil
	}
	var parts []string
	if head := header(r); head != "" && !r.Unmoved {
		parts = append(parts, head)
	}
	if r.Snapshot != nil && r.Snapshot.Text != "" {
		parts = append(parts, strings.TrimRight(r.Snapshot.Text, "\n"))
	}
	if r.Text != nil {
		parts = append(parts, strings.TrimRight(*r.Text, "\n"))
	}
	if r.Value != nil && !isShown(r.Snapshot, *r.Value) {
		parts = append(parts, "the field now holds: "+*r.Value)
	}
	if r.Returned != nil {
		parts = append(parts, *r.Returned)
	}
	if r.Download != nil {
		parts = append(parts, fmt.Sprintf("- downloaded %q", r.Download.Name))
	}
	return strings.Join(append(parts, happenings(r)...), "\n")
}

// isShown reports whether a line of the snapshot ends in the value.
func isShown(s *Snapshot, value string) bool {
	return s != nil && value != "" && strings.Contains(s.Text+"\n", ": "+value+"\n")
}

// happenings are lines of tabs and dialogs.
func happenings(r Result) []string {
	parts := make([]string, 0, len(r.Said)+len(r.Tabs)+len(r.Opened)+len(r.Dialogs))
	for _, said := range r.Said {
		parts = append(parts, "- said by "+said)
	}
	for _, t := range r.Tabs {
		parts = append(parts, fmt.Sprintf("- tab %s %q %s", t.ID, t.Title, t.URL))
	}
	for _, t := range r.Opened {
		parts = append(parts, fmt.Sprintf("- opened tab %s %q %s", t.ID, t.Title, t.URL))
	}
	for _, d := range r.Dialogs {
		outcome := "dismissed"
		switch {
		case d.Open:
			outcome = "open"
		case d.Accepted:
			outcome = "accepted"
		}
		parts = append(parts, fmt.Sprintf("- %s dialog, %s: %q", d.Type, outcome, d.Message))
	}
	return parts
}

// ownWords are what we say about the answer ourselves.
func ownWords(r Result) []string {
	var words []string
	if r.Landed != nil && !*r.Landed {
		words = append(words, "It is not certain that it reached the element.")
	}
	if r.AsAsked {
		words = append(words, "Done; the snapshot has no other change.")
	} else if r.Snapshot != nil {
		if r.Snapshot.Mode == "diff" {
			words = append(words, "Changes only.")
		}
		words = append(words, more(r.Snapshot.More)...)
	}
	words = append(words, more(r.More)...)
	if s := r.Screenshot; s != nil && s.Artifact != "" {
		words = append(words, fmt.Sprintf("Screenshot %s, %d by %d.", s.Artifact, s.Width, s.Height))
	}
	if d := r.Download; d != nil && d.Artifact != "" {
		words = append(words, fmt.Sprintf("The file is artifact %s, %d bytes.", d.Artifact, d.Bytes))
	}
	return append(words, r.Notices...)
}

func more(m *More) []string {
	if m == nil {
		return nil
	}
	return []string{fmt.Sprintf("%d more lines: go on with the cursor %s.", m.Lines, m.Cursor)}
}
