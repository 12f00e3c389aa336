package chrome

import (
	"bytes"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

// mostDroppable is how many events a second a target session tells that clients can do without; that second's others
// are dropped before they are decoded: reading falls behind nobody's flood.
const mostDroppable = 1000

// thinner finds the events that are too many. Its zero value is ready; it is the reading goroutine's.
type thinner struct {
	second int64
	told   map[target.SessionID]int
}

// thin answers, for an event that is dropped, what is left of it.
func (t *thinner) thin(text []byte, now time.Time) (message, bool) {
	method, targetSession := droppableIn(text)
	if method == "" || targetSession == "" {
		return message{}, false
	}
	if second := now.Unix(); second != t.second || t.told == nil {
		t.second, t.told = second, map[target.SessionID]int{}
	}
	t.told[targetSession]++
	if t.told[targetSession] <= mostDroppable {
		return message{}, false
	}
	return message{Method: method, TargetSession: targetSession, missed: len(text)}, true
}

// droppableIn reads no more of a message than its two ends, in the form that Chrome gives them. Inside a text that a
// page said every quote has a backslash before it, so it looks like neither.
func droppableIn(text []byte) (method string, targetSession target.SessionID) {
	rest, isEvent := bytes.CutPrefix(text, []byte(`{"method":"`))
	name, _, isNamed := bytes.Cut(rest[:min(len(rest), 64)], []byte(`"`))
	rest, isWhole := bytes.CutSuffix(rest, []byte(`"}`))
	if !isEvent || !isNamed || !isWhole || !isDroppable(string(name)) {
		return "", ""
	}
	at := bytes.LastIndexByte(rest, '"') + 1
	if !bytes.HasSuffix(rest[:at], []byte(`},"sessionId":"`)) {
		return "", ""
	}
	return string(name), target.SessionID(rest[at:])
}

// isDroppable says that no client's picture of the page depends on the event.
func isDroppable(method string) bool {
	switch method {
	case log.EntryAdded.Method, performance.Metrics.Method, runtime.ConsoleAPICalled.Method,
		network.DataReceived.Method, network.EventSourceMessageReceived.Method, network.ResourceChangedPriority.Method,
		network.WebSocketFrameReceived.Method, network.WebSocketFrameSent.Method:
		return true
	}
	return false
}
