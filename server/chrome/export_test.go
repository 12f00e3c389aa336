package chrome

import (
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"chaperone/relay/endpoint"
)

// CommandLine is the exact list that Chrome is started with.
var CommandLine = commandLine

// WithoutNamespaces makes a pool do as on a machine whose kernel refuses them.
func (p *Pool) WithoutNamespaces() { p.words = nil }

// WithoutBrowser makes a pool do as on a machine that has none.
func (p *Pool) WithoutBrowser() { p.binary = Binary{} }

// NewFrameReader and its Next are the splitter of Chrome's messages.
var NewFrameReader = newFrameReader

// Next returns one message.
func (f *frameReader) Next() ([]byte, error) { return f.next() }

// ErrTooLong marks the head of a message that was longer than allowed.
var ErrTooLong = errTooLong

// DecodeOrder parses one line from the server.
var DecodeOrder = decodeOrder

// CrashTab makes a tab's renderer crash.
func (b *Browser) CrashTab(name string) {
	post(b.proc.conn, b.named(name).targetSession, page.Crash, cdp.Empty{})
}

// BreakConnection ends the connection on which the guard answers.
func (b *Browser) BreakConnection() { b.proc.conn.fail(errConnClosed) }

// WithPatience makes a pool give up a Chrome that does not answer sooner.
func (p *Pool) WithPatience(d time.Duration) { p.patience = d }

// Meter counts what a tab tells.
type Meter struct{ meter meter }

// IsFlood counts one event.
func (m *Meter) IsFlood(method string, bytes int, now time.Time) bool {
	return m.meter.isFlood(event{Method: method, Params: make([]byte, bytes), read: now})
}

// Thinner finds the events that are too many.
type Thinner struct{ thinner thinner }

// Thin reports whether a message is dropped.
func (t *Thinner) Thin(text []byte, now time.Time) bool {
	_, ok := t.thinner.thin(text, now)
	return ok
}

// Rests are how long a tab rests.
type Rests struct{ rests rests }

// Begin begins a rest and answers its length.
func (r *Rests) Begin(now time.Time) time.Duration {
	r.End()
	r.rests.begin(now, func() {})
	return r.rests.length
}

// End ends it.
func (r *Rests) End() { r.rests.end() }

// Wake lets a held tab do what it does when its rest is over.
func Wake(w endpoint.Wire) {
	if h, ok := w.(*hold); ok {
		h.wake()
	}
}

// Rest lets a held tab do what it does when it tells too much.
func Rest(w endpoint.Wire) {
	if h, ok := w.(*hold); ok {
		h.rest(time.Now())
	}
}
