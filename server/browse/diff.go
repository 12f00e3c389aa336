package browse

import (
	"regexp"
	"strings"
)

// changes answers the lines of now that were not in before, each below the lines it stands under, and the
// refs that are gone.
func changes(before, now []string) (lines, gone []string) {
	old := count(before)
	fresh := make([]bool, len(now))
	for i, line := range now {
		if old[line] > 0 {
			old[line]--
			continue
		}
		fresh[i] = true
	}
	return withAncestors(now, fresh), goneRefs(before, now)
}

func count(lines []string) map[string]int {
	counts := make(map[string]int, len(lines))
	for _, line := range lines {
		counts[line]++
	}
	return counts
}

// withAncestors keeps the marked lines and those above them that they are indented under.
func withAncestors(lines []string, marked []bool) []string {
	keep := make([]bool, len(lines))
	for i := range lines {
		if !marked[i] {
			continue
		}
		keep[i] = true
		depth := indent(lines[i])
		for j := i - 1; j >= 0 && depth > 0; j-- {
			if indent(lines[j]) < depth {
				keep[j], depth = true, indent(lines[j])
			}
		}
	}
	var kept []string
	for i, line := range lines {
		if keep[i] {
			kept = append(kept, line)
		}
	}
	return kept
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func goneRefs(before, now []string) []string {
	alive := map[string]bool{}
	for _, line := range now {
		alive[refIn(line)] = true
	}
	var gone []string
	for _, line := range before {
		if ref := refIn(line); ref != "" && !alive[ref] {
			gone = append(gone, ref)
		}
	}
	return gone
}

// refIn is the ref a line carries; page text cannot hold one.
func refIn(line string) string {
	if found := regexp.MustCompile(`\[ref=(e\d+)\]`).FindStringSubmatch(line); found != nil {
		return found[1]
	}
	return ""
}
