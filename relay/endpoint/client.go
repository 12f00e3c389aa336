package endpoint

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxMessage bounds what a client may send at once, in bytes.
	maxMessage = 2 << 20
	// closeWait is how long a client that is cut off has to take what it is being told.
	closeWait = 5 * time.Second
	// refusedPause is how long a client waits that sent more than maxOwnParams for nothing: reading that is work.
	refusedPause = 100 * time.Millisecond
)

// client is one CDP client's socket. One goroutine reads it, one writes it.
type client struct {
	router *router
	number int
	conn   *websocket.Conn
	queue  *queue
	down   *budget       // commands for tabs
	own    *budget       // what the endpoint answers itself
	over   chan struct{} // closed when it is to end

	endMu sync.Mutex
	end   ending // the first is the reason

	// The rest is guarded by router.mu.
	gone        bool
	sessions    map[string]*attachment
	streams     map[string]*stream  // printed pages that it reads
	browsers    map[string]struct{} // sessions of it that are the browser's own
	page        *attachment         // whose messages come without a session; nil for a browser's socket
	discoveries []*discovery
	auto        *autoAttach
}

type ending struct {
	code websocket.StatusCode
	why  string
}

// accept makes a socket of the request and serves it until it has ended. target is the page that messages without a
// session go to, empty for a browser's socket.
func (r *router) accept(w http.ResponseWriter, request *http.Request, target string) {
	if !r.enter() {
		http.Error(w, "too many clients", http.StatusServiceUnavailable)
		return
	}
	defer r.left()
	// Origin and Host were looked at before: the library's check would let some through.
	conn, err := websocket.Accept(w, request, &websocket.AcceptOptions{
		InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return
	}
	conn.SetReadLimit(-1) // receive has a bound of its own, and words for it
	c := &client{
		router: r, conn: conn, queue: newQueue(), down: newBudget(), own: newBudget(), over: make(chan struct{}),
		sessions: map[string]*attachment{}, browsers: map[string]struct{}{}, streams: map[string]*stream{},
	}
	c.serve(context.WithoutCancel(request.Context()), target)
}

func (c *client) serve(ctx context.Context, target string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	joined := c.router.join(c, target)
	written := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(written)
		if err := c.queue.drain(ctx, c.conn, c.over); err != nil {
			c.cut(websocket.StatusGoingAway, "the connection is lost")
		}
	})
	group.Go(func() { c.hangUp(cancel, written) })
	select {
	case <-joined:
		c.cut(c.read(ctx))
	case <-c.over:
	}
	group.Wait()
}

// hangUp waits for the end and says why, as far as the client still listens.
func (c *client) hangUp(cancel context.CancelFunc, written <-chan struct{}) {
	<-c.over
	defer cancel()
	c.router.leave(c)
	// What is in the queue goes out before the close frame, but a client that does not read may not keep it for ever.
	timer := time.AfterFunc(closeWait, cancel)
	defer timer.Stop()
	<-written
	c.endMu.Lock()
	end := c.end
	c.endMu.Unlock()
	c.router.log.Debug("cdp client leaves", slog.Int("client", c.number), slog.String("reason", end.why))
	c.queue.drop()
	_ = c.conn.Close(end.code, end.why) // it may be gone already
}

// cut ends the client; only the first reason counts. It does not wait.
func (c *client) cut(code websocket.StatusCode, why string) {
	c.endMu.Lock()
	defer c.endMu.Unlock()
	if isClosed(c.over) {
		return
	}
	c.end = ending{code, why}
	close(c.over)
}

// read takes messages in until the socket ends, and says how that came.
func (c *client) read(ctx context.Context) (websocket.StatusCode, string) {
	for {
		message, err := c.receive(ctx)
		switch {
		case errors.Is(err, errTooLong):
			return websocket.StatusMessageTooBig, "a message may have 2 MiB"
		case errors.Is(err, errNotText):
			return websocket.StatusUnsupportedData, "messages are text"
		case err != nil:
			return websocket.StatusNormalClosure, "the client left"
		}
		isServed, isRefused := c.router.take(c, message)
		if !isServed {
			return websocket.StatusInternalError, "what clients do cannot be recorded"
		}
		if isRefused && len(message) > maxOwnParams {
			c.pause(refusedPause)
		}
	}
}

func (c *client) pause(long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.over:
	}
}

var (
	errNotText = errors.New("endpoint: message is not text")
	errTooLong = errors.New("endpoint: message is too long")
)

func (c *client) receive(ctx context.Context) ([]byte, error) {
	kind, r, err := c.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errNotText
	}
	message, err := io.ReadAll(io.LimitReader(r, maxMessage+1))
	if err == nil && len(message) > maxMessage {
		return nil, errTooLong
	}
	return message, err
}

// send puts a frame into the client's queue. router.mu is held.
func (c *client) send(f frame) {
	if !c.gone && !c.queue.put(f) {
		c.gone = true
		c.cut(websocket.StatusTryAgainLater, "the client reads too slowly")
	}
}
