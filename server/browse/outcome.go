package browse

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"chaperone/egress"
	"chaperone/relay/program"
	"chaperone/server/fault"
)

// What came of asking for a document: a page of whatever status, or why there is none. What a server said of itself is
// told in Detail alone, but for a status and for the short name of what it asks a login for.

// stand tells where the tab is now and how it came there.
func (r *reading) stand() {
	r.result.URL, r.result.Title, r.result.Status = short(r.state.URL, longestURL), short(r.state.Title, longestTitle), r.state.Status
	answer := r.settled.Answer
	switch {
	case r.job.plan.navigate == absent:
		if r.job.moved && r.job.action.Action != "back" && r.job.action.Action != "forward" {
			r.notice("The page moved to another address by itself since the last answer: see url.")
		}
		r.wentWhere(answer)
	case r.reply.LoaderID == "":
		r.notice("Only the part after # changed: it is the same document, and nothing was loaded.")
		return
	case answer != nil && answer.From != "":
		r.notice("Redirected from " + short(r.job.opens, longestLink) + ": see url.")
	case !isSamePlace(r.job.opens, r.state.URL):
		r.notice("The page at " + short(r.job.opens, longestLink) + " led on to another address: see url.")
	}
	r.came(answer)
	r.unfinished()
}

// wentWhere tells what became of a document that the action itself asked for, where the tab stays without it.
func (r *reading) wentWhere(answer *program.Answer) {
	if answer == nil || r.settled.Navigated || r.settled.Loading {
		return
	}
	switch {
	case answer.Challenge != "" && answer.Status == 0:
		r.notice("What was asked for needs a login, which the browser asks the person for" + realm(answer) + ": the page stays.")
	case isWithoutContent(answer.Status):
		r.notice(fmt.Sprintf("The server answered with status %d, that it has nothing to show: the page stays.", answer.Status))
	case answer.Error != "" && answer.Status == http.StatusOK && !isPage(answer.Type):
		r.notice("The address is a file and no page: the page stays.")
	}
}

// came tells of a document that is not what a page should be.
func (r *reading) came(answer *program.Answer) {
	if r.state.Status >= 400 && (r.settled.Navigated || r.job.plan.navigate != absent) {
		r.notice(fmt.Sprintf("The server answered with status %d.", r.state.Status))
	}
	if r.state.Type == typePDF {
		r.notice("This is a PDF: its text cannot be read here; take a screenshot, or ask the person.")
	}
	if answer == nil || !r.settled.Navigated {
		return
	}
	if r.state.Status == http.StatusUnauthorized && answer.Challenge != "" {
		r.notice("The site asks for a login, by the browser's own prompt" + realm(answer) + ". Nobody has given one: this is the page it shows instead.")
	}
}

// unfinished tells what the answer did not wait for.
func (r *reading) unfinished() {
	switch {
	case r.settled.Loading:
		r.notice("The page is still loading: this is what there is of it. Wait, or look again.")
	case r.settled.UnderWay > 0:
		r.notice("The page still waits for its server: this may not be all. Wait, or look again.")
	}
}

const typePDF = "application/pdf"

func isPage(kind string) bool {
	return kind == "" || strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "application/xhtml")
}

func isWithoutContent(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent
}

// realm is the name of what a login is asked for, where it is a plain one.
func realm(answer *program.Answer) string {
	found := regexp.MustCompile(`(?i)\brealm="?([A-Za-z0-9._-]{1,30})"?(?:,|$)`).FindStringSubmatch(answer.Challenge)
	if found == nil {
		return ""
	}
	return ` (realm "` + found[1] + `")`
}

// unreached is what the egress proxy said instead of a page: no by its rules, or that nobody answered it.
func (r *reading) unreached() error { return notReached(r.state.Refused, "") }

// notReached is a refusal of the egress proxy in words.
func notReached(reason, named string) *fault.Fault {
	if r := egress.Reason(reason); r.IsOfOutside() || r == egress.Busy {
		return fault.New(fault.NavigationFailed, "The page did not load: "+r.Words()+parenthesis(reason, named), hint(fault.NavigationFailed))
	}
	return fault.New(fault.AddressRefused, "The address may not be reached from here"+because(reason)+parenthesis(short(reason, longestName), named), hint(fault.AddressRefused))
}

// because says a rule of the egress proxy in words; there is nothing to say of none.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + egress.Reason(reason).Words()
}

func parenthesis(names ...string) string {
	all := strings.Join(strings.Fields(strings.Join(names, " ")), ", ")
	if all == "" {
		return ""
	}
	return " (" + all + ")"
}

// aborted is Chrome's name for a navigation that leaves the tab where it is.
const aborted = "net::ERR_ABORTED"

// noBody is Chrome's name for a status of an error without a page to show.
const noBody = "net::ERR_HTTP_RESPONSE_CODE_FAILURE"

func isAborted(text string) bool { return strings.HasPrefix(text, aborted) }

// answerOf is what the edge told of a navigation that brought no page.
func answerOf(detail json.RawMessage) program.Answer {
	var answer program.Answer
	if json.Unmarshal(detail, &answer) != nil {
		return program.Answer{}
	}
	return answer
}

