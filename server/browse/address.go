package browse

import (
	"errors"
	"slices"
	"strings"

	"chaperone/egress"
	"chaperone/server/fault"
)

// blankPage is the page that is nobody's.
const blankPage = "about:blank"

// CheckURL reads an address as a browser would and answers its normal form. What a browser would read in
// another way than it is written (control characters, backslashes, credentials, missing slashes) is
// url_refused, and so is everything but http, https and about:blank.
func CheckURL(raw string) (string, error) {
	switch {
	case strings.EqualFold(raw, blankPage):
		return blankPage, nil
	case strings.TrimSpace(raw) == "":
		return "", fault.New(fault.URLRefused, "The address was refused: it is empty", "Use an http or https address, written out in full.")
	}
	u, err := egress.ReadURL(raw)
	if err != nil && hasNoScheme(raw) {
		return "", fault.New(fault.URLRefused, "The address was refused: it does not begin with https:// or http://", "Write it out in full: https://"+short(raw, longestURL))
	}
	if err != nil {
		return "", fault.New(fault.URLRefused, "The address was refused: "+unread(err), "Use an http or https address, written out in full.")
	}
	return u.String(), nil
}

// hasNoScheme reports that an address is one but for the scheme that is left away.
func hasNoScheme(raw string) bool {
	_, err := egress.ReadURL("https://" + raw)
	return err == nil && !strings.Contains(raw, "://")
}

// unread says in words why an address does not read.
func unread(err error) string {
	refusal, ok := errors.AsType[*egress.Refusal](err)
	if !ok {
		return "it is not an address"
	}
	words := map[egress.Reason]string{
		egress.Scheme:   "only http, https and about:blank are opened",
		egress.UserInfo: "it holds credentials, or an @ that looks like them",
		egress.BadHost:  "its host is neither a name nor an address",
		egress.Zone:     "its host has a zone",
		egress.BadPort:  "its port is not one",
	}[refusal.Reason]
	if words == "" {
		return "it holds a character or a spelling that browsers read in another way"
	}
	return words
}

// checkOpen is what open may go to: CheckURL, the project's domains, private addresses, and the session's own check.
func (o Options) checkOpen(raw string) (string, error) {
	normal, err := CheckURL(raw)
	if err != nil {
		return "", err
	}
	if !o.allows(normal) {
		return "", fault.New(fault.DomainRefused, "The project does not allow this domain", "Allowed: "+strings.Join(o.AllowDomains, ", "))
	}
	if o.CheckURL == nil {
		return normal, nil
	}
	if err := o.CheckURL(normal); err != nil {
		if fault.Of(err).Code != fault.Internal {
			return "", err
		}
		return "", fault.New(fault.URLRefused, "The address was refused: "+err.Error(), "Open another address.")
	}
	return normal, nil
}

// allows reports whether the main frame may stand at the address.
func (o Options) allows(raw string) bool { return Within(o.AllowDomains, raw) }

// Within reports whether a page at the address is one of the allowed domains; no domains allow all, and a blank page
// is everybody's.
func Within(domains []string, raw string) bool {
	if len(domains) == 0 || raw == "" || raw == blankPage {
		return true
	}
	u, err := egress.ReadURL(origin(raw))
	return err == nil && slices.ContainsFunc(domains, func(pattern string) bool { return Covers(pattern, u.Hostname()) })
}

// origin is the part of an address that says whose it is: what comes after may be cut.
func origin(raw string) string {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		return raw
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest
}

// Covers reports whether an allowed domain covers a host: "example.com" is that host alone, "*.example.com" also
// every host beneath it.
func Covers(pattern, host string) bool {
	pattern = strings.ToLower(strings.TrimSpace(pattern))
	if bare, wild := strings.CutPrefix(pattern, "*."); wild {
		return host == bare || strings.HasSuffix(host, "."+bare)
	}
	return host == pattern
}
