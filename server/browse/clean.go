package browse

import (
	"crypto/rand"
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Bounded puts text that came from a page between two lines that carry a fresh nonce of 128 bits, which does not occur
// in the text: nothing a page says can end the region it stands in, or look as if it did.
func Bounded(text string) string {
	text = unbounded(strings.ToValidUTF8(text, "�"))
	nonce := fresh()
	for strings.Contains(text, nonce) {
		nonce = fresh()
	}
	return "<<<page " + nonce + ">>>\n" + text + "\n<<<end " + nonce + ">>>"
}

// fresh is 128 random bits in the fewest letters that stand in any text as they are.
func fresh() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails: see crypto/rand
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

// Clean neutralises one line of page text: control, bidi, tag and other invisible characters and terminal
// sequences go, line ends become spaces, and nothing in it reads as a ref or as a boundary.
func Clean(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Join(strings.Fields(cleanLines(text)), " ")
}

// isPlain holds for the common case: printable ASCII with single spaces and nothing that could open a ref, a boundary or a
// terminal sequence.
func isPlain(text string) bool {
	last := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '[' || c == '<' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' ' || text == ""
}

// cleanLines is Clean for text that keeps its lines.
func cleanLines(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if strings.ContainsAny(text, "\x1b\u009b") {
		text = terminal().ReplaceAllString(text, "")
	}
	return unbounded(unforged(strings.Map(visible, text)))
}

// terminal matches the escape sequences of ECMA-48: control sequences, and strings such as titles and links.
func terminal() *regexp.Regexp {
	return regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?")
}

// unforged opens what would read as a ref in a snapshot with another bracket.
func unforged(text string) string {
	if !strings.ContainsAny(text, "[［﹇") {
		return text
	}
	return replaceAlike(text, regexp.MustCompile(`(?i)\[\s*ref\s*=`), "(ref=")
}

// unbounded takes one bracket from what would read as a boundary.
func unbounded(text string) string {
	if !strings.ContainsAny(text, "<＜﹤‹«≪⟪《") {
		return text
	}
	return replaceAlike(text, regexp.MustCompile(`(?i)(?:[<‹]\s*){2,}[<‹]\s*(page|end)|[«≪⟪《]\s*[<‹«≪⟪《]\s*(page|end)`), "(($1$2")
}

// replaceAlike replaces what the pattern matches in the text as it looks: wide, mathematical and other forms of a letter are
// that letter (NFKC), and joiners are not seen. What does not match stays as it is written.
func replaceAlike(text string, pattern *regexp.Regexp, with string) string {
	looks, at := lookOf(text)
	var b strings.Builder
	done := 0
	for _, match := range pattern.FindAllStringSubmatchIndex(looks, -1) {
		b.WriteString(text[done:at[match[0]]])
		b.Write(pattern.ExpandString(nil, with, looks, match))
		done = at[match[1]]
	}
	b.WriteString(text[done:])
	return b.String()
}

// lookOf is what the text looks like, and where in the text each byte of that comes from.
func lookOf(text string) (looks string, at []int) {
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune(joiners, r) {
			continue
		}
		form := string(r)
		if r > '~' {
			form = norm.NFKC.String(form)
		}
		b.WriteString(form)
		for range len(form) {
			at = append(at, i)
		}
	}
	return b.String(), append(at, len(text))
}

// joiners are what scripts and emoji are spelt with, and nobody sees.
const joiners = "\u200c\u200d\ufe0f"

// visible drops what a person cannot see, and keeps the two joiners that scripts and emoji are spelt with.
func visible(r rune) rune {
	switch {
	case r >= ' ' && r <= '~' || r == '\n' || r == '\t':
		return r
	case strings.ContainsRune(joiners, r):
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
