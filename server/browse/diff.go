package browse

import (
	"slices"
	"strings"
)

// difference is what of a page is not as it was last shown.
type difference struct {
	picked          // what is new or says another thing
	gone   []string // refs
	lost   []string // lines without a ref that no other line came for
	far    []string // what changed elsewhere, in what was looked for
	moved  bool     // what both have stands in another order
}

// changes tells the pages apart, as far as the lines of now take the place of those of before.
func changes(before, now page) difference {
	fresh, missing := freshLines(before.lines, now.lines), freshLines(now.lines, before.lines)
	alive := refsIn(now.lines)
	to, from := common(before, now)
	for i := to; i < len(now.lines); i++ {
		fresh[i] = false
	}
	d := difference{picked: withHolders(now.lines, fresh, refsIn(before.lines)), moved: isReordered(before.lines[:from], missing, now.lines[:to], fresh)}
	for i, line := range before.lines[:from] {
		switch ref := refIn(line); {
		case !missing[i]:
		case ref == "":
			d.lost = append(d.lost, strings.TrimLeft(line, " "))
		case !alive[ref]:
			d.gone = append(d.gone, ref)
		}
	}
	if hasPlain(now.lines, fresh) {
		d.lost = nil // text that says another thing now
	}
	return d
}

// isReordered compares the lines that both pages have.
func isReordered(before []string, missing []bool, now []string, fresh []bool) bool {
	return !slices.EqualFunc(unmarked(before, missing), unmarked(now, fresh), sameLine)
}

func unmarked(lines []string, marked []bool) []string {
	kept := make([]string, 0, len(lines))
	for i, line := range lines {
		if !marked[i] {
			kept = append(kept, line)
		}
	}
	return kept
}

// common is how many lines of both pages can be compared. Where before was cut, what now has beyond was not shown yet, but
// for lines that stand where others are missing; where now is cut, what before had beyond may still be there.
func common(before, now page) (to, from int) {
	fresh, missing := freshLines(before.lines, now.lines), freshLines(now.lines, before.lines)
	lastNow := lastKnown(now.lines, fresh, refsIn(before.lines)) + 1
	lastBefore := lastKnown(before.lines, missing, refsIn(now.lines)) + 1
	to, from = len(now.lines), len(before.lines)
	replaced := from - lastBefore
	if before.more > 0 {
		to = min(to, lastNow+replaced)
	}
	if now.more > 0 && len(now.lines)-lastNow < replaced {
		from = lastBefore
	}
	return to, from
}

// freshLines marks the lines of now that were not in before. Where on the screen a line stands does not count.
func freshLines(before, now []string) []bool {
	old := make(map[string]int, len(before))
	for _, line := range before {
		old[unplaced(line)]++
	}
	fresh := make([]bool, len(now))
	for i, line := range now {
		line = unplaced(line)
		fresh[i] = old[line] == 0
		if !fresh[i] {
			old[line]--
		}
	}
	return fresh
}

// unplaced is the line without the marks of where the window ends and begins.
func unplaced(line string) string {
	for _, mark := range []string{" [offscreen]", " [onscreen]"} {
		if before, after, found := strings.Cut(line, mark); found {
			return before + after
		}
	}
	return line
}

// lastKnown is the last line that is known, by itself or by its ref.
func lastKnown(lines []string, fresh []bool, refs map[string]bool) int {
	for i, line := range slices.Backward(lines) {
		if !fresh[i] || refs[refIn(line)] {
			return i
		}
	}
	return -1
}

// hasPlain reports whether a marked line has no ref.
func hasPlain(lines []string, marked []bool) bool {
	for i, line := range lines {
		if marked[i] && refIn(line) == "" {
			return true
		}
	}
	return false
}

// picked are lines of a page that are shown by themselves.
type picked struct {
	lines  []string // with those that they stand in
	at     []int    // where each stands in the page
	marked []bool   // by place in the page: what was meant, not what it stands in
}

// unpicked are the page's lines without what was meant from the n-th picked line on.
func (p picked) unpicked(page []string, n int) []string {
	drop := map[int]bool{}
	for _, at := range p.at[n:] {
		drop[at] = p.marked[at]
	}
	kept := make([]string, 0, len(page))
	for i, line := range page {
		if !drop[i] {
			kept = append(kept, line)
		}
	}
	return kept
}

// withHolders picks the marked lines, each below the nearest around it that says where it is: a row, a dialog, a group.
// The great regions of a page are left out, and so is what is around an element that is known: its ref says where it is.
func withHolders(lines []string, marked []bool, known map[string]bool) picked {
	keep := make([]bool, len(lines))
	var above []int // the lines that the present one stands under
	for i, line := range lines {
		for len(above) > 0 && indent(lines[above[len(above)-1]]) >= indent(line) {
			above = above[:len(above)-1]
		}
		if marked[i] {
			keep[i] = true
			if holder := nearest(lines, above); holder >= 0 && !known[refIn(line)] {
				keep[holder] = true
			}
		}
		above = append(above, i)
	}
	p := outdented(lines, keep)
	p.marked = marked
	return p
}

// nearest is the innermost line that is no region; -1 for none.
func nearest(lines []string, above []int) int {
	for _, at := range slices.Backward(above) {
		if !isRegion(lines[at]) {
			return at
		}
	}
	return -1
}

// outdented are the lines to keep, each below the nearest kept one that it stands under.
func outdented(lines []string, keep []bool) picked {
	var p picked
	var above []int // indentations of the kept lines above
	for i, line := range lines {
		depth := indent(line)
		for len(above) > 0 && above[len(above)-1] >= depth {
			above = above[:len(above)-1]
		}
		if keep[i] {
			p.lines = append(p.lines, strings.Repeat("  ", len(above))+strings.TrimLeft(unplaced(line), " "))
			p.at = append(p.at, i)
			above = append(above, depth)
		}
	}
	return p
}

// isRegion holds for a landmark other than a dialog.
func isRegion(line string) bool {
	role, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(line, " "), "- "), " ")
	switch strings.TrimSuffix(role, ":") {
	case "banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search":
		return true
	}
	return false
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func refsIn(lines []string) map[string]bool {
	refs := make(map[string]bool, len(lines))
	for _, line := range lines {
		if ref := refIn(line); ref != "" {
			refs[ref] = true
		}
	}
	return refs
}

// refIn is the ref a line carries; page text cannot hold one.
func refIn(line string) string {
	_, after, found := strings.Cut(line, "[ref=")
	if !found {
		return ""
	}
	ref, _, _ := strings.Cut(after, "]")
	return ref
}
