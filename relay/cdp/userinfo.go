package cdp

import (
	"bytes"
	"regexp"
)

// userInfo is user and password of an address, up to the last @ of its host.
var userInfo = regexp.MustCompile(`://[^ \t\n\f\r/?#\\"'<>]*@`)

// hasUser reports whether a JSON string holds an address with user or password.
func hasUser(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '"' {
		return false
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		return userInfo.MatchString(text(raw))
	}
	return bytes.IndexByte(raw, '@') >= 0 && bytes.Contains(raw, []byte("://")) && userInfo.Match(raw)
}

// WithoutUser takes user and password out of the addresses in a text.
func WithoutUser(words string) string { return withoutUser(words) }

func withoutUser(words string) string { return userInfo.ReplaceAllString(words, "://") }
