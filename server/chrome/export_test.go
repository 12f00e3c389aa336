package chrome

import (
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
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
