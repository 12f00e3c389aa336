package program_test

import (
	"testing"

	"chaperone/relay/program"
)

func TestTextIsCutAtACharacter(t *testing.T) {
	tests := map[string]struct {
		text string
		most int
		want string
	}{
		"shorter":                        {"abc", 4, "abc"},
		"as long as it may be":           {"abcd", 4, "abcd"},
		"one too long":                   {"abcde", 4, "abc…"},
		"characters of many bytes":       {"äöüß", 4, "äöüß"},
		"one too many of many bytes":     {"äöüßä", 4, "äöü…"},
		"nothing":                        {"", 0, ""},
		"bytes that are no text at all":  {"\xff\xff\xff", 2, "\xff…"},
		"only the ellipsis has its room": {"abc", 1, "…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := program.Clip(tt.text, tt.most); got != tt.want {
				t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.most, got, tt.want)
			}
		})
	}
}
