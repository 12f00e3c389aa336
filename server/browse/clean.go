package browse

import (
	"crypto/rand"
	"regexp"
	"strings"
	"unicode"
)

// Bounded puts text that came from a page between two lines that carry a fresh nonce, which does not occur
// in the text: nothing a page says can end the region it stands in.
func Bounded(text string) string {
	text = strings.ToValidUTF8(text, "�")
	nonce := rand.Text()
	for strings.Contains(text, nonce) {
		nonce = rand.Text()
	}
	return "<<<page " + nonce + ">>>\n" + text + "\n<<<end " + nonce + ">>>"
}

// Clean neutralises one line of page text: control, bidi, tag and other invisible characters and terminal
// sequences go, line ends become spaces, and nothing in it reads as a ref.
func Clean(text string) string {
	text = cleanLines(text)
	return strings.Join(strings.Fields(text), " ")
}

// cleanLines is Clean for text that keeps its lines.
func cleanLines(text string) string {
	text = terminal().ReplaceAllString(strings.ToValidUTF8(text, "�"), "")
	text = strings.Map(visible, text)
	return forged().ReplaceAllString(text, "(ref=")
}

// terminal matches the escape sequences of ECMA-48: control sequences, and strings such as titles and links.
func terminal() *regexp.Regexp {
	return regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?")
}

// forged matches what would read as a ref in a snapshot.
func forged() *regexp.Regexp { return regexp.MustCompile(`(?i)\[\s*ref\s*=`) }

// visible drops what a person cannot see, and keeps the two joiners that scripts and emoji are spelt with.
func visible(r rune) rune {
	switch {
	case strings.ContainsRune("\n\t\u200c\u200d\ufe0f", r):
		return r
	case strings.ContainsRune("\r\u2028\u2029", r):
		return '\n'
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) || isBlank(r):
		return -1
	}
	return r
}

// isBlank holds for the letters and selectors that show nothing.
func isBlank(r rune) bool {
	const variations, lastVariation, tags, lastTag = 0xFE00, 0xFE0F, 0xE0000, 0xE0FFF
	switch {
	case r >= variations && r <= lastVariation, r >= tags && r <= lastTag:
		return true
	}
	return strings.ContainsRune("\u034f\u115f\u1160\u2800\u3164\uffa0", r)
}
