package cdp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// secret stands in every cookie, credential and form of the site.
const secret = "S3CRET"

// TestNothingSecretIsTold lets a real page send and get cookies, credentials and forms in every way that there is, and
// looks for them in what is left of the events.
func TestNothingSecretIsTold(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(serveSecrets))
	t.Cleanup(site.Close)
	p := openPage(t)
	for _, domain := range []string{"Network", "Page", "Audits", "Log"} {
		p.call(t, domain+".enable", `{}`)
	}
	p.call(t, "Page.navigate", fmt.Sprintf(`{"url":%q}`, site.URL+"/start"))
	p.await(t, "Page.loadEventFired")
	p.evaluate(t, `fetch('/redirect',{headers:{Authorization:'Bearer `+secret+`','X-CSRF-Token':'`+secret+`'}}).then(r=>r.text())`)
	p.evaluate(t, `fetch('/target',{headers:{'X-Auth':'`+secret+`','X-Session-Token':'`+secret+`','Api-Key':'`+secret+`','Private-Token':'`+secret+`'}}).then(r=>r.text())`)
	p.evaluate(t, `new Promise(done=>{const image=new Image();image.onerror=done;image.src='http://bob:`+secret+`@'+location.host+'/image'})`)
	p.evaluate(t, `fetch('/form',{method:'POST',body:new URLSearchParams({password:'`+secret+`'})}).then(r=>r.text())`)
	p.evaluate(t, `new Promise(done=>{const socket=new WebSocket('/socket',['bearer','`+secret+`']);socket.onopen=socket.onerror=()=>done()})`)
	p.evaluate(t, `document.forms[0].submit()`)
	p.await(t, "Page.loadEventFired")

	table := loadTable(t)
	carried := map[string]bool{}
	for _, event := range p.events {
		if bytes.Contains(event.Params, []byte(secret)) {
			carried[event.Method] = true
		}
		if left := table.Strip(event.Method, event.Params); bytes.Contains(left, []byte(secret)) {
			t.Errorf("%s is left with %s", event.Method, left)
		}
	}
	for _, method := range []string{
		"Network.requestWillBeSent", "Network.requestWillBeSentExtraInfo", "Network.responseReceivedExtraInfo",
		"Network.webSocketWillSendHandshakeRequest", "Network.webSocketHandshakeResponseReceived",
	} {
		if !carried[method] {
			t.Errorf("%s carried no secret: this test has lost its point (of %d events)", method, len(p.events))
		}
	}
}

func serveSecrets(w http.ResponseWriter, r *http.Request) {
	for _, cookie := range []string{"id=%s; HttpOnly; Path=/", "refused=%s; Secure; SameSite=None", "part=%s; Secure; Partitioned; SameSite=None; Path=/"} {
		w.Header().Add("Set-Cookie", fmt.Sprintf(cookie, secret))
	}
	for _, name := range []string{"X-Api-Key", "X-Auth", "X-Session-Id"} {
		w.Header().Set(name, secret)
	}
	switch r.URL.Path {
	case "/redirect":
		http.Redirect(w, r, "/target", http.StatusFound)
	case "/socket":
		if socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"bearer"}}); err == nil {
			_ = socket.CloseNow()
		}
	default:
		_, _ = w.Write([]byte(`<!doctype html><form method="post" action="/form"><input name="password" value="` + secret + `"></form>`))
	}
}

// page is a page of a Chromium of its own. It is used by one goroutine.
type page struct {
	to      *os.File
	from    *bufio.Reader
	session string
	asked   int
	events  []told
}

type told struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func openPage(t *testing.T) *page {
	t.Helper()
	fromUs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, fromChromium, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "chromium-headless-shell",
		"--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	command.ExtraFiles = []*os.File{fromUs, fromChromium}
	startTogether(t, command)
	_ = fromUs.Close()
	_ = fromChromium.Close()
	if err := from.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = to.Close()
		_ = from.Close()
	})
	p := &page{to: to, from: bufio.NewReader(from)}
	var made struct {
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	p.ask(t, "Target.createTarget", `{"url":"about:blank"}`, &made)
	p.ask(t, "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, made.TargetID), &made)
	p.session = made.SessionID
	return p
}

func (p *page) ask(t *testing.T, method, params string, into any) {
	t.Helper()
	if err := json.Unmarshal(p.call(t, method, params), into); err != nil {
		t.Fatal(err)
	}
}

func (p *page) evaluate(t *testing.T, expression string) {
	t.Helper()
	if answer := p.call(t, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q,"awaitPromise":true}`, expression)); bytes.Contains(answer, []byte("exceptionDetails")) {
		t.Fatalf("%s: %s", expression, answer)
	}
}

func (p *page) call(t *testing.T, method, params string) []byte {
	t.Helper()
	p.asked++
	session := ""
	if p.session != "" {
		session = fmt.Sprintf(`,"sessionId":%q`, p.session)
	}
	if _, err := fmt.Fprintf(p.to, `{"id":%d,"method":%q,"params":%s%s}`+"\x00", p.asked, method, params, session); err != nil {
		t.Fatal(err)
	}
	for {
		message := p.read(t)
		if message.ID != p.asked {
			continue
		}
		if message.Error != nil {
			t.Fatalf("%s: %s", method, message.Error)
		}
		return message.Result
	}
}

func (p *page) await(t *testing.T, event string) {
	t.Helper()
	for p.read(t).Method != event {
	}
}

func (p *page) read(t *testing.T) told {
	t.Helper()
	data, err := p.from.ReadBytes(0)
	if err != nil {
		t.Fatal(err)
	}
	var message told
	if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &message); err != nil {
		t.Fatal(err)
	}
	if message.Method != "" {
		p.events = append(p.events, message)
	}
	return message
}
