package endpoint_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"chaperone/relay/program"
)

func TestClientsOnOneTabShareItsHoldAndNothingElse(t *testing.T) {
	e := newEdge("t1")
	e.answer = func(s sent) (string, error, bool) {
		return `{"asked":` + s.params + `}`, nil, s.method == "Runtime.evaluate"
	}
	capability := grant(t, e)
	a, b := connect(t, capability.WS()), connect(t, capability.WS())
	inA, inB := a.attach("TARGETt1"), b.attach("TARGETt1")
	again := a.attach("TARGETt1")
	if e.held != 1 {
		t.Errorf("held %d times", e.held)
	}
	if inA == inB || inA == again {
		t.Error("two attachments have one session id")
	}
	sameIDs(t, a, inA, b, inB)
	if m := b.ask(inA, "Runtime.evaluate", "{}"); m.Error == nil || m.Error.Code != -32001 {
		t.Errorf("a session of another client is answered %s", m.raw)
	}
	for _, m := range b.all(func(message) bool { return true }) {
		if strings.Contains(m.raw, inA) {
			t.Errorf("b heard of a's session: %s", m.raw)
		}
	}
	a.call("", "Browser.close", "{}")
	if got := a.closed(); got != 1000 {
		t.Errorf("closed with %d", got)
	}
	b.call(inB, "Runtime.evaluate", "{}")
	if e.hold("t1") == nil {
		t.Error("the tab was let go while a client uses it")
	}
}

// sameIDs sends the same ids by both clients, among them numbers that only text keeps.
func sameIDs(t *testing.T, a *client, inA string, b *client, inB string) {
	t.Helper()
	for _, id := range []string{"1000", "0", "-7", "9007199254740993"} {
		a.write(`{"id":` + id + `,"method":"Runtime.evaluate","params":{"of":"a` + id + `"},"sessionId":"` + inA + `"}`)
		b.write(`{"id":` + id + `,"method":"Runtime.evaluate","params":{"of":"b` + id + `"},"sessionId":"` + inB + `"}`)
		fits := func(m message) bool { return string(m.ID) == id && m.Result != nil }
		if got := string(a.await("a's answer", fits).Result); got != `{"asked":{"of":"a`+id+`"}}` {
			t.Errorf("a heard %s", got)
		}
		if got := string(b.await("b's answer", fits).Result); got != `{"asked":{"of":"b`+id+`"}}` {
			t.Errorf("b heard %s", got)
		}
	}
}

