package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"chaperone/relay/program"
)

const (
	// maxIncoming bounds the messages that wait to be handled. Handling never waits, so a full queue means
	// that something is badly wrong: the connection ends, and with it, by design, its Chrome.
	maxIncoming = 8192
	// maxOutgoing bounds the messages that wait for Chrome to read its pipe. A full queue ends the connection too.
	maxOutgoing = 1024
	// maxPatient bounds the clients' commands among them, apart; who finds it full waits.
	maxPatient = 64
)

var (
	errConnClosed = errors.New("connection to the browser is closed")
	errFlood      = errors.New("browser tells more than can be handled")
	errChromeDeaf = errors.New("browser does not read its commands")
)

// conn is a DevTools connection over a pair of pipes. One goroutine reads and never waits for anybody; one
// hands out what was read, in Chrome's order: an event that came before a reply has been handled before the
// call returns. Its methods are safe for concurrent use.
type conn struct {
	in       io.ReadCloser
	out      io.WriteCloser
	outgoing chan []byte
	patient  chan []byte // what may wait for Chrome to read: clients' commands
	incoming chan message

	mu     sync.Mutex
	lastID int
	calls  map[int]pendingCall
	err    error // why it ended, set before closed is closed
	closed chan struct{}

	running sync.WaitGroup
}

// event is what Chrome tells unasked. TargetSession is empty for the browser itself.
type event struct {
	TargetSession target.SessionID
	Method        string
	Params        json.RawMessage
	missed        int // the bytes of an event that was dropped for being one too many; it has no Params
	read          time.Time
}

type pendingCall struct {
	targetSession target.SessionID
	take          func(reply) // must not wait
}

type reply struct {
	result json.RawMessage
	err    error
}

// command and message are the two shapes on the wire.
type command struct {
	ID            int              `json:"id"`
	TargetSession target.SessionID `json:"sessionId,omitempty"`
	Method        string           `json:"method"`
	Params        any              `json:"params,omitempty"`
}

type message struct {
	ID            int              `json:"id"`
	TargetSession target.SessionID `json:"sessionId"`
	Method        string           `json:"method"`
	Params        json.RawMessage  `json:"params"`
	Result        json.RawMessage  `json:"result"`
	Error         *wireError       `json:"error"`
	missed        int
	read          time.Time
}

// codeServerError is JSON-RPC's general code of a server's own errors; Chrome uses it for nearly all.
const codeServerError = -32000

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func newConn(in io.ReadCloser, out io.WriteCloser) *conn {
	return &conn{
		in: in, out: out,
		outgoing: make(chan []byte, maxOutgoing), patient: make(chan []byte, maxPatient), incoming: make(chan message, maxIncoming),
		calls: map[int]pendingCall{}, closed: make(chan struct{}),
	}
}

// start begins to read, write and hand events to handle, which must not wait. close must be called.
func (c *conn) start(handle func(event)) {
	c.running.Go(c.read)
	c.running.Go(c.write)
	c.running.Go(func() { c.handOut(handle) })
}

// close ends the connection and waits for its goroutines.
func (c *conn) close() {
	c.fail(errConnClosed)
	c.running.Wait()
}

// fail ends the connection once, for the first reason given.
func (c *conn) fail(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = reason
	close(c.closed)
	_, _ = c.in.Close(), c.out.Close()
}

func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// call sends one command and waits for its reply, the context, the end of the target's session or the
// end of the connection, whichever is first. A refusal by Chrome is a *program.CallError.
func (c *conn) call(ctx context.Context, targetSession target.SessionID, method string, params any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	id, err := c.send(targetSession, method, params, answer)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		return r.result, r.err
	case <-c.closed:
		return nil, c.cause()
	case <-ctx.Done():
		c.forget(id)
		return nil, ctx.Err()
	}
}

// ask sends one command and never waits; take gets the reply, or what cut it off, and must not wait either.
func (c *conn) ask(targetSession target.SessionID, method string, params any, take func(reply)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.sendLocked(targetSession, method, params, take)
	return err
}

