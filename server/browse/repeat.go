package browse

import "strings"

// likeAbove stands for what the entry before says as well.
const likeAbove = "as above"

// condensed are lines of a page as they are read in one piece. An entry of a list with one thing to operate is the line of
// that, with the entry's text behind it, and what entries say again is said once.
func condensed(lines []string) []string {
	shown := make([]string, 0, len(lines))
	var above []string // by indentation: what the last entry there says, of those that the present line may follow
	for i := 0; i < len(lines); i++ {
		depth := min(indent(lines[i])/2, deepest)
		for len(above) <= depth {
			above = append(above, "")
		}
		above = above[:depth+1]
		start, said := entryOf(lines[i])
		if start == "" {
			shown = append(shown, lines[i])
			continue
		}
		again := said
		if above[depth] == said && len(said) > 2*len(likeAbove) {
			again = likeAbove
		}
		above[depth] = said
		if held := onlyOneIn(lines[i:]); held != "" {
			start, i = strings.Repeat("  ", depth)+strings.TrimLeft(held, " ")+": ", i+1
		}
		shown = append(shown, start+again)
	}
	return shown
}

// onlyOneIn is the line of the one link or button that the entry holds, which the lines begin with; empty where it holds
// another thing, or more.
func onlyOneIn(lines []string) string {
	if len(lines) < 2 || indent(lines[1]) != indent(lines[0])+2 || len(lines) > 2 && indent(lines[2]) > indent(lines[0]) {
		return ""
	}
	held := strings.TrimLeft(lines[1], " ")
	if !strings.HasSuffix(held, "]") || !strings.HasPrefix(held, "- link ") && !strings.HasPrefix(held, "- button ") {
		return "" // one that says something besides cannot say the entry's text
	}
	return lines[1]
}

// entryOf splits the line of an entry before what it says; it answers nothing for other lines. Rows are data, each for itself.
func entryOf(line string) (start, said string) {
	for _, role := range []string{"- listitem: ", "- article: "} {
		if before, after, found := strings.Cut(line, role); found && strings.TrimLeft(before, " ") == "" {
			return before + role, after
		}
	}
	return "", ""
}