func TestManyWhoAttachAtOnceShareOneHold(t *testing.T) {
	e := newEdge("t1")
	gate := make(chan struct{})
	e.holding = func(context.Context, string) error { <-gate; return nil }
	capability := grant(t, e)
	clients := make([]*client, 8)
	for i := range clients {
		clients[i] = connect(t, capability.WS())
		clients[i].post("", "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`)
		clients[i].call("", "Browser.getVersion", "{}") // the wait keeps nothing else back
	}
	close(gate)
	seen := map[string]bool{}
	for _, c := range clients {
		session := pick(t, c.await("an answer", answers("1")).Result, "sessionId")
		c.call(session, "Page.enable", "{}")
		seen[session] = true
	}
	if len(seen) != len(clients) || e.held != 1 {
		t.Errorf("%d sessions, %d holds", len(seen), e.held)
	}
}

func TestATabIsHeldAnewWhenItIsWantedAgain(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	for i := range 20 {
		session := c.attach("TARGETt1")
		c.call(session, "Page.enable", "{}")
		c.post("", "Target.detachFromTarget", `{"sessionId":"`+session+`"}`)
		if got := len(e.down("Page.enable")); got != i+1 {
			t.Fatalf("round %d: enabled %d times", i, got)
		}
	}
}

func TestATabThatCannotBeHeldIsSaidSo(t *testing.T) {
	e := newEdge("t1")
	e.holding = func(context.Context, string) error {
		return &program.Error{Code: "tab_suspended", Message: "the page is one of Chrome's own"}
	}
	c := connect(t, grant(t, e).WS())
	m := c.ask("", "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`)
	if m.Error == nil || m.Error.Message != "Chaperone: the page is one of Chrome's own (tab_suspended)" {
		t.Errorf("answered %s", m.raw)
	}
}

func TestWhatIsAnsweredWithoutABrowser(t *testing.T) {
	e := newEdge("t1")
	e.tabs[0].Made = false
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	for name, test := range map[string]struct{ session, method, params, want string }{
		"downloads have no folder":          {"", "Browser.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/tmp"}`, `{}`},
		"the browser's own target":          {"", "Target.getTargetInfo", `{}`, `"type":"browser"`},
		"the page's target in its session":  {session, "Target.getTargetInfo", `{}`, `"targetId":"TARGETt1"`},
		"a target that is not there":        {"", "Target.getTargetInfo", `{"targetId":"X"}`, `-32602`},
		"no flat session":                   {"", "Target.attachToTarget", `{"targetId":"TARGETt1"}`, `flatten: true`},
		"auto-attach that is not flat":      {"", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true}`, `flatten: true`},
		"contexts":                          {"", "Target.getBrowserContexts", `{}`, `"browserContextIds":[]`},
		"a new context":                     {"", "Target.createBrowserContext", `{}`, `there is one browser context`},
		"a tab in another context":          {"", "Target.createTarget", `{"url":"about:blank","browserContextId":"X"}`, `browser context with id X"`},
		"a tab at what may not be opened":   {"", "Target.createTarget", `{"url":"about:blank","browserContextId":3}`, `-32602`},
		"the front":                         {"", "Target.activateTarget", `{"targetId":"TARGETt1"}`, `{}`},
		"the page's front":                  {session, "Page.bringToFront", `{}`, `{}`},
		"focus":                             {session, "Emulation.setFocusEmulationEnabled", `{"enabled":false}`, `{}`},
		"going on where nothing waits":      {session, "Runtime.runIfWaitingForDebugger", `{}`, `{}`},
		"the person's own page is closed":   {session, "Page.close", `{}`, `forbidden`},
		"the person's own tab is closed":    {"", "Target.closeTarget", `{"targetId":"TARGETt1"}`, `forbidden`},
		"a target that is not there closed": {"", "Target.closeTarget", `{"targetId":"X"}`, `-32602`},
		"what nobody knows":                 {"", "Browser.crash", `{}`, `Browser.crash is for the session of a page`},
		"a page's method at the top":        {"", "Page.navigate", `{"url":"https://x/"}`, `Page.navigate is for the session of a page`},
		"what is never permitted":           {"", "Never.do", `{}`, `Never.do is not permitted at any level`},
		"a stream of the browser's":         {session, "IO.read", `{"handle":"1"}`, `IO.read is`},
		"no session of that name":           {"", "Target.detachFromTarget", `{"sessionId":"X"}`, `No session with given id`},
	} {
		t.Run(name, func(t *testing.T) {
			if m := c.ask(test.session, test.method, test.params); !strings.Contains(m.raw, test.want) {
				t.Errorf("answered %s, want %s", m.raw, test.want)
			}
		})
	}
	for _, method := range []string{"Page.bringToFront", "Emulation.setFocusEmulationEnabled", "Runtime.runIfWaitingForDebugger", "Page.close"} {
		if len(e.down(method)) > 0 {
			t.Errorf("%s went down", method)
		}
	}
	c.call(session, "Emulation.setGeolocationOverride", `{"latitude":0,"longitude":0,"accuracy":0}`)
	c.call(session, "Emulation.setGeolocationOverride", `{}`)
	if len(e.down("Emulation.setGeolocationOverride")) > 0 {
		t.Error("the place that is none went down")
	}
	c.call(session, "Emulation.setGeolocationOverride", `{"latitude":0,"longitude":0,"accuracy":1}`)
	if len(e.down("Emulation.setGeolocationOverride")) != 1 {
		t.Error("a place was not left to the judge")
	}
}

func TestTheBrowsersOwnUserAgentIsNoOverride(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	own := c.call("", "Browser.getVersion", "{}", "userAgent")
	for params, goesDown := range map[string]bool{
		`{"userAgent":"` + own + `"}`:                      false,
		`{"userAgent":"` + own + `","platform":"Windows"}`: true,
		`{"userAgent":"another"}`:                          true,
	} {
		n := e.count()
		c.call(session, "Network.setUserAgentOverride", params)
		if got := e.count() > n; got != goesDown {
			t.Errorf("%s: left to the judge: %v", params, got)
		}
	}
}

func TestABrowsersSessionHearsOfWhatIsAttachedInIt(t *testing.T) {
	c := connect(t, grant(t, newEdge("t1")).WS())
	browser := c.call("", "Target.attachToBrowserTarget", "{}", "sessionId")
	if got := c.ask(browser, "Target.getTargets", "{}"); got.Session != browser || got.Error != nil {
		t.Errorf("the browser's session answers %s", got.raw)
	}
	session := c.call(browser, "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`, "sessionId")
	if got := c.all(event("Target.attachedToTarget")); len(got) != 1 || got[0].Session != browser {
		t.Errorf("told %v", got)
	}
	below := c.call(session, "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`, "sessionId")
	if got := c.all(event("Target.attachedToTarget")); len(got) != 2 || got[1].Session != session {
		t.Errorf("told %v", got)
	}
	c.call("", "Target.detachFromTarget", `{"sessionId":"`+browser+`"}`)
	c.await("what is below goes", func(m message) bool {
		return m.Method == "Target.detachedFromTarget" && m.Session == session && strings.Contains(string(m.Params), below)
	})
	c.await("what was attached in it goes", eventIn(browser, "Target.detachedFromTarget"))
	if m := c.ask(browser, "Target.getTargets", "{}"); m.Error == nil {
		t.Error("a session that ended answers")
	}
}

func TestMessagesThatAreNoCommandsAreAnswered(t *testing.T) {
	c := connect(t, grant(t, newEdge()).WS())
	for _, text := range []string{`{}`, `[]`, `"x"`, `{"id":1}`, `{"method":"a.b"}`, `{"id":"1","method":"a.b"}`, `{"id":1,"method":"a","params":[]}`, `{"id":1,"id":2,"method":"a"}`, "{\"id\":1,\"method\":\"\x00\"}"} {
		n := c.count()
		c.write(text)
		if m := c.awaitAfter(n, "an answer to "+text, func(message) bool { return true }); m.Error == nil {
			t.Errorf("%s is answered %s", text, m.raw)
		}
	}
}

// playwright is what playwright-core asks for at the browser's level.
const attachToPages = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`

func TestAutoAttachTellsOfTabsBeforeItIsAnsweredAndOfEachOnce(t *testing.T) {
	e := newEdge("t1", "t2")
	c := connect(t, grant(t, e).WS())
	answer := c.ask("", "Target.setAutoAttach", attachToPages)
	if got := len(c.all(event("Target.attachedToTarget"))); got != 2 || answer.Error != nil {
		t.Fatalf("told of %d tabs before the answer %s", got, answer.raw)
	}
	target := c.call("", "Target.createTarget", `{"url":"https://new.example/"}`, "targetId")
	all := c.all(func(message) bool { return true })
	told := slices.IndexFunc(all, func(m message) bool {
		return m.Method == "Target.attachedToTarget" && strings.Contains(m.raw, target)
	})
	replied := slices.IndexFunc(all, func(m message) bool { return m.Result != nil && strings.Contains(m.raw, target) })
	if told < 0 || told > replied {
		t.Errorf("told at %d, replied at %d", told, replied)
	}
	e.await(t, "the page is navigated", func() bool { return len(e.down("Page.navigate")) == 1 })
	e.change(func() { e.tabs[0].Title = "another" })
	c.call("", "Target.setAutoAttach", attachToPages)
	if got := len(c.all(event("Target.attachedToTarget"))); got != 3 {
		t.Errorf("told of %d tabs", got)
	}
	for _, m := range c.all(event("Target.attachedToTarget")) {
		if !strings.Contains(m.raw, `"browserContextId":"`) || !strings.Contains(m.raw, `"waitingForDebugger":false`) {
			t.Errorf("told %s", m.raw)
		}
	}
	c.call("", "Target.closeTarget", `{"targetId":"`+target+`"}`)
	gone := c.await("it is detached", event("Target.detachedFromTarget"))
	if !strings.Contains(gone.raw, target) {
		t.Errorf("told %s", gone.raw)
	}
}