// notLoaded is what Chrome says of a navigation that brought no page; the text begins with its own net:: name.
func notLoaded(text string, answer program.Answer) *fault.Fault {
	name, _, _ := strings.Cut(text, ":"+" ")
	told := whyNotLoaded(name, text, answer)
	if answer.From != "" && answer.URL != "" {
		told = told.WithDetail("it was sent on to " + short(answer.URL, longestLink))
	}
	return told
}

func whyNotLoaded(name, text string, answer program.Answer) *fault.Fault {
	failed := func(what, then string) *fault.Fault { return fault.New(fault.NavigationFailed, what, then) }
	switch {
	case answer.Refused != "":
		return notReached(answer.Refused, name)
	case answer.Challenge != "" && (name == "net::ERR_INVALID_AUTH_CREDENTIALS" || !strings.HasPrefix(name, "net::")):
		return failed("The site asks for a login"+realm(&answer)+", by the browser's own prompt, and shows nothing before", "Ask the person to log in there, or open another address.")
	case name == aborted:
		return failed(stays(answer)+"; the tab stays where it was", "Open another address.")
	case name == "net::ERR_BLOCKED_BY_CLIENT":
		return fault.New(fault.AddressRefused, "The address may not be reached from here ("+name+")", hint(fault.AddressRefused))
	}
	if why, isKnown := namely()[name]; isKnown {
		return failed("The page did not load: "+why+" ("+name+")", hint(fault.NavigationFailed))
	}
	if strings.HasPrefix(name, "net::ERR_CERT_") {
		return failed("The page did not load: the certificate of the server is not valid ("+name+")", hint(fault.NavigationFailed))
	}
	return failed("The page did not load: "+text, hint(fault.NavigationFailed))
}

// stays is why a navigation left the tab where it is.
func stays(answer program.Answer) string {
	switch {
	case isWithoutContent(answer.Status):
		return fmt.Sprintf("The server answered that it has no content to show (status %d)", answer.Status)
	case answer.Type == typePDF:
		return "The address is a PDF, which this browser does not show"
	case answer.Status != 0 && !isPage(answer.Type):
		return "The address is a download and no page"
	case answer.Status != 0:
		return fmt.Sprintf("The server had no page to show, or it is a download (status %d)", answer.Status)
	}
	return "The server had no page to show, or it is a download (" + aborted + ")"
}

// namely says in words what Chrome's names mean.
func namely() map[string]string {
	const gone = "the server closed the connection"
	return map[string]string{
		"net::ERR_NAME_NOT_RESOLVED":              "the name does not resolve",
		"net::ERR_NAME_RESOLUTION_FAILED":         "the name does not resolve",
		"net::ERR_CONNECTION_REFUSED":             "the connection was refused",
		"net::ERR_CONNECTION_RESET":               gone,
		"net::ERR_CONNECTION_CLOSED":              gone,
		"net::ERR_CONNECTION_ABORTED":             gone,
		"net::ERR_EMPTY_RESPONSE":                 gone + " without an answer",
		"net::ERR_CONNECTION_TIMED_OUT":           "nobody answers at that address",
		"net::ERR_TIMED_OUT":                      "nobody answers at that address",
		"net::ERR_ADDRESS_UNREACHABLE":            "nobody answers at that address",
		"net::ERR_INTERNET_DISCONNECTED":          "the browser has no network",
		"net::ERR_NETWORK_CHANGED":                "the network changed meanwhile",
		"net::ERR_TOO_MANY_REDIRECTS":             "it redirects too many times, in a loop",
		"net::ERR_SSL_PROTOCOL_ERROR":             "the server does not speak https there, or not rightly: a certificate or protocol error",
		"net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH": "the server speaks no https that the browser does: a protocol error",
		"net::ERR_BAD_SSL_CLIENT_AUTH_CERT":       "the server wants a certificate of the browser",
		"net::ERR_UNSAFE_PORT":                    "browsers refuse to connect to that port",
		"net::ERR_INVALID_URL":                    "the address does not read",
		"net::ERR_UNKNOWN_URL_SCHEME":             "the browser opens no addresses of that scheme",
		"net::ERR_DISALLOWED_URL_SCHEME":          "the browser opens no addresses of that scheme",
		"net::ERR_INVALID_RESPONSE":               "the server's answer does not read",
		"net::ERR_INVALID_HTTP_RESPONSE":          "the server's answer does not read",
		"net::ERR_INVALID_REDIRECT":               "the server redirects to what is no address",
		"net::ERR_UNSAFE_REDIRECT":                "the server redirects to where a page may not go",
		"net::ERR_BLOCKED_BY_RESPONSE":            "the server forbids to show it there",
		"net::ERR_INVALID_AUTH_CREDENTIALS":       "the login was not accepted",
		"net::ERR_TUNNEL_CONNECTION_FAILED":       "the address does not answer, or may not be reached from here",
		"net::ERR_PROXY_CONNECTION_FAILED":        "the way out does not answer",
	}
}

// bare is the answer to an open whose server had a status and nothing else to tell.
func (e *Engine) bare(j job, ran program.Result, answer program.Answer) Result {
	e.keepFailed(j, ran.Tab, noBody)
	tab := ran.Tab
	if j.tab != program.NewTab {
		tab = j.tab
	}
	return Result{
		Tab: tab, URL: short(answer.URL, longestURL), Status: answer.Status, Snapshot: &Snapshot{Mode: "full"},
		Dialogs: []program.Dialog{}, Notices: []string{fmt.Sprintf("The server answered with status %d and an empty page.", answer.Status)},
	}
}
