package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay"
	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
)

// ownShare bounds what the endpoint and the relay add to a frame of 1 KB and its answer.
const ownShare = 100 * time.Microsecond

// BenchmarkSplice sends commands from a CDP client's socket through the endpoint and the relay to an extension's
// socket and has them answered by results of several sizes. The reference is the same frames over the same two kinds
// of sockets with nothing between but a loop that reads a WebSocket message here and writes it there.
func BenchmarkSplice(b *testing.B) {
	for name, size := range map[string]int{"1KB": 1 << 10, "1MB": 1 << 20, "5MB": 5 << 20} {
		b.Run(name, func(b *testing.B) {
			relayed, bare := openSplice(b, size), openBare(b, size)
			rounds := max(b.N, 15)
			for range 5 {
				relayed.ask(b)
				bare.ask(b)
			}
			with, without := make([]time.Duration, 0, rounds), make([]time.Duration, 0, rounds)
			for range rounds {
				with = append(with, clock(func() { relayed.ask(b) }))
				without = append(without, clock(func() { bare.ask(b) }))
			}
			slices.Sort(with)
			slices.Sort(without)
			ours, theirs := with[rounds/2], without[rounds/2]
			b.ReportMetric(float64(ours.Microseconds()), "µs/relay")
			b.ReportMetric(float64(theirs.Microseconds()), "µs/bare")
			b.ReportMetric(float64((ours - theirs).Microseconds()), "µs/own-share")
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
			b.ReportMetric(0, "ns/op")
			if size == 1<<10 && ours-theirs > ownShare {
				b.Errorf("the relay's and the endpoint's own share is %s, at most %s", ours-theirs, ownShare)
			}
		})
	}
}

