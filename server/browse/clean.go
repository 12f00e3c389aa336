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
	const (
		nonJoiner, joiner = '\u200c', '\u200d'
		emojiStyle        = '\ufe0f'
	)
	switch {
	case r == '\n' || r == '\t' || r == nonJoiner || r == joiner || r == emojiStyle:
		return r
	case r == '\r' || r == '\u2028' || r == '\u2029':
		return '\n'
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return -1
	case r >= '\ufe00' && r <= '\ufe0e', r >= 0xE0000 && r <= 0xE0FFF:
		return -1
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u034f', r == '\u2800':
		return -1
	}
	return r
}
