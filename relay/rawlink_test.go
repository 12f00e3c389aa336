package relay_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
)

// rawLink is an extension on a bare socket: it costs a bench hardly any memory and no goroutine, so that what is
// measured is the relay's.
type rawLink struct {
	conn net.Conn
	in   *bufio.Reader // nil while idle
}

// dialRaw pairs a bare link.
func dialRaw(tb testing.TB, address string, p persona) *rawLink {
	tb.Helper()
	l, err := pairRaw(address, p)
	if err != nil {
		tb.Fatalf("pair: %v", err)
	}
	return l
}

func pairRaw(address string, p persona) (*rawLink, error) {
	l, err := connectRaw(address)
	if err != nil {
		return nil, err
	}
	if err := l.write(p.hello(nonce())); err != nil {
		return nil, err
	}
	challenge, err := l.read()
	if err != nil {
		return nil, err
	}
	theirs, _ := challenge.head["nonce"].(string)
	err = l.write(object{"t": "proof", "mac": mac(p.token, "extension", p.project, nonce(), theirs), "tabs": p.tabs})
	if err != nil {
		return nil, err
	}
	if f, err := l.read(); err != nil || f.head["t"] != "paired" {
		return nil, errors.Join(errors.New("not paired"), err)
	}
	return l, nil
}

// connectRaw upgrades a socket and says nothing on it.
func connectRaw(address string) (*rawLink, error) {
	conn, err := net.Dial("tcp", address) //nolint:noctx // a bench's own socket
	if err != nil {
		return nil, err
	}
	l := &rawLink{conn: conn, in: bufio.NewReaderSize(conn, 4096)}
	return l, l.upgrade(address)
}

func (l *rawLink) upgrade(address string) error {
	_, err := io.WriteString(l.conn, "GET / HTTP/1.1\r\nHost: "+address+"\r\nOrigin: "+origin+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	if err != nil {
		return err
	}
	response, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // an upgrade has no body
	if response.StatusCode != http.StatusSwitchingProtocols {
		return errors.New(response.Status)
	}
	return nil
}

// idle lets the reader go: nothing is read until busy.
func (l *rawLink) idle() { l.in = nil }

func (l *rawLink) busy() { l.in = bufio.NewReaderSize(l.conn, 64<<10) }

func (l *rawLink) write(head any) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return l.writeText(text)
}

func (l *rawLink) writeText(text []byte) error { return l.writeParts(text) }

// writeParts sends one text message, with a mask of zeros, which is as good as any on a loopback socket.
func (l *rawLink) writeParts(parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	frame := make([]byte, 0, 14)
	switch {
	case size < 126:
		frame = append(frame, 0x81, 0x80|byte(size))
	case size < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x81, 0x80|126), uint16(size))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x81, 0x80|127), uint64(size))
	}
	all := net.Buffers(append([][]byte{append(frame, 0, 0, 0, 0)}, parts...))
	_, err := all.WriteTo(l.conn)
	return err
}

func (l *rawLink) read() (frame, error) {
	text, err := l.readText()
	if err != nil {
		return frame{}, err
	}
	return parseFrame(text)
}

// readText reads one unfragmented message.
func (l *rawLink) readText() ([]byte, error) {
	var head [10]byte
	if _, err := io.ReadFull(l.in, head[:2]); err != nil {
		return nil, err
	}
	size := uint64(head[1])
	switch size {
	case 126:
		if _, err := io.ReadFull(l.in, head[2:4]); err != nil {
			return nil, err
		}
		size = uint64(binary.BigEndian.Uint16(head[2:4]))
	case 127:
		if _, err := io.ReadFull(l.in, head[2:10]); err != nil {
			return nil, err
		}
		size = binary.BigEndian.Uint64(head[2:10])
	}
	if head[0] != 0x81 {
		return nil, errors.New("not one whole text message")
	}
	text := make([]byte, size)
	_, err := io.ReadFull(l.in, text)
	return text, err
}
