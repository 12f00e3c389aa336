package egress

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// refusedHeader carries the reason of an answer that is the proxy's own.
const refusedHeader = "X-Chaperone-Refused"

// refuse decides against the request and says so; no request follows on the connection.
func (c *client) refuse(ctx context.Context, h head, t target, reason Reason) bool {
	c.proxy.decide(ctx, c.decision(h, t), reason)
	c.sayRefused(h.method, reason)
	return false
}

func (c *client) sayRefused(method string, reason Reason) {
	status, body := reason.status(), "chaperone-egress: "+string(reason)+"\n"
	text := fmt.Sprintf("HTTP/1.1 %d %s\r\n%s: %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"+
		"Cache-Control: no-store\r\nConnection: close\r\n", status, http.StatusText(status), refusedHeader, reason, len(body))
	if status == http.StatusMethodNotAllowed {
		text += "Allow: GET, HEAD, CONNECT\r\n"
	}
	if method == http.MethodHead {
		body = ""
	}
	_, _ = c.out.WriteString(text + "\r\n" + body) // the writer keeps its error for the flush
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.proxy.limits.Head))
	_ = c.out.Flush()
}
