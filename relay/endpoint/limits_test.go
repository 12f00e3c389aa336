package endpoint_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"chaperone/relay/endpoint"
)

// closed waits for the socket's end and answers its code.
func (c *client) closed() websocket.StatusCode {
	c.t.Helper()
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	return websocket.CloseStatus(c.err)
}

func TestATooLargeMessageEndsItsClientAlone(t *testing.T) {
	capability := grant(t, newEdge("t1"))
	large, other := connect(t, capability.WS()), connect(t, capability.WS())
	other.call("", "Browser.getVersion", "{}")
	fits := `{"id":1,"method":"Browser.getVersion","params":{"x":"` + strings.Repeat("a", 2<<20-100) + `"}}`
	large.write(fits)
	large.await("an answer to a message just within the bound", answers("1"))
	_ = large.conn.Write(t.Context(), websocket.MessageText, []byte(fits+strings.Repeat(" ", 200)))
	if got := large.closed(); got != websocket.StatusMessageTooBig || !strings.Contains(large.err.Error(), "a message may have 2 MiB") {
		t.Errorf("closed with %d: %v", got, large.err)
	}
	other.call("", "Browser.getVersion", "{}")
}

func TestASlowClientIsCutOffAlone(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	quick := connect(t, capability.WS())
	session := quick.attach("TARGETt1")
	quick.call(session, "Page.enable", "{}")
	slow := dial(t, capability.WS())
	defer func() { _ = slow.CloseNow() }()
	// The slow one attaches, hears of it, and reads nothing from then on.
	write := func(text string) {
		t.Helper()
		if err := slow.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":1,"method":"Target.attachToTarget","params":{"targetId":"TARGETt1","flatten":true}}`)
	var got string
	for !strings.Contains(got, `"id":1`) {
		_, data, err := slow.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = string(data)
	}
	_, after, _ := strings.Cut(got, `"result":{"sessionId":"`)
	write(`{"id":2,"method":"Network.enable","sessionId":"` + after[:32] + `"}`)
	e.await(t, "the slow one's command is down", func() bool { return len(e.down("Network.enable")) == 1 })
	big := `{"data":"` + strings.Repeat("x", 1<<20) + `"}`
	for i := range 160 {
		e.hold("t1").event("", "Network.dataReceived", big)
		e.hold("t1").event("", "Page.frameResized", fmt.Sprintf(`{"n":%d}`, i))
		quick.await("the event", func(m message) bool {
			return m.Method == "Page.frameResized" && string(m.Params) == fmt.Sprintf(`{"n":%d}`, i)
		})
		if capability.Clients() == 1 {
			break
		}
	}
	if capability.Clients() != 1 {
		t.Error("the slow client is still connected")
	}
	quick.call(session, "Runtime.evaluate", `{"expression":"1"}`)
	slow.SetReadLimit(-1)
	var err error
	for err == nil {
		_, _, err = slow.Read(t.Context())
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusTryAgainLater {
		t.Errorf("closed with %d (%v)", code, err)
	}
}

func TestAClientWithTooMuchUnderWayIsAnsweredAllTheSame(t *testing.T) {
	e := newEdge("t1", "t2")
	gate := make(chan struct{})
	var open sync.Once
	defer open.Do(func() { close(gate) })
	e.answer = func(s sent) (string, error, bool) {
		if s.tab == "t1" && s.method == "Runtime.evaluate" {
			<-gate
		}
		return "", nil, false
	}
	capability := grant(t, e)
	hasty, other := connect(t, capability.WS()), connect(t, capability.WS())
	stuck, free := hasty.attach("TARGETt1"), other.attach("TARGETt2")
	var last string
	for range 1024 {
		last = hasty.post(stuck, "Runtime.evaluate", `{"expression":"1"}`)
	}
	m := hasty.ask(stuck, "Runtime.evaluate", `{"expression":"1"}`)
	if m.Error == nil || !strings.Contains(m.Error.Message, "more than 1024 commands of this client") {
		t.Errorf("one more is answered %s", m.raw)
	}
	hasty.call("", "Browser.getVersion", "{}")
	hasty.call("", "Target.detachFromTarget", `{"sessionId":"`+hasty.attach("TARGETt2")+`"}`)
	other.call(free, "Runtime.evaluate", `{"expression":"1"}`)
	e.await(t, "as many are down as may be", func() bool { return len(e.down("Runtime.evaluate")) == 1025 })
	open.Do(func() { close(gate) })
	hasty.await("the last answer", answers(last))
	hasty.call(stuck, "Runtime.evaluate", `{"expression":"1"}`)
}

func TestSettingsAndSessionsOfAClientAreBounded(t *testing.T) {
	c := connect(t, grant(t, newEdge("t1")).WS())
	session := c.attach("TARGETt1")
	for i := range 999 {
		c.post(session, "Runtime.addBinding", fmt.Sprintf(`{"name":"b%d"}`, i))
		c.post("", "Target.attachToBrowserTarget", `{}`)
	}
	c.call(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"1"}`)
	for name, test := range map[string]struct{ session, method, params string }{
		"a binding":           {session, "Runtime.addBinding", `{"name":"more"}`},
		"a script":            {session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"1"}`},
		"a session":           {"", "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`},
		"a browser's session": {"", "Target.attachToBrowserTarget", `{}`},
	} {
		if m := c.ask(test.session, test.method, test.params); m.Error == nil || !strings.Contains(m.Error.Message, "a client may have 1000") {
			t.Errorf("%s more is answered %s", name, m.raw)
		}
	}
	c.call(session, "Runtime.removeBinding", `{"name":"b1"}`)
	c.call(session, "Runtime.addBinding", `{"name":"more"}`)
}

func TestMoreClientsThanPermittedAreTurnedAway(t *testing.T) {
	var mu sync.Mutex
	var counts []int
	capability := grant(t, newEdge(), func(o *endpoint.GrantOptions) {
		o.Clients = 2
		o.Changed = func(n int) {
			mu.Lock()
			defer mu.Unlock()
			counts = append(counts, n)
		}
	})
	first, second := connect(t, capability.WS()), connect(t, capability.WS())
	first.call("", "Browser.getVersion", "{}")
	second.call("", "Browser.getVersion", "{}")
	_, answer, err := websocket.Dial(t.Context(), capability.WS(), nil)
	if err == nil || answer == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third client: %v", err)
	}
	if answer != nil && answer.Body != nil {
		_ = answer.Body.Close()
	}
	capability.Revoke()
	if got := first.closed(); got != websocket.StatusGoingAway {
		t.Errorf("closed with %d", got)
	}
	<-second.ended
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(counts) != "[1 2 1 0]" {
		t.Errorf("told %v", counts)
	}
}