func clock(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// client is a CDP client's socket.
type client struct {
	conn    *websocket.Conn
	session string
	last    int
	size    int
}

// benchCommand is a command of 1 KB.
func (c *client) benchCommand() []byte {
	c.last++
	return fmt.Appendf(nil, `{"id":%d,"method":"Runtime.evaluate","params":{"expression":"%s"},"sessionId":%q}`,
		c.last, strings.Repeat("x", 900), c.session)
}

// ask sends one command and waits for its answer.
func (c *client) ask(b *testing.B) {
	b.Helper()
	if err := c.conn.Write(b.Context(), websocket.MessageText, c.benchCommand()); err != nil {
		b.Fatal(err)
	}
	if answer := c.answer(b, c.last); len(answer) < c.size {
		b.Fatalf("an answer of %d bytes: %.200s", len(answer), answer)
	}
}

// answer reads up to the answer with this id.
func (c *client) answer(b *testing.B, id int) []byte {
	b.Helper()
	for {
		_, text, err := c.conn.Read(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if bytes.HasPrefix(text, fmt.Appendf(nil, `{"id":%d,`, id)) {
			return text
		}
	}
}

func dialClient(b *testing.B, url string) *client {
	b.Helper()
	conn, _, err := websocket.Dial(b.Context(), url, nil) //nolint:bodyclose // the library closes an upgraded response
	if err != nil {
		b.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	b.Cleanup(func() { _ = conn.CloseNow() })
	return &client{conn: conn}
}

// openSplice is a client of the endpoint, attached to the one tab of an extension that answers with size bytes.
func openSplice(b *testing.B, size int) *client {
	b.Helper()
	hub := relay.NewHub(relay.Options{
		Authority: newAuthority(), ExtensionID: extensionID, Host: func(string) bool { return true },
	})
	server := httptest.NewServer(hub)
	shared := tab("t1", "")
	shared.Target = "T1"
	l := dialRaw(b, server.Listener.Addr().String(), honest().with(shared))
	l.busy()
	var answering sync.WaitGroup
	answering.Go(func() { l.answerCommands(jsonOf(size)) })
	b.Cleanup(func() {
		_ = l.conn.Close()
		answering.Wait()
		if err := hub.Close(context.Background()); err != nil {
			b.Errorf("close hub: %v", err)
		}
		server.Close()
	})
	browser, err := hub.Open(b.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_1"})
	if err != nil {
		b.Fatal(err)
	}
	c := dialClient(b, grantCapability(b, browser))
	c.size = size
	c.attach(b)
	return c
}

func grantCapability(b *testing.B, edge endpoint.Edge) string {
	b.Helper()
	table, err := cdp.Load()
	if err != nil {
		b.Fatal(err)
	}
	server, err := endpoint.New(b.Context(), endpoint.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	capability, err := server.Grant(endpoint.GrantOptions{Edge: edge, Judge: table})
	if err != nil {
		b.Fatal(err)
	}
	return capability.WS()
}

func (c *client) attach(b *testing.B) {
	b.Helper()
	c.last++
	ask := fmt.Appendf(nil, `{"id":%d,"method":"Target.attachToTarget","params":{"targetId":"T1","flatten":true}}`, c.last)
	if err := c.conn.Write(b.Context(), websocket.MessageText, ask); err != nil {
		b.Fatal(err)
	}
	var attached struct {
		Result struct {
			SessionID string `json:"sessionId"`
		} `json:"result"`
	}
	if text := c.answer(b, c.last); json.Unmarshal(text, &attached) != nil || attached.Result.SessionID == "" {
		b.Fatalf("attach: %s", text)
	}
	c.session = attached.Result.SessionID
}

// answerCommands holds whatever tab it is asked to and answers the clients' command with body, until the link ends.
func (l *rawLink) answerCommands(body []byte) {
	for {
		text, err := l.readText()
		if err != nil {
			return
		}
		if !bytes.HasPrefix(text, []byte(`{"t":"cdp"`)) {
			l.answerOther(text)
			continue
		}
		result := []byte("{}")
		if head, _, _ := bytes.Cut(text, []byte("\n")); bytes.Contains(head, []byte("Runtime.evaluate")) {
			result = body
		}
		if l.writeParts([]byte(`{"t":"reply","id":`+idOf(text)+"}\n"), result) != nil {
			return
		}
	}
}

func (l *rawLink) answerOther(text []byte) {
	f, err := parseFrame(text)
	if err == nil && f.head["t"] == "hold" {
		_ = l.write(object{"t": "held", "id": f.id(), "tab": f.head["tab"], "target": "T1"})
	}
}

// openBare is a client whose messages go over to another socket, and that socket's answers back.
func openBare(b *testing.B, size int) *client {
	b.Helper()
	near, far := make(chan *websocket.Conn, 1), make(chan *websocket.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		conn.SetReadLimit(64 << 20)
		if r.Header.Get("Origin") == origin {
			far <- conn
		} else {
			near <- conn
		}
	}))
	c := dialClient(b, "ws"+strings.TrimPrefix(server.URL, "http"))
	c.size, c.session = size, "S1"
	l := dialBare(b, server.Listener.Addr().String())
	here, there := <-near, <-far
	var carrying sync.WaitGroup
	carrying.Go(func() { carryMessages(here, there) })
	carrying.Go(func() { carryMessages(there, here) })
	carrying.Go(func() { l.echo(jsonOf(size)) })
	b.Cleanup(func() {
		_ = here.CloseNow()
		_ = there.CloseNow()
		_ = l.conn.Close()
		carrying.Wait()
		server.Close()
	})
	return c
}

// dialBare is an extension's socket without a link.
func dialBare(b *testing.B, address string) *rawLink {
	b.Helper()
	l, err := connectRaw(address)
	if err != nil {
		b.Fatal(err)
	}
	l.busy()
	return l
}

func carryMessages(from, to *websocket.Conn) {
	for {
		kind, text, err := from.Read(context.Background())
		if err != nil || to.Write(context.Background(), kind, text) != nil {
			return
		}
	}
}

// echo answers each message, {"id":…, as the endpoint's client expects it.
func (l *rawLink) echo(body []byte) {
	for {
		text, err := l.readText()
		if err != nil {
			return
		}
		id, _, _ := bytes.Cut(text[len(`{"id":`):], []byte(","))
		if l.writeParts([]byte(`{"id":`+string(id)+`,"result":`), body, []byte("}")) != nil {
			return
		}
	}
}
