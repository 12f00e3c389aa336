package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay/program"
)

// link is one paired socket. Three goroutines serve it: one reads and never calls out, one writes, and
// one watches its age, its silence and the Authority, and closes it.
type link struct {
	hub     *Hub
	conn    *websocket.Conn
	place   place
	browser BrowserInfo
	since   time.Time
	paired  paired
	pairing Pairing
	level   program.Level // the ceiling now; Hub.slotsMu guards it

	outbox *outbox
	calls  *calls
	holds  *holds
	hasCDP bool          // both sides have the raw road
	heard  atomic.Int64  // when something came in last, in nanoseconds after since
	over   chan struct{} // closed when the link has ended

	endMu sync.Mutex
	end   ending // the first is the reason
}

// ending is why a link ends and the close code that says so.
type ending struct {
	reason Reason
	code   websocket.StatusCode
}

func (e ending) Error() string { return "relay: link ended: " + string(e.reason) }

func newLink(h *Hub, conn *websocket.Conn, o opened) *link {
	p, features := o.pairing, o.hello.negotiated()
	return &link{
		hub: h, conn: conn, place: place{p.Account, p.Project}, since: time.Now(), pairing: p, level: p.Level,
		browser: BrowserInfo{
			Name: o.hello.Browser.Name, Version: o.hello.Browser.Version,
			Extension: o.hello.Extension, Install: o.hello.Install,
		},
		paired: paired{
			T: kindPaired, Project: named{p.Project, p.ProjectName}, Account: p.AccountName, Level: p.Level,
			HeartbeatS: int(heartbeat.Seconds()), ExpiresS: int(maxAge.Seconds()), Server: h.options.ServerName,
			Features: features,
		},
		hasCDP: slices.Contains(features, featureCDP),
		outbox: newOutbox(), calls: newCalls(), holds: &holds{}, over: make(chan struct{}),
	}
}

// serve runs the link until it has ended and all its goroutines with it.
func (l *link) serve(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { l.write(ctx) })
	group.Go(func() { l.watch(ctx) })
	l.shut(l.read(ctx))
	group.Wait()
}

// shut ends the link; only the first reason counts. It does not wait.
func (l *link) shut(e ending) {
	l.endMu.Lock()
	defer l.endMu.Unlock()
	if l.dead() {
		return
	}
	l.end = e
	close(l.over)
}

func (l *link) dead() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// ended is the reason, once over is closed.
func (l *link) ended() ending {
	l.endMu.Lock()
	defer l.endMu.Unlock()
	return l.end
}

func (l *link) write(ctx context.Context) {
	if err := l.outbox.drain(ctx, l.conn, l.over); err != nil {
		l.shut(ending{reason: ReasonLost, code: websocket.StatusGoingAway})
	}
}

// tell sends what cannot be left out: a link that cannot take it ends.
func (l *link) tell(head any) {
	frame, err := buildFrame(head, nil)
	if err == nil {
		err = l.outbox.put(frame)
	}
	if err != nil {
		l.shut(ending{reason: ReasonTrouble, code: websocket.StatusGoingAway})
	}
}

// read takes frames in until one ends the link. Its context has no deadline: an expired one would close
// the socket without a code.
func (l *link) read(ctx context.Context) ending {
	for {
		message, err := l.receive(ctx)
		if err != nil {
			return endingOf(err)
		}
		if err := l.take(message); err != nil {
			return endingOf(err)
		}
	}
}

// receive reads one message. Each part of it counts as a sign of life, so that a large answer on a slow
// line is not taken for silence.
func (l *link) receive(ctx context.Context) ([]byte, error) {
	kind, r, err := l.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	message, err := l.hub.readAll(attentive{r, l.hear})
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errProtocol()
	}
	return message, nil
}

// readAll reads into memory that links share, and answers a copy of exactly the message's size: however large a message
// is, it costs one allocation, and a link that waits for one holds no memory for it.
func (h *Hub) readAll(r io.Reader) ([]byte, error) {
	scratch, ok := h.scratch.Get().(*bytes.Buffer)
	if !ok {
		scratch = new(bytes.Buffer)
	}
	defer h.scratch.Put(scratch)
	scratch.Reset()
	if _, err := scratch.ReadFrom(r); err != nil {
		return nil, err
	}
	return bytes.Clone(scratch.Bytes()), nil
}

type attentive struct {
	io.Reader
	heard func()
}

func (a attentive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.heard()
	return n, err
}

func (l *link) hear() { l.heard.Store(int64(time.Since(l.since))) }

func (l *link) silentFor() time.Duration { return time.Since(l.since) - time.Duration(l.heard.Load()) }

// take acts on one frame. It takes locks and fills bounded queues, and never waits for anybody.
func (l *link) take(message []byte) error {
	head, body, err := scanFrame(message)
	if err != nil {
		l.hub.log.Debug("frame not readable", slog.Any("error", err))
		if errors.Is(err, errOversized) {
			return errTooBig()
		}
		return errProtocol()
	}
	switch head.T {
	case kindPing:
		l.tell(outward{T: kindPong})
	case kindTabs:
		l.hub.retab(l, head.Tabs)
	case kindResult, kindError, kindPicture, kindDone, kindReply, kindMade:
		return l.answer(answer{head, body})
	case kindHeld:
		if head.ID != 0 {
			return l.answer(answer{head, body})
		}
		return l.tellOf(head, body)
	case kindEvent, kindAsleep:
		return l.tellOf(head, body)
	case kindDisconnect:
		return ending{reason: ReasonForgotten, code: closeRenewed}
	default:
		return errProtocol()
	}
	return nil
}

// answer hands an answer to whoever waits for it; what nobody waits for is dropped.
func (l *link) answer(a answer) error {
	c := l.calls.find(a)
	switch {
	case c == nil:
	case c.hold == nil:
		l.calls.deliver(c, a)
	case c.reply == nil:
		return l.answerHold(c, a)
	default:
		c.hold.replied(l, c, a)
	}
	return nil
}

func errTooBig() ending {
	return ending{reason: ReasonTooLarge, code: websocket.StatusMessageTooBig}
}

func errProtocol() ending { return ending{reason: ReasonProtocol, code: closeProtocol} }

// endingOf names why reading ended.
func endingOf(err error) ending {
	var e ending
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, websocket.ErrMessageTooBig):
		return errTooBig()
	default:
		return ending{reason: ReasonLost, code: websocket.StatusGoingAway}
	}
}