// send never waits. answer, of capacity one, gets the reply unless it is nil; forget ends that.
func (c *conn) send(targetSession target.SessionID, method string, params any, answer chan reply) (int, error) {
	var take func(reply)
	if answer != nil {
		take = func(r reply) { answer <- r }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sendLocked(targetSession, method, params, take)
}

func (c *conn) sendLocked(targetSession target.SessionID, method string, params any, take func(reply)) (int, error) {
	id, text, err := c.prepare(targetSession, method, params)
	if err != nil {
		return 0, err
	}
	select {
	case c.outgoing <- text:
	default:
		return 0, errChromeDeaf
	}
	if take != nil {
		c.calls[id] = pendingCall{targetSession: targetSession, take: take}
	}
	return id, nil
}

// sendPatiently waits while many such commands have not been written yet, at most until ctx ends. Unless it errs, take
// is called once: with the reply, in Chrome's order among events and other replies, or with what cut it off.
func (c *conn) sendPatiently(ctx context.Context, targetSession target.SessionID, method string, params json.RawMessage, take func(reply)) error {
	id, text, err := c.expect(targetSession, method, params, take)
	if err != nil {
		return err
	}
	select {
	case c.patient <- text:
		return nil
	case <-c.closed:
		return nil // take hears of it as all others do
	case <-ctx.Done():
		if !c.forget(id) {
			return nil // it has been cut off already
		}
		return ctx.Err()
	}
}

func (c *conn) expect(targetSession target.SessionID, method string, params json.RawMessage, take func(reply)) (int, []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var body any
	if len(params) > 0 {
		body = params
	}
	id, text, err := c.prepare(targetSession, method, body)
	if err == nil {
		c.calls[id] = pendingCall{targetSession: targetSession, take: take}
	}
	return id, text, err
}

// prepare numbers and encodes one command; mu must be held.
func (c *conn) prepare(targetSession target.SessionID, method string, params any) (int, []byte, error) {
	if c.err != nil {
		return 0, nil, c.err
	}
	text, err := json.Marshal(command{ID: c.lastID + 1, TargetSession: targetSession, Method: method, Params: params})
	if err != nil {
		return 0, nil, fmt.Errorf("encode %s: %w", method, err)
	}
	c.lastID++
	return c.lastID, append(text, 0), nil
}

// forget gives a call up; false when it has been answered.
func (c *conn) forget(id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.calls[id]
	delete(c.calls, id)
	return ok
}

// endSession fails the calls under way in a target's session, in the words that Chrome has for a target
// that navigates away: for one that is gone it often does not answer at all.
func (c *conn) endSession(targetSession target.SessionID) {
	gone := reply{err: &program.CallError{Code: codeServerError, Message: "Inspected target navigated or closed"}}
	for _, pending := range c.takeOut(func(p pendingCall) bool { return p.targetSession == targetSession }) {
		pending.take(gone)
	}
}

// takeOut removes the calls that fit, in the order in which they were made.
func (c *conn) takeOut(fits func(pendingCall) bool) []pendingCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []int
	for id, pending := range c.calls {
		if fits(pending) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	list := make([]pendingCall, 0, len(ids))
	for _, id := range ids {
		list = append(list, c.calls[id])
		delete(c.calls, id)
	}
	return list
}

func (c *conn) write() {
	for {
		text := c.toWrite()
		if text == nil {
			return
		}
		if _, err := c.out.Write(text); err != nil {
			c.fail(fmt.Errorf("write to Chrome: %w", err))
			return
		}
	}
}

// toWrite is the next command; the server's own go first. Nil is the end.
func (c *conn) toWrite() []byte {
	select {
	case text := <-c.outgoing:
		return text
	default:
	}
	select {
	case text := <-c.outgoing:
		return text
	case text := <-c.patient:
		return text
	case <-c.closed:
		return nil
	}
}

func (c *conn) read() {
	defer close(c.incoming)
	frames, thinner := newFrameReader(c.in, maxMessage), thinner{}
	for {
		text, err := frames.next()
		now := time.Now()
		m, isThin := thinner.thin(text, now)
		switch {
		case isThin && err == nil:
		case errors.Is(err, errTooLong):
			m.ID, m.Error = idOf(text), &wireError{Code: codeServerError, Message: "the answer is too large"}
		case err != nil:
			c.fail(fmt.Errorf("read from Chrome: %w", err))
			return
		default:
			err = json.Unmarshal(text, &m)
		}
		if err != nil && !errors.Is(err, errTooLong) {
			c.fail(fmt.Errorf("decode message from Chrome: %w", err))
			return
		}
		m.read = now
		select {
		case c.incoming <- m:
		default:
			c.fail(errFlood)
			return
		}
	}
}

func (c *conn) handOut(handle func(event)) {
	for m := range c.incoming {
		switch {
		case m.Method != "":
			handle(event{TargetSession: m.TargetSession, Method: m.Method, Params: m.Params, missed: m.missed, read: m.read})
		case m.Error != nil:
			c.settle(m.ID, reply{err: &program.CallError{Code: m.Error.Code, Message: m.Error.Message}})
		default:
			c.settle(m.ID, reply{result: m.Result})
		}
	}
	for _, pending := range c.takeOut(func(pendingCall) bool { return true }) {
		pending.take(reply{err: c.cause()}) // reading ends only after the connection has
	}
}

// settle answers a call, unless nobody waits any more.
func (c *conn) settle(id int, r reply) {
	c.mu.Lock()
	pending, ok := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if ok {
		pending.take(r)
	}
}
