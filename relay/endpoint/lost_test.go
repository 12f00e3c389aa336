package endpoint_test

import (
	"slices"
	"testing"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// lost breaks the connection to the tab's browser.
func (h *held) lost() {
	h.now(func() {
		h.sink.Asleep(&program.Error{Code: "not_connected", Message: "the connection to the browser is lost for now; this was not sent to it"})
	})
	endpoint.Hear(h.sink)
}

func TestACommandThatComesWhileTheBrowserIsLostWaitsForIt(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	c.call(session, "Network.enable", "{}")
	e.hold("t1").lost()
	n := e.count()
	first, second := c.post(session, "Runtime.evaluate", `{"expression":"1"}`), c.post(session, "Runtime.evaluate", `{"expression":"2"}`)
	c.call("", "Browser.getVersion", "{}")
	e.hold("t1").lost() // said anew, it changes nothing
	if got := e.since(n); len(got) > 0 {
		t.Fatalf("went down to a browser that is not there: %q", got)
	}
	e.hold("t1").reset("TARGETt1")
	for _, id := range []string{first, second} {
		if m := c.await("its answer", answers(id)); m.Error != nil {
			t.Errorf("answered %s", m.raw)
		}
	}
	want := []string{
		"Page.getFrameTree", "Network.enable {}", `Runtime.evaluate {"expression":"1"}`, `Runtime.evaluate {"expression":"2"}`,
	}
	if got := e.since(n); !slices.Equal(got, want) {
		t.Errorf("went down: %q", got)
	}
}

func TestAScriptThatIsAddedWhileTheBrowserIsLostIsThereOnce(t *testing.T) {
	e := newEdge("t1")
	e.answer = func(s sent) (string, error, bool) {
		return `{"identifier":"7"}`, nil, s.method == "Page.addScriptToEvaluateOnNewDocument"
	}
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	e.hold("t1").lost()
	id := c.post(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"1"}`)
	c.call("", "Browser.getVersion", "{}")
	e.hold("t1").reset("TARGETt1")
	name := pick(t, c.await("its answer", answers(id)).Result, "identifier")
	if got := len(e.down("Page.addScriptToEvaluateOnNewDocument")); got != 1 {
		t.Errorf("it went down %d times", got)
	}
	c.call(session, "Page.removeScriptToEvaluateOnNewDocument", `{"identifier":"`+name+`"}`)
	e.hold("t1").reset("TARGETt1")
	c.call(session, "Runtime.evaluate", "{}")
	if got := len(e.down("Page.addScriptToEvaluateOnNewDocument")); got != 1 {
		t.Errorf("a removed one went down")
	}
}

func TestWhatWaitsForALostBrowserEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(h *held)
		want string
	}{
		"with the reason, when the tab sleeps in the browser that came back": {
			(*held).asleep, "Chaperone: the page is one of Chrome's own (tab_suspended)",
		},
		"when the tab is gone": {
			func(h *held) {
				h.now(func() { h.sink.Gone(&program.Error{Code: "tab_closed", Message: "it is closed"}) })
			},
			"Chaperone: it is closed (tab_closed)",
		},
		"when the browser does not come back in time": {
			func(*held) {}, "Chaperone: the connection to the browser is lost for now; this was not sent to it (not_connected)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge("t1")
			c := connect(t, grant(t, e).WS())
			session := c.attach("TARGETt1")
			e.hold("t1").lost()
			n := e.count()
			waits := c.post(session, "Runtime.evaluate", `{}`)
			c.call("", "Browser.getVersion", "{}")
			test.end(e.hold("t1"))
			if m := c.await("its answer", answers(waits)); m.Error == nil || m.Error.Message != test.want {
				t.Errorf("answered %s, want %q", m.raw, test.want)
			}
			if got := e.since(n); len(got) > 0 {
				t.Errorf("went down: %q", got)
			}
		})
	}
}
