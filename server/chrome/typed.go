package chrome

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
)

// call is conn.call for a command whose parameters and result are known.
func call[P, R any](ctx context.Context, c *conn, targetSession target.SessionID, command cdp.Command[P, R], params P) (R, error) {
	var result R
	text, err := c.call(ctx, targetSession, command.Method, params)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return result, fmt.Errorf("decode result of %s: %w", command.Method, err)
	}
	return result, nil
}

// post sends one command whose reply nobody needs. It never waits.
func post[P, R any](c *conn, targetSession target.SessionID, command cdp.Command[P, R], params P) {
	if _, err := c.send(targetSession, command.Method, params, nil); err != nil {
		c.fail(err)
	}
}

// on hands e to take if it is of that kind and can be read. It reads as the connection does, with
// encoding/json: cdproto's own reader refuses text that is not UTF-8, and a request would stay paused.
func on[E any](e event, kind cdp.Event[E], take func(E)) {
	var told E
	if e.Method == kind.Method && json.Unmarshal(e.Params, &told) == nil {
		take(told)
	}
}

// pages is the filter for tabs.
func pages() target.Filter { return target.Filter{{Type: "page"}} }