func TestOneBadTabDoesNotKeepTheOthersFromBeingListed(t *testing.T) {
	e := newEdge("t1", "t2", "t3")
	e.holding = func(_ context.Context, tab string) error {
		if tab == "t2" {
			return errors.New("it does not answer")
		}
		return nil
	}
	c := connect(t, grant(t, e).WS())
	c.call("", "Target.setAutoAttach", attachToPages)
	if got := len(c.all(event("Target.attachedToTarget"))); got != 2 {
		t.Errorf("told of %d tabs", got)
	}
}

func TestPuppeteersTabsHavePagesBelowThem(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	c.call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`)
	if got := c.all(event("Target.targetCreated")); len(got) != 2 || !strings.Contains(got[0].raw, `"type":"tab"`) {
		t.Errorf("discovered %v", got)
	}
	filter := `"filter":[{"type":"page","exclude":true},{}]`
	c.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,`+filter+`}`)
	tab := c.await("the tab", event("Target.attachedToTarget"))
	session := pick(t, tab.Params, "sessionId")
	if tab.Session != "" || pick(t, tab.Params, "targetInfo", "type") != "tab" {
		t.Fatalf("attached to %s", tab.raw)
	}
	c.call(session, "Target.setAutoAttach", attachToPages)
	page := c.await("the page", eventIn(session, "Target.attachedToTarget"))
	if pick(t, page.Params, "targetInfo", "targetId") != "TARGETt1" {
		t.Errorf("below the tab is %s", page.raw)
	}
	c.call(session, "Runtime.runIfWaitingForDebugger", "{}")
	if m := c.ask(session, "Page.enable", "{}"); m.Error == nil {
		t.Error("a tab is no page")
	}
	c.call(pick(t, page.Params, "sessionId"), "Page.enable", "{}")
	e.change(func() { e.tabs = nil })
	c.await("the page is detached", eventIn(session, "Target.detachedFromTarget"))
	c.await("the tab is detached", eventIn("", "Target.detachedFromTarget"))
	c.await("the tab is destroyed", func(m message) bool {
		return m.Method == "Target.targetDestroyed" && strings.Contains(m.raw, pick(t, tab.Params, "targetInfo", "targetId"))
	})
}

