package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
)

const (
	rawBatches = 20
	rawBatch   = 10 // commands, one after the other
	// rawBudget is how many times longer a command may take all the way from a client's socket than chrome.debugger takes
	// for it in the worker plus a bare message there and back over the same sockets.
	rawBudget = 1.3
)

// BenchmarkCommandAgainstItsParts times a CDP client's command through endpoint, relay, link and extension, and the
// parts that nobody can leave out: the same command called in the extension's worker, and a bare message from the
// client's socket over a loop to one of the worker's and back.
func BenchmarkCommandAgainstItsParts(b *testing.B) {
	far := openFar(b, 0)
	raw := openRaw(b, far)
	bare := openBareRoad(b, far)
	for range 30 {
		raw.evaluate(b)
		bare.evaluate(b)
	}
	for b.Loop() {
		whole, send, echo := timeParts(b, far, raw, bare)
		ratio := whole / (send + echo)
		b.ReportMetric(whole, "µs/command")
		b.ReportMetric(send, "µs/sendCommand")
		b.ReportMetric(echo, "µs/echo")
		b.ReportMetric(ratio, "ratio")
		if ratio > rawBudget {
			b.Errorf("%.0f µs, %.2f times its parts (%.0f + %.0f), at most %.1f", whole, ratio, send, echo, rawBudget)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// timeParts answers medians over batches, in microseconds a command; the three take turns.
func timeParts(b *testing.B, far *far, raw, bare *rawClient) (whole, send, echo float64) {
	b.Helper()
	worker, err := far.person.Worker(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	batch := func(c *rawClient) float64 {
		took := timed(func() {
			for range rawBatch {
				c.evaluate(b)
			}
		})
		return float64(took.Microseconds()) / rawBatch
	}
	wholes, sends, echoes := make([]float64, 0, rawBatches), make([]float64, 0, rawBatches), make([]float64, 0, rawBatches)
	for range rawBatches {
		wholes = append(wholes, batch(raw))
		echoes = append(echoes, batch(bare))
		var one float64
		if err := worker.Do(b.Context(), sendInWorker(far.page), &one); err != nil {
			b.Fatal(err)
		}
		sends = append(sends, one)
	}
	return middle(wholes), middle(sends), middle(echoes)
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

const expression = `1+1`

// sendInWorker times a batch of commands in the worker; the tab is attached already.
func sendInWorker(page string) string {
	return fmt.Sprintf(`(async () => {
		const [tab] = await chrome.tabs.query({ url: %q });
		const send = () => new Promise((done) => chrome.debugger.sendCommand(
			{ tabId: tab.id }, 'Runtime.evaluate', { expression: %q }, done));
		const start = performance.now();
		for (let i = 0; i < %d; i++) await send();
		return (performance.now() - start) * 1000 / %d;
	})()`, page+"/*", expression, rawBatch, rawBatch)
}

// BenchmarkPipelinedAgainstOneByOne sends 64 commands at once and one by one over a link with 80 ms of round trip.
func BenchmarkPipelinedAgainstOneByOne(b *testing.B) {
	const commands, least = 64, 10
	raw := openRaw(b, openFar(b, 40*time.Millisecond))
	raw.evaluate(b)
	for b.Loop() {
		atOnce := timed(func() { raw.evaluateMany(b, commands) })
		inTurn := timed(func() {
			for range commands {
				raw.evaluate(b)
			}
		})
		ratio := float64(inTurn) / float64(atOnce)
		b.ReportMetric(ms(atOnce), "ms/64-at-once")
		b.ReportMetric(ms(inTurn), "ms/64-in-turn")
		b.ReportMetric(ratio, "ratio")
		if ratio < least {
			b.Errorf("%.1f times as long in turn, at least %d", ratio, least)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkReconnect cuts the link under a CDP client and times how long it takes until that client's commands are
// done again: the extension dials anew, the relay holds the tab anew, the endpoint restores.
func BenchmarkReconnect(b *testing.B) {
	const cuts = 12
	far := openFar(b, 0)
	raw := openRaw(b, far)
	raw.evaluate(b)
	var took []time.Duration
	for b.Loop() {
		for range cuts {
			far.line.cut()
			took = append(took, timed(func() { raw.evaluateAgain(b) }))
		}
	}
	slices.Sort(took)
	b.ReportMetric(ms(took[0]), "ms/least")
	b.ReportMetric(ms(median(took)), "ms/p50")
	b.ReportMetric(ms(took[len(took)*9/10]), "ms/p90")
	b.ReportMetric(ms(took[len(took)-1]), "ms/most")
	b.ReportMetric(0, "ns/op")
}

// rawClient is a CDP client that knows how to evaluate.
type rawClient struct {
	conn    *websocket.Conn
	session string
	last    int
}

func dialRawClient(b *testing.B, url string) *rawClient {
	b.Helper()
	conn, _, err := websocket.Dial(b.Context(), url, nil) //nolint:bodyclose // the library closes an upgraded response
	if err != nil {
		b.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	b.Cleanup(func() { _ = conn.CloseNow() })
	return &rawClient{conn: conn, session: "none"}
}

// openRaw is a client of the endpoint, attached to the shared page.
func openRaw(b *testing.B, far *far) *rawClient {
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
	capability, err := server.Grant(endpoint.GrantOptions{Edge: far.browser, Judge: table})
	if err != nil {
		b.Fatal(err)
	}
	c := dialRawClient(b, capability.WS())
	target := far.browser.Tabs()[0].Target
	answer := c.ask(b, fmt.Sprintf(`"method":"Target.attachToTarget","params":{"targetId":%q,"flatten":true}`, target))
	var attached struct {
		Result struct {
			SessionID string `json:"sessionId"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &attached) != nil || attached.Result.SessionID == "" {
		b.Fatalf("attach: %s", answer)
	}
	c.session = attached.Result.SessionID
	return c
}

// command is one evaluation.
func (c *rawClient) command() string {
	return fmt.Sprintf(`"method":"Runtime.evaluate","params":{"expression":%q},"sessionId":%q`, expression, c.session)
}

func (c *rawClient) evaluate(b *testing.B) {
	b.Helper()
	if answer := c.ask(b, c.command()); !bytes.Contains(answer, []byte(`"value":2`)) && c.session != "none" {
		b.Fatalf("evaluate: %s", answer)
	}
}

// evaluateAgain evaluates until it is done.
func (c *rawClient) evaluateAgain(b *testing.B) {
	b.Helper()
	for {
		if bytes.Contains(c.ask(b, c.command()), []byte(`"value":2`)) {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (c *rawClient) evaluateMany(b *testing.B, n int) {
	b.Helper()
	for range n {
		c.send(b, c.command())
	}
	for range n {
		c.answer(b)
	}
}

// ask sends a command and answers the next answer; events are passed over.
func (c *rawClient) ask(b *testing.B, command string) []byte {
	b.Helper()
	c.send(b, command)
	return c.answer(b)
}

func (c *rawClient) send(b *testing.B, command string) {
	b.Helper()
	c.last++
	if err := c.conn.Write(b.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,%s}`, c.last, command)); err != nil {
		b.Fatal(err)
	}
}

func (c *rawClient) answer(b *testing.B) []byte {
	b.Helper()
	for {
		_, text, err := c.conn.Read(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte(`{"id":`)) {
			return text
		}
	}
}

// openBareRoad is a client whose messages go to a socket of the worker's, which sends them back.
func openBareRoad(b *testing.B, far *far) *rawClient {
	b.Helper()
	ends := make(chan *websocket.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err == nil {
			ends <- conn
		}
	}))
	b.Cleanup(server.Close)
	address := "ws" + strings.TrimPrefix(server.URL, "http")
	c := dialRawClient(b, address)
	here := <-ends
	worker, err := far.person.Worker(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	echo := fmt.Sprintf(`new Promise((open, fail) => {
		const socket = globalThis.benchEcho = new WebSocket(%q);
		socket.onmessage = ({ data }) => socket.send(data);
		socket.onopen = () => open(true);
		socket.onerror = () => fail(new Error('no echo'));
	})`, address)
	if err := worker.Do(b.Context(), echo, nil); err != nil {
		b.Fatal(err)
	}
	there := <-ends
	go carryBare(here, there)
	go carryBare(there, here)
	b.Cleanup(func() { _, _ = here.CloseNow(), there.CloseNow() })
	return c
}

func carryBare(from, to *websocket.Conn) {
	for {
		kind, text, err := from.Read(context.Background())
		if err != nil || to.Write(context.Background(), kind, text) != nil {
			return
		}
	}
}
