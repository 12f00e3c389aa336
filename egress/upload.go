package egress

import (
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var errAnswered = errors.New("request was answered before its body was asked for")

// upload is a request's body on its way to the origin. The transport reads and closes it in a goroutine of
// its own; finish waits for that.
type upload struct {
	client *client
	body   io.Reader
	pulse  *pulse
	left   *atomic.Int64
	ended  chan struct{} // closed by Close
	close  func()

	// stateMu guards what follows.
	stateMu       sync.Mutex
	wantsContinue bool
	isAnswered    bool
	isWhole       bool
	err           error
}

func newUpload(c *client, h head, p *pulse, left *atomic.Int64) *upload {
	ended := make(chan struct{})
	u := &upload{
		client:        c,
		body:          h.body(c.in),
		pulse:         p,
		left:          left,
		ended:         ended,
		close:         sync.OnceFunc(func() { close(ended) }),
		wantsContinue: strings.EqualFold(h.fields.Get("Expect"), "100-continue"),
	}
	if !h.hasBody() {
		u.isWhole = true
		u.close()
	}
	return u
}

// Read reads on from the client, for the transport.
func (u *upload) Read(b []byte) (int, error) {
	if err := u.sayContinue(); err != nil {
		return 0, err
	}
	u.pulse.beat()
	n, err := u.body.Read(b)
	u.client.proxy.metrics.sent.Add(float64(n))
	if u.left.Add(-int64(n)) < 0 {
		n, err = 0, errTooManyBytes
	}
	u.note(err)
	return n, err
}

// Close is the transport's word that it will not read again. The client's connection stays open.
func (u *upload) Close() error {
	u.close()
	return nil
}

// sayContinue asks the client for its body when it waits to be asked, unless it has its answer already.
func (u *upload) sayContinue() error {
	u.stateMu.Lock()
	defer u.stateMu.Unlock()
	idle := time.Now().Add(u.client.proxy.limits.Idle)
	if u.isAnswered && u.wantsContinue {
		return errAnswered
	}
	if !u.isAnswered {
		_ = u.client.conn.SetReadDeadline(idle)
	}
	if !u.wantsContinue {
		return nil
	}
	u.wantsContinue = false
	_ = u.client.conn.SetWriteDeadline(idle)
	_, err := io.WriteString(u.client.conn, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// stopContinue comes before the final answer is written: no interim one may follow it.
func (u *upload) stopContinue() {
	u.stateMu.Lock()
	defer u.stateMu.Unlock()
	u.isAnswered = true
}

func (u *upload) note(err error) {
	u.stateMu.Lock()
	defer u.stateMu.Unlock()
	switch {
	case errors.Is(err, io.EOF):
		u.isWhole = true
	case err != nil:
		u.err = err
	}
}

// broken is why the client's body could not be read, if it could not.
func (u *upload) broken() error {
	u.stateMu.Lock()
	defer u.stateMu.Unlock()
	return u.err
}

// finish waits until nothing reads the body any more and reports whether all of it was read, that is, whether
// the next byte on the connection begins a request.
func (u *upload) finish() bool {
	u.stateMu.Lock()
	if !u.isWhole {
		_ = u.client.conn.SetReadDeadline(time.Unix(1, 0))
	}
	u.stateMu.Unlock()
	<-u.ended
	u.stateMu.Lock()
	defer u.stateMu.Unlock()
	return u.isWhole
}
