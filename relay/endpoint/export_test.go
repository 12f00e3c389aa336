package endpoint

import (
	"context"
	"maps"
	"slices"

	"github.com/coder/websocket"
)

// WriteReply writes a reply to a socket as a client's writer does.
func WriteReply(ctx context.Context, conn *websocket.Conn, id, result []byte, scratch *[]byte) error {
	return write(ctx, conn, replyFrame(id, "0123456789ABCDEF0123456789ABCDEF", result), scratch)
}

// Undone says whether what the method sets is known to stay, and the call that takes it back, if any.
func Undone(method string) (back string, stays bool) {
	undo, stays := undoings()[method]
	return undo.method, stays
}

// Settings are the methods whose effects stay.
func Settings() []string { return slices.Sorted(maps.Keys(undoings())) }

// Stall keeps all that a capability's router would do back until what it answers is called.
func (c *Capability) Stall() func() {
	c.router.mu.Lock()
	return c.router.mu.Unlock
}

// Hear waits until the router has taken in all that was told to a sink.
func Hear(sink Sink) {
	h, isHold := sink.(*hold)
	if !isHold {
		return
	}
	heard := make(chan struct{})
	h.intake.act(func() { close(heard) })
	<-heard
}
