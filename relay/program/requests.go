package program

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Answer is what became of the latest request for the main frame's document. What is in it comes from the server that
// was asked, and is data.
type Answer struct {
	URL string `json:"url"`
	// From is the address that was asked for first, where the server sent on from there.
	From   string `json:"from,omitempty"`
	Status int    `json:"status,omitempty"`
	Type   string `json:"type,omitempty"` // of media, as the server named it
	// Error is Chrome's own name for what went wrong.
	Error string `json:"error,omitempty"`
	// Challenge is how the server asked for a user and a password.
	Challenge string `json:"challenge,omitempty"`
	// Refused is the egress proxy's reason, where it refused the tunnel; whoever runs both knows it, not the edge.
	Refused string `json:"refused,omitempty"`
}

// maxChallenge bounds what is kept of a server's challenge.
const maxChallenge = 300

// maxRequests bounds how many requests are waited for; a page that sends more is not.
const maxRequests = 200

// mostAsked is how often an address is waited for: who asks there again is asking over and over.
const mostAsked = 3

// requests are those of the page itself since the program began to hear of them.
type requests struct {
	counts   bool              // what is sent now is the program's doing
	open     map[string]string // by id: the address without its query
	over     map[string]int    // how often addresses were waited for
	frames   map[string]string // by frame: the id of the request for its document, which may end where nobody listens
	document string            // id of the latest request for the main frame's document
	answer   *Answer
}

func newRequests(counts bool) requests {
	return requests{counts: counts, open: map[string]string{}, over: map[string]int{}, frames: map[string]string{}}
}

// requestEvent are the fields of the Network events that are read.
type requestEvent struct {
	RequestID string `json:"requestId"`
	FrameID   string `json:"frameId"`
	Type      string `json:"type"`
	Request   struct {
		URL string `json:"url"`
	} `json:"request"`
	RedirectResponse json.RawMessage `json:"redirectResponse"`
	Response         struct {
		Status   int               `json:"status"`
		MimeType string            `json:"mimeType"`
		Headers  map[string]string `json:"headers"`
	} `json:"response"`
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	ErrorText  string            `json:"errorText"`
}

// applyRequest takes note of one Network event of the page's own target session; the view's lock is held.
func (v *view) applyRequest(method string, p requestEvent) {
	r := &v.requests
	if method == "Network.requestWillBeSent" {
		v.sent(p)
		return
	}
	if p.RequestID == r.document && r.answer != nil {
		r.answer.hear(method, p)
	}
	switch method {
	case "Network.responseReceived":
		if p.Response.MimeType == "text/event-stream" {
			delete(r.open, p.RequestID) // it ends when the page does
		}
	case "Network.loadingFinished", "Network.loadingFailed":
		r.finish(p.RequestID)
	}
}

// hear takes note of an event of the document's own request.
func (a *Answer) hear(method string, p requestEvent) {
	switch method {
	case "Network.responseReceived":
		a.Status, a.Type = p.Response.Status, p.Response.MimeType
		a.challenge(p.Response.Headers)
	case "Network.responseReceivedExtraInfo":
		if p.StatusCode == http.StatusUnauthorized || p.StatusCode == http.StatusProxyAuthRequired {
			a.challenge(p.Headers)
		}
	case "Network.loadingFailed":
		a.Error = p.ErrorText // afterwards the browser's own page about that finishes
	}
}

func (v *view) sent(p requestEvent) {
	r := &v.requests
	if p.Type == "Document" && p.FrameID == v.main {
		v.asked(p)
		return
	}
	address, _, _ := strings.Cut(p.Request.URL, "?")
	if r.counts && changesPage(p.Type) && r.over[address] < mostAsked && len(r.open) < maxRequests {
		r.open[p.RequestID] = address
		if p.Type == "Document" {
			r.frames[p.FrameID] = p.RequestID
		}
	}
}

// asked begins the answer of another document, or goes on with one that was sent elsewhere.
func (v *view) asked(p requestEvent) {
	r := &v.requests
	from := ""
	if p.RequestID == r.document && len(p.RedirectResponse) > 0 && r.answer != nil {
		if from = r.answer.From; from == "" {
			from = r.answer.URL
		}
	}
	r.document, r.answer = p.RequestID, &Answer{URL: p.Request.URL, From: from}
}

// finish ends a request. What the page sends on its answer is still the program's doing.
func (r *requests) finish(id string) {
	address, isOpen := r.open[id]
	if !isOpen {
		return
	}
	delete(r.open, id)
	r.over[address]++
	r.counts = true
}

// arrive ends the request for a frame's document: it is there, or in a process of its own.
func (r *requests) arrive(frame string) {
	if id, asked := r.frames[frame]; asked {
		delete(r.frames, frame)
		r.finish(id)
	}
}

// leave forgets the requests of a document that is gone.
func (r *requests) leave() {
	clear(r.open)
	clear(r.over)
	clear(r.frames)
	r.counts = true
}

func (a *Answer) challenge(headers map[string]string) {
	for name, value := range headers {
		if strings.EqualFold(name, "www-authenticate") || strings.EqualFold(name, "proxy-authenticate") {
			a.Challenge = Clip(value, maxChallenge)
		}
	}
}

// changesPage reports whether the answer of a request of this type changes what a page says or can do.
func changesPage(kind string) bool {
	switch kind {
	case "Document", "XHR", "Fetch", "Script", "Stylesheet":
		return true
	default:
		return false
	}
}

// isRequest reports whether an event tells of a request.
func isRequest(method string) bool {
	switch method {
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.responseReceivedExtraInfo",
		"Network.loadingFinished", "Network.loadingFailed":
		return true
	default:
		return false
	}
}

// answer is what became of the main frame's document, nil while nobody has asked for one.
func (v *view) answer() (answer *Answer) {
	v.read(func() {
		if v.requests.answer != nil {
			told := *v.requests.answer
			answer = &told
		}
	})
	return answer
}

// underWay is how many requests of the program have no answer yet.
func (v *view) underWay() (count int) {
	v.read(func() { count = len(v.requests.open) })
	return count
}
