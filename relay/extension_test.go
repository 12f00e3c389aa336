package relay_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"chaperone/relay"
	"chaperone/relay/program"
)

// extension is the other end of a link: it speaks docs/relay.md, and lies where a test tells it to.
type extension struct {
	t    testing.TB
	conn *websocket.Conn
}

// persona is what an extension says of itself.
type persona struct {
	token, tokenID, project, install string
	tabs                             []program.Tab
	features                         []string
}

func honest() persona {
	return persona{token: token, tokenID: relay.TokenID(token), project: project, install: "install-1", features: []string{"cdp"}}
}

func (p persona) as(install string) persona { p.install = install; return p }

func (p persona) with(tabs ...program.Tab) persona { p.tabs = tabs; return p }

type object = map[string]any

func (p persona) hello(nonce string) object {
	return object{
		"t": "hello", "v": 1, "extension": "0.1.0", "install": p.install, "token_id": p.tokenID, "nonce": nonce,
		"project": p.project, "features": p.features, "browser": object{"name": "Chromium", "version": "156.0"},
	}
}

// mac is written from the document, apart from the relay's own.
func mac(token, who, project, theirs, ours string) string {
	h := hmac.New(sha256.New, []byte(token))
	h.Write([]byte("chaperone-link-1|" + who + "|" + project + "|" + theirs + "|" + ours))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// nonce is every extension's here: what makes an opening fresh for the server is its own.
func nonce() string { return base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)) }

// upgrade opens a socket and says nothing yet.
func (w *world) upgrade() *extension {
	w.t.Helper()
	return upgrade(w.t, w.net.client(), "http://"+host)
}

func upgrade(tb testing.TB, client *http.Client, url string) *extension {
	tb.Helper()
	conn, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{ //nolint:bodyclose // the library closes an upgraded response
		HTTPClient: client, HTTPHeader: http.Header{"Origin": {origin}},
	})
	if err != nil {
		tb.Fatalf("dial: %v", err)
	}
	conn.SetReadLimit(2 << 20)
	tb.Cleanup(func() { _ = conn.CloseNow() })
	return &extension{t: tb, conn: conn}
}

// pair opens a link and answers the extension once the server has said paired.
func (w *world) pair(p persona) *extension {
	w.t.Helper()
	e := w.upgrade()
	e.greet(p)
	e.want("paired")
	return e
}

// greet runs the opening up to the proof and answers the challenge and the proof.
func (e *extension) greet(p persona) (challenge, proof object) {
	e.t.Helper()
	e.send(p.hello(nonce()))
	challenge = e.want("challenge").head
	theirs, _ := challenge["nonce"].(string)
	proof = object{"t": "proof", "mac": mac(p.token, "extension", p.project, nonce(), theirs), "tabs": p.tabs}
	e.send(proof)
	return challenge, proof
}

func (e *extension) send(head any, body ...string) {
	e.t.Helper()
	if err := e.write(head, body...); err != nil {
		e.t.Fatalf("write: %v", err)
	}
}

func (e *extension) write(head any, body ...string) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	for _, b := range body {
		text = append(append(text, '\n'), b...)
	}
	return e.conn.Write(context.Background(), websocket.MessageText, text)
}

func (e *extension) raw(text string) {
	e.t.Helper()
	if err := e.conn.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		e.t.Fatalf("write: %v", err)
	}
}

// frame is what the server sent.
type frame struct {
	head object
	body []byte
}

func (f frame) id() any { return f.head["id"] }

// program is the frame's body.
func (f frame) program(tb testing.TB) program.Program {
	tb.Helper()
	var p program.Program
	if err := json.Unmarshal(f.body, &p); err != nil {
		tb.Fatalf("program: %v", err)
	}
	return p
}

// want reads the next frame, which must be of this kind.
func (e *extension) want(kind string) frame {
	e.t.Helper()
	f := e.next()
	if f.head["t"] != kind {
		e.t.Fatalf("frame %v, want %s", f.head, kind)
	}
	return f
}

func (e *extension) next() frame {
	e.t.Helper()
	f, err := e.read()
	if err != nil {
		e.t.Fatalf("read: %v", err)
	}
	return f
}

func (e *extension) read() (frame, error) {
	_, text, err := e.conn.Read(context.Background())
	if err != nil {
		return frame{}, err
	}
	return parseFrame(text)
}

func parseFrame(text []byte) (frame, error) {
	line, body, _ := bytes.Cut(text, []byte{'\n'})
	f := frame{body: body}
	return f, json.Unmarshal(line, &f.head)
}

// wantClose reads the end of the link, and compares the code and, where given, what the person is told; code -1
// is a connection dropped without one.
func (e *extension) wantClose(code int, words ...string) {
	e.t.Helper()
	_, text, err := e.conn.Read(context.Background())
	if err == nil {
		e.t.Fatalf("frame %q, want close %d", text, code)
	}
	if got := int(websocket.CloseStatus(err)); got != code {
		e.t.Errorf("close code %d (%v), want %d", got, err, code)
	}
	if said, ok := errors.AsType[websocket.CloseError](err); ok && len(words) > 0 && said.Reason != words[0] {
		e.t.Errorf("close reason %q, want %q", said.Reason, words[0])
	}
}

// answer sends a program's result.
func (e *extension) answer(f frame, result string) {
	e.t.Helper()
	e.send(object{"t": "result", "id": f.id()}, result)
}

func tab(id, session string) program.Tab {
	return program.Tab{ID: id, URL: "https://example.com/", Title: id, Level: program.LevelAct, Session: session}
}
