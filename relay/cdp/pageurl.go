package cdp

import (
	"strings"
	"unicode"
)

// IsPageURL reports whether a browser would open text as an http or https page, or as exactly about:blank.
// What the URL standard strips or folds before it looks at the scheme (leading space, tabs, line ends,
// backslashes, missing slashes) is refused rather than followed, and so is user info.
func IsPageURL(text string) bool {
	if text == "about:blank" {
		return true
	}
	if text != strings.TrimSpace(text) || strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, `\`) {
		return false
	}
	scheme, rest, found := strings.Cut(text, "://")
	if scheme = strings.ToLower(scheme); !found || scheme != "http" && scheme != "https" {
		return false
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	return authority != "" && !strings.Contains(authority, "@")
}
