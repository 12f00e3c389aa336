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
	fmt.Fprintf(c.out, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	if status == http.StatusMethodNotAllowed {
		fmt.Fprint(c.out, "Allow: GET, HEAD, CONNECT\r\n")
	}
	fmt.Fprintf(c.out, "%s: %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"+
		"Cache-Control: no-store\r\nConnection: close\r\n\r\n", refusedHeader, reason, len(body))
	if method != http.MethodHead {
		fmt.Fprint(c.out, body)
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.proxy.limits.Head))
	_ = c.out.Flush()
}