func TestARevokedCapabilityLetsItsTabsGo(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	c := connect(t, capability.WS())
	c.attach("TARGETt1")
	capability.Revoke()
	if e.hold("t1") != nil {
		t.Error("the tab is held after Revoke")
	}
	<-c.ended
	select {
	case <-capability.Done():
	default:
		t.Error("not done")
	}
}

func TestTheEndOfTheBrowserEndsTheCapability(t *testing.T) {
	e := newEdge("t1")
	capability := grant(t, e)
	c := connect(t, capability.WS())
	c.attach("TARGETt1")
	close(e.done)
	if got := c.closed(); got != websocket.StatusGoingAway {
		t.Errorf("closed with %d", got)
	}
	<-capability.Done()
	if status, _ := fetch(t, capability, "/"+secretOf(capability)+"/json/version", nil); status != 404 {
		t.Errorf("its address answers %d", status)
	}
}

// account is a recorder that keeps what it is told, and fails from the n-th command on.
type account struct {
	mu    sync.Mutex
	list  []endpoint.Command
	fails int
}

func (a *account) Record(c endpoint.Command) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.Raw = append([]byte(nil), c.Raw...)
	a.list = append(a.list, c)
	if a.fails > 0 && len(a.list) >= a.fails {
		return errors.New("the disk is full")
	}
	return nil
}

func TestEachCommandIsRecordedBeforeItTakesEffect(t *testing.T) {
	e, book := newEdge("t1"), &account{}
	capability := grant(t, e, func(o *endpoint.GrantOptions) { o.Recorder = book })
	c := connect(t, capability.WS())
	session := c.attach("TARGETt1")
	c.call(session, "Page.navigate", `{"url":"https://a.example/"}`)
	if m := c.ask(session, "Never.mind", "{}"); m.Error == nil || !strings.HasPrefix(m.Error.Message, "Chaperone: Never.mind is not permitted") || m.Error.Code != -32000 {
		t.Errorf("a refused command is answered %s", m.raw)
	}
	c.write(`not json`)
	c.await("an answer to what cannot be read", func(m message) bool { return m.ID == nil && m.Error != nil })
	c.write(`{"id":77,"method":"Page.enable","sessionId":"0123"}`)
	if m := c.await("an answer", answers("77")); m.Error == nil || m.Error.Code != -32001 {
		t.Errorf("an unknown session is answered %s", m.raw)
	}
	story := make([]string, 0, len(book.list))
	for _, told := range book.list {
		story = append(story, fmt.Sprintf("%d %s %s %s writes=%v refused=%v %d", told.Client, told.Tab, told.URL, told.Method, told.Writes, told.Refused, len(told.Raw)))
	}
	want := []string{
		"1   Target.attachToTarget writes=false refused=false 89",
		"1 t1 https://t1.example/ Page.navigate writes=true refused=false 118",
		"1 t1 https://t1.example/ Never.mind writes=false refused=true 89",
		"1    writes=false refused=true 8",
		"1   Page.enable writes=false refused=true 51",
	}
	if strings.Join(story, "\n") != strings.Join(want, "\n") {
		t.Errorf("recorded:\n%s", strings.Join(story, "\n"))
	}
	if len(e.down("Never.mind")) > 0 {
		t.Error("a refused command went down")
	}
}

func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	e, book := newEdge("t1"), &account{fails: 2}
	capability := grant(t, e, func(o *endpoint.GrantOptions) { o.Recorder = book })
	c := connect(t, capability.WS())
	session := c.attach("TARGETt1")
	c.post(session, "Page.navigate", `{"url":"https://a.example/"}`)
	<-c.ended
	<-capability.Done()
	if len(e.down("Page.navigate")) > 0 {
		t.Error("an unrecorded command went down")
	}
	if status, _ := fetch(t, capability, "/"+secretOf(capability)+"/json/version", nil); status != 404 {
		t.Errorf("the capability still answers: %d", status)
	}
}
