package egress

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"
)

// copyBytes is the buffer of an answer's body: what a TLS record or a few TCP segments bring at once.
const copyBytes = 32 << 10

// answer passes the origin's answer on and reports whether the client got all of it.
func (x *exchange) answer(resp *http.Response) bool {
	x.upload.stopContinue()
	h := resp.Header
	dropHopByHop(h)
	h.Del(refusedHeader)
	h.Add("Via", via)
	body := x.frame(resp)
	if !x.head.mayContinue || x.isUntilClose(resp) {
		h.Set("Connection", "close")
	}
	out := x.client.out
	_, _ = fmt.Fprintf(out, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	_ = h.Write(out)
	_, _ = out.WriteString("\r\n")
	if err := x.copyBody(body, resp.Body); err != nil {
		x.client.abort()
		return false
	}
	return !x.isUntilClose(resp)
}

// frame sets the field that tells the client where the body ends, and returns where the body is written to.
func (x *exchange) frame(resp *http.Response) io.WriteCloser {
	h, out := resp.Header, x.client.out
	h.Del("Content-Length")
	switch {
	case !bodyFollows(x.head.method, resp.StatusCode):
		if x.head.method == http.MethodHead && resp.ContentLength >= 0 {
			h.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
		}
	case resp.ContentLength >= 0:
		h.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	case !x.isUntilClose(resp):
		h.Set("Transfer-Encoding", "chunked") //nolint:gosec // each case sets one of the two
		return &chunks{WriteCloser: httputil.NewChunkedWriter(out), out: out}
	}
	return plain{out}
}

// isUntilClose: a client of HTTP/1.0 knows no chunks.
func (x *exchange) isUntilClose(resp *http.Response) bool {
	return resp.ContentLength < 0 && x.head.isOld() && bodyFollows(x.head.method, resp.StatusCode)
}

// bodyFollows is RFC 9112 section 6.3, for a final answer.
func bodyFollows(method string, status int) bool {
	return method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified
}

// copyBody writes what the origin sends as it comes.
func (x *exchange) copyBody(to io.WriteCloser, from io.Reader) error {
	if err := x.flush(); err != nil {
		return err
	}
	buffer := make([]byte, copyBytes)
	for {
		n, readErr := from.Read(buffer)
		x.client.proxy.metrics.received.Add(float64(n))
		if x.left.Add(-int64(n)) < 0 {
			return errTooManyBytes
		}
		if n > 0 {
			_, _ = to.Write(buffer[:n]) // the writer keeps its error for the flush
			if err := x.flush(); err != nil {
				return err
			}
		}
		if errors.Is(readErr, io.EOF) {
			_ = to.Close()
			return x.flush()
		}
		if readErr != nil {
			return readErr
		}
	}
}

func (x *exchange) flush() error {
	x.pulse.beat()
	_ = x.client.conn.SetWriteDeadline(time.Now().Add(x.pulse.limit))
	return x.client.out.Flush()
}

// abort resets the connection, so that a cut answer is not taken for a whole one.
func (c *client) abort() {
	if tcp, ok := c.conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.conn.Close()
}

// plain is a body whose end is told by its length or the connection's.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// chunks is a chunked body; its end is followed by an empty trailer section.
type chunks struct {
	io.WriteCloser
	out io.Writer
}

func (c *chunks) Close() error {
	if err := c.WriteCloser.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, "\r\n")
	return err
}
