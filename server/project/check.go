package project

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"chaperone/server/fault"
	"chaperone/server/store"
)

const (
	mostNameRunes = 64
	mostDomains   = 100
)

// checked fills in the defaults of p and answers bad_request for what may not be kept.
func checked(p Project) (Project, error) {
	if p.Policy == "" {
		p.Policy = ReadOnly
	}
	if p.Backend == "" {
		p.Backend = Managed
	}
	switch {
	case !isName(p.Name):
		return p, fault.New(fault.BadRequest, "a project's name is 1 to 64 letters, digits, spaces, dots, dashes or underscores",
			"It starts with a letter or digit and must not look like an id.")
	case p.Policy != ReadOnly && p.Policy != Interactive:
		return p, fault.New(fault.BadRequest, "a policy is read_only or interactive", "")
	case !slices.Contains([]Backend{Managed, Shared, Attached}, p.Backend):
		return p, fault.New(fault.BadRequest, "a backend is managed, shared or attached", "")
	case len(p.AllowDomains) > mostDomains:
		return p, fault.New(fault.TooLarge, "a project has at most 100 allowed domains", "Use *.example.com for many.")
	}
	domains := make([]string, 0, len(p.AllowDomains))
	for _, entry := range p.AllowDomains {
		domain, ok := normalDomain(entry)
		if !ok {
			return p, fault.New(fault.BadRequest, "an allowed domain is a host, such as example.com or *.example.com",
				"Leave out scheme, port and path.")
		}
		domains = append(domains, domain)
	}
	slices.Sort(domains)
	p.AllowDomains = slices.Compact(domains)
	return p, nil
}

// isName reports whether a name can be shown anywhere without deceiving: normalised, and nothing in it
// that is invisible or that reverses the text.
func isName(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return utf8.ValidString(name) && norm.NFC.IsNormalString(name) &&
		isAlphanumeric(first) && !strings.ContainsFunc(name, isUnfit) && !strings.HasSuffix(name, " ") &&
		utf8.RuneCountInString(name) <= mostNameRunes && !store.IsID("p", name)
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isUnfit(r rune) bool {
	return !isAlphanumeric(r) && !unicode.IsMark(r) && !strings.ContainsRune(" ._-", r)
}

// hostShape is labels of letters, digits and dashes, with single dots between them (RFC 1123).
func hostShape() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
}

// normalDomain writes a host as a browser does: lower case, ASCII, without a dot at the end.
func normalDomain(entry string) (string, bool) {
	host, wild := strings.CutPrefix(strings.TrimSuffix(entry, "."), "*.")
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil || !hostShape().MatchString(ascii) {
		return "", false
	}
	if wild {
		return "*." + ascii, true
	}
	return ascii, true
}
