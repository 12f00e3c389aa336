package browse

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// News is text that no line of a snapshot tells, and that has come or changed since the page was last looked at.

// mostNews is how many characters of it a document tells, about, and all of a tab's frames at most.
const mostNews = 1500

// pageNews is the page script's News.
type pageNews struct {
	Texts []struct {
		At   int    `json:"at"`
		Text string `json:"text"`
	} `json:"texts"`
	More int      `json:"more"`
	Gone []string `json:"gone"`
}

// news are a tab's, in the order they stand on the page.
type news struct {
	lines []string
	at    []int // how many lines of the page stand before each
	gone  []string
	more  int // characters
	size  int
	known bool // the page was asked
}

// open begins with a document.
func (n *news) open(shot pageShot) {
	if shot.News == nil {
		return
	}
	n.known = true
	n.more += max(0, shot.News.More)
	for _, text := range shot.News.Gone {
		n.gone = append(n.gone, "text: "+short(text, longestNews))
	}
}

// longestNews is how many characters one text has.
const longestNews = 301

// take takes the document's texts, from the n-th on, that stand before its line, and answers which is next. So many lines
// of the page stand before them.
func (n *news) take(shot pageShot, next, line, at int) int {
	if shot.News == nil {
		return next
	}
	for ; next < len(shot.News.Texts) && shot.News.Texts[next].At <= line; next++ {
		text := short(shot.News.Texts[next].Text, longestNews)
		switch size := utf8.RuneCountInString(text); {
		case text == "":
		case n.size+size > 2*mostNews:
			n.more += size
		default:
			n.lines, n.at, n.size = append(n.lines, "- text: "+text), append(n.at, at), n.size+size
		}
	}
	return next
}

// all takes all of a document that has no place among the lines.
func (n *news) all(shot pageShot, at int) {
	n.open(shot)
	n.take(shot, 0, math.MaxInt, at)
}

// among puts the texts where they stand between lines of the page that are shown, whose places are given: never between one
// and what stands under it.
func (n news) among(lines []string, places []int) []string {
	all, next := make([]string, 0, len(lines)+len(n.lines)), 0
	for i, line := range lines {
		for next < len(n.lines) && n.at[next] <= places[i] && indent(line) == 0 {
			all, next = append(all, n.lines[next]), next+1
		}
		all = append(all, line)
	}
	return append(all, n.lines[next:]...)
}

// tellMore tells of text that there was no room for.
func (r *reading) tellMore(n news) {
	if n.more > 0 {
		r.notice(fmt.Sprintf("About %d more characters of text have come or changed: see get_text.", n.more))
	}
}

// beside are the texts that no line of the difference tells.
func (n news) beside(d difference) news {
	told := append(slices.Clip(d.lines), d.far...)
	var lines []string
	var at []int
	for i, line := range n.lines {
		says := strings.TrimPrefix(line, "- text: ")
		if !slices.ContainsFunc(told, func(other string) bool { return strings.Contains(other, says) }) {
			lines, at = append(lines, line), append(at, n.at[i])
		}
	}
	n.lines, n.at = lines, at
	return n
}

// left are the texts that were told and are gone, where nothing has come in their place and no line that is lost says so.
func (n news) left(lost []string) []string {
	if len(n.lines) > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.gone), func(text string) bool {
		says := strings.TrimPrefix(text, "text: ")
		return slices.ContainsFunc(lost, func(line string) bool { return strings.HasSuffix(line, says) })
	})
}

// tellBelow tells the texts below a page that is shown as a whole.
func (r *reading) tellBelow(n news) {
	shown := append([]string{r.result.Snapshot.Text}, n.lines...)
	r.result.Snapshot.Text = strings.TrimLeft(strings.Join(shown, "\n"), "\n")
	r.tellMore(n)
}
