package relay_test

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The document has every kind of frame that the relay has, and no other.
func TestTheDocumentHasEveryFrame(t *testing.T) {
	coded := found(t, "frames.go", `\tkind[A-Z]\w*\s+= "(\w+)"`)
	documented := found(t, "../docs/relay.md", `\{"t":"(\w+)"`)
	if !slices.Equal(coded, documented) {
		t.Errorf("frames.go has\n%q, docs/relay.md\n%q", coded, documented)
	}
}

// found answers what the pattern's group matches in a file, sorted, each once.
func found(t *testing.T, file, pattern string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	matches := regexp.MustCompile(pattern).FindAllSubmatch(text, -1)
	names := make([]string, 0, len(matches))
	for _, match := range matches {
		names = append(names, string(match[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