func TestTabsThatClientsMayNotSee(t *testing.T) {
	e := newEdge("t1", "t2", "t3", "t4", "t5")
	e.tabs[0].Level = program.LevelRead
	e.tabs[1].Target = ""
	e.tabs[2].Suspended = "a page of Chrome's own"
	e.tabs[3].URL, e.tabs[3].Opener = "", "t5" // a popup that has no address yet
	c := connect(t, grant(t, e).WS())
	c.call("", "Target.setDiscoverTargets", `{"discover":true}`)
	c.call("", "Target.setAutoAttach", attachToPages)
	if got := c.all(event("Target.attachedToTarget")); len(got) != 1 || !strings.Contains(got[0].raw, "TARGETt5") {
		t.Fatalf("attached to %v", got)
	}
	e.change(func() { e.tabs[3].URL = "https://popup.example/" })
	popup := c.await("the popup", func(m message) bool {
		return m.Method == "Target.attachedToTarget" && strings.Contains(m.raw, "TARGETt4")
	})
	if pick(t, popup.Params, "targetInfo", "openerId") != "TARGETt5" {
		t.Errorf("the popup is %s", popup.raw)
	}
	e.change(func() { e.tabs[4].Level = program.LevelRead })
	c.await("a lowered tab is gone", func(m message) bool {
		return m.Method == "Target.targetDestroyed" && strings.Contains(m.raw, "TARGETt5")
	})
	if got := c.ask("", "Target.attachToTarget", `{"targetId":"TARGETt1","flatten":true}`); got.Error == nil {
		t.Error("a tab at level read is attached to")
	}
	if e.hold("t1") != nil {
		t.Error("a tab at level read is held")
	}
}

func TestEachDiscoveryHearsInItsOwnSession(t *testing.T) {
	e := newEdge("t1")
	c := connect(t, grant(t, e).WS())
	session := c.attach("TARGETt1")
	c.call(session, "Target.setDiscoverTargets", `{"discover":true}`)
	e.change(func() {
		popup := page("t2")
		popup.Opener = "t1"
		e.tabs = append(e.tabs, popup)
	})
	made := c.await("the popup", func(m message) bool {
		return m.Method == "Target.targetCreated" && strings.Contains(m.raw, "TARGETt2")
	})
	if made.Session != session || pick(t, made.Params, "targetInfo", "openerId") != "TARGETt1" {
		t.Errorf("told %s", made.raw)
	}
	e.change(func() { e.tabs[1].Title = "another" })
	c.await("its title", func(m message) bool {
		return m.Method == "Target.targetInfoChanged" && strings.Contains(m.raw, "another")
	})
}
