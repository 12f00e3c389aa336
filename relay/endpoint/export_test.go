package endpoint

import (
	"context"

	"github.com/coder/websocket"
)

// WriteReply writes a reply to a socket as a client's writer does.
func WriteReply(ctx context.Context, conn *websocket.Conn, id, result []byte, scratch *[]byte) error {
	return write(ctx, conn, replyFrame(id, "0123456789ABCDEF0123456789ABCDEF", result), scratch)
}
