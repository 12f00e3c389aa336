package extension_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	bundling "chaperone/packager/bundle"
)

// world is a browser with the extension, a server it can be paired with, and a site to share tabs of.
type world struct {
	*browser
	server *server
	site   *httptest.Server
	writes atomic.Int64
}

var bundled = sync.OnceValues(func() (bundling.Files, error) { return bundling.Extension("..") })

func newWorld(t *testing.T, ceiling string) *world {
	t.Helper()
	return newWorldWith(t, ceiling)
}

// newWorldWith is newWorld with other extensions beside ours.
func newWorldWith(t *testing.T, ceiling string, others ...string) *world {
	t.Helper()
	files, err := bundled()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := files.Write(folder); err != nil {
		t.Fatal(err)
	}
	w := &world{server: startServer(t, ceiling)}
	w.site = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.site.Close)
	w.browser = startBrowser(t, strings.Join(append(others, folder), ","))
	w.worker()
	return w
}

// serve is a site whose pages try to write, and which counts the writes that arrive.
func (w *world) serve(out http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.writes.Add(1)
	}
	if r.URL.Path == "/elsewhere" {
		http.Redirect(out, r, w.server.http.URL+"/dashboard", http.StatusFound)
		return
	}
	if w.special(out, r) {
		return
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(out, `<!doctype html><title>Page %[1]s</title><h1>Page %[1]s</h1>
<p><a href="/next">Next page</a></p>
<p><a href="/window" target="_blank">New window</a></p>
<p><a href="/elsewhere">Elsewhere</a></p>
<form id="same" method="post" action="/written"><input name="a" value="b" aria-label="Name"><button>Send</button></form>
<form id="new" method="post" action="/written" target="_blank"></form>
<p><button type="button" onclick="document.getElementById('new').submit()">Write in a new window</button></p>`, r.URL.Path)
}

// popup opens the popup as a page that is about one tab.
func (w *world) popup(about *page) *page {
	w.t.Helper()
	p := w.open("chrome-extension://" + extensionID + "/popup.html")
	find := fmt.Sprintf("chrome.tabs.query({}).then(all => all.find(t => t.url === %q).id)", about.eval("location.href"))
	p.goTo(fmt.Sprintf("chrome-extension://%s/popup.html?tab=%.0f", extensionID, p.eval(find)))
	return p
}

// realPopup opens the popup as Chrome's toolbar does, over a tab; helper is a popup in a tab of its own.
func (w *world) realPopup(tab, helper *page) *page {
	w.t.Helper()
	tab.must("", "Target.activateTarget", object{"targetId": tab.target}, nil)
	helper.eval("chrome.action.openPopup()")
	return w.attach(w.target(func(info targetInfo) bool {
		return info.ID != helper.target && strings.HasSuffix(info.URL, "/popup.html")
	}).ID)
}

// pair pastes the connection code and waits until the popup says that it is connected.
func (w *world) pair(popup *page) {
	w.t.Helper()
	popup.until("!document.querySelector('#connecting').hidden")
	popup.eval(fmt.Sprintf("document.querySelector('#code').value = %q; document.querySelector('#connect').click()", w.server.code()))
	popup.until("document.querySelector('#status').textContent === 'Connected'")
}

func share(popup *page, level string) {
	popup.t.Helper()
	popup.until("!document.querySelector('#share').hidden")
	popup.eval("document.querySelector('#level-" + level + "').click(); document.querySelector('#share').click()")
	popup.until("!document.querySelector('#unshare').hidden")
}

// sharing is a paired world with one tab shared.
type sharing struct {
	*world
	tab   *page
	popup *page
	name  string
}

func newSharing(t *testing.T, ceiling, level string) *sharing {
	t.Helper()
	return sharingOf(newWorld(t, ceiling), level)
}

func sharingOf(w *world, level string) *sharing {
	w.t.Helper()
	s := &sharing{world: w, tab: w.open(w.site.URL + "/first")}
	s.popup = w.popup(s.tab)
	w.pair(s.popup)
	share(s.popup, level)
	s.name = w.server.tabsUntil("one shared tab", func(tabs []sharedTab) bool { return len(tabs) == 1 })[0].ID
	return s
}

type object = map[string]any

func call(method string, params object) object { return object{"call": method, "params": params} }

// click is the program of a click, as the server sends it.
func click(role, name string) []any {
	mouse := func(kind string, more object) object {
		params := object{"type": kind, "x": object{"$": "0.x"}, "y": object{"$": "0.y"}}
		maps.Copy(params, more)
		return call("Input.dispatchMouseEvent", params)
	}
	pressed := object{"button": "left", "clickCount": 1}
	return []any{
		object{"run": "@locate", "args": object{"target": object{"role": role, "name": name}}},
		mouse("mouseMoved", nil), mouse("mousePressed", pressed), mouse("mouseReleased", pressed),
		object{"settle": object{"quiet_ms": 150, "max_ms": 5000}},
	}
}

func noTab(tabs []sharedTab) bool { return len(tabs) == 0 }

func TestAPastedCodePairsAndTheServerIsToldOfSharedTabsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	popup.eval("document.querySelector('#code').value = 'hello'; document.querySelector('#connect').click()")
	popup.until("document.querySelector('#problem').textContent.includes('not a connection code')")
	w.pair(popup)
	w.server.tabsUntil("no tab", noTab)
	share(popup, "read")
	tabs := w.server.tabsUntil("one tab", func(tabs []sharedTab) bool { return len(tabs) == 1 })
	if tabs[0].Level != "read" || !strings.HasSuffix(tabs[0].URL, "/first") {
		t.Errorf("shared tab is %+v, want /first at level read", tabs[0])
	}
	popup.until("chrome.tabGroups.query({title: 'Invoices'}).then(all => all.length === 1)")
	popup.eval("document.querySelector('#level-act').click()")
	w.server.tabsUntil("level act", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Level == "act" })
	popup.eval("document.querySelector('#unshare').click()")
	w.server.tabsUntil("no tab any more", noTab)
	popup.eval("document.querySelector('#disconnect').click()")
	w.server.forgotten()
	popup.until("!document.querySelector('#connecting').hidden")
}

func TestDraggingATabOutOfTheGroupUnsharesIt(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	s.popup.until("chrome.tabGroups.query({title: 'Invoices'}).then(all => all.length === 1)")
	s.popup.eval("chrome.tabs.ungroup([Number(new URLSearchParams(location.search).get('tab'))])")
	s.server.tabsUntil("no tab", noTab)
}

func TestProgramsRunInASharedTab(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	answer := s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 4000}, "each_frame": true})
	if got := string(answer.Steps[0]); !strings.Contains(got, "Next page") {
		t.Errorf("snapshot is %s, want the link in it", got)
	}
	s.server.must(s.name, click("link", "Next page")...)
	s.tab.until("location.pathname === '/next'")
	s.server.tabsUntil("the new address", func(tabs []sharedTab) bool {
		return len(tabs) == 1 && strings.HasSuffix(tabs[0].URL, "/next") && tabs[0].Session == "s_1"
	})
	if refused := s.server.run("s_2", s.name, object{"run": "@state"}); refused.Error == nil || refused.Error.Code != "forbidden" {
		t.Errorf("another session is answered %+v, want forbidden", refused)
	}
	picture := s.server.ask(object{"t": "cast", "session": "s_1", "options": object{
		"tab": s.name, "max_width": 320, "max_height": 240, "quality": 50, "fps": 4,
	}}, nil)
	if picture.T != "picture" || !strings.HasPrefix(string(picture.body), "/9j/") {
		t.Errorf("cast answers %s %.20s, want a JPEG in base64", picture.T, picture.body)
	}
}

func TestATabOpenedByAProgramIsTheSessionsAndGoesWithIt(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	answer := s.server.must(s.name, click("link", "New window")...)
	if len(answer.Opened) != 1 || answer.Opened[0].Opener != s.name || !answer.Opened[0].Made || answer.Opened[0].Level != "read" {
		t.Fatalf("opened tabs are %+v, want one of %s at level read", answer.Opened, s.name)
	}
	made := s.server.must("new", call("Page.navigate", object{"url": s.site.URL + "/made"}))
	if made.Tab == s.name || made.Tab == answer.Opened[0].ID {
		t.Errorf("new tab is called %s, which another tab is", made.Tab)
	}
	s.server.tabsUntil("three tabs", func(tabs []sharedTab) bool { return len(tabs) == 3 })
	if done := s.server.ask(object{"t": "end", "session": "s_1"}, nil); done.T != "done" {
		t.Errorf("end is answered by %s, want done", done.T)
	}
	left := s.server.tabsUntil("one tab", func(tabs []sharedTab) bool { return len(tabs) == 1 })
	if left[0].ID != s.name || left[0].Session != "" {
		t.Errorf("left is %+v, want %s without session", left[0], s.name)
	}
	s.popup.until("chrome.tabs.query({}).then(all => !all.some(t => /window|made/.test(t.url)))")

	s.popup.eval("document.querySelector('#may-open').click()")
	s.popup.until("!document.querySelector('#may-open').checked")
	if refused := s.server.run("s_2", "new", object{"run": "@state"}); refused.Error == nil || refused.Error.Code != "forbidden" {
		t.Errorf("new tab against the person's will is answered %+v, want forbidden", refused)
	}
}

func TestNothingBeyondTheGrantRuns(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	navigate := func(url string) []any { return []any{call("Page.navigate", object{"url": url})} }
	attacks := map[string]struct {
		steps []any
		codes []string
	}{
		"source in place of a name":  {[]any{object{"run": "document.title = 'owned'"}}, []string{"forbidden", "bad_request"}},
		"an unknown function":        {[]any{object{"run": "@cookies"}}, []string{"forbidden"}},
		"a function of act":          {[]any{object{"run": "@focus", "args": object{}}}, []string{"forbidden"}},
		"raw script":                 {[]any{call("Runtime.evaluate", object{"expression": "document.title = 'owned'"})}, []string{"forbidden"}},
		"a parameter that is script": {[]any{call("Page.reload", object{"scriptToEvaluateOnLoad": "document.title = 'owned'"})}, []string{"forbidden"}},
		"a click anywhere":           {[]any{call("Input.dispatchMouseEvent", object{"type": "mousePressed", "x": 50, "y": 100, "button": "left", "clickCount": 1})}, []string{"forbidden"}},
		"a key":                      {[]any{call("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "Enter"})}, []string{"forbidden"}},
		"typed text":                 {[]any{call("Input.insertText", object{"text": "x"})}, []string{"forbidden"}},
		"cookies":                    {[]any{call("Storage.getCookies", object{})}, []string{"forbidden"}},
		"interception":               {[]any{call("Fetch.enable", object{})}, []string{"forbidden"}},
		"a target of its own":        {[]any{call("Target.createTarget", object{"url": "https://example.com"})}, []string{"forbidden"}},
		"a step of no kind":          {[]any{object{"eval": "1"}}, []string{"bad_request"}},
		"a file":                     {navigate("file:///etc/passwd"), []string{"forbidden"}},
		"the extension's own page":   {navigate("chrome-extension://" + extensionID + "/popup.html"), []string{"forbidden"}},
		"a script as an address":     {navigate("javascript:document.title='owned'"), []string{"forbidden"}},
		"data as an address":         {navigate("data:text/html,x"), []string{"forbidden"}},
		"the source of a page":       {navigate("view-source:" + s.site.URL), []string{"forbidden"}},
		"the server's own pages":     {navigate(s.server.http.URL), []string{"forbidden"}},
		"the server by another name": {navigate(strings.Replace(s.server.http.URL, "127.0.0.1", "localhost", 1)), []string{"forbidden"}},
	}
	for sentence, attack := range attacks {
		for _, target := range []string{s.name, "new"} {
			answer := s.server.run("s_1", target, attack.steps...)
			if answer.Error == nil || !slices.Contains(attack.codes, answer.Error.Code) {
				t.Errorf("%s in tab %s is answered %+v, want %v", sentence, target, answer.Error, attack.codes)
			}
		}
	}
	if answer := s.server.run("s_1", "t999", object{"run": "@state"}); answer.Error == nil || answer.Error.Code != "tab_closed" {
		t.Errorf("a tab that is not shared is answered %+v, want tab_closed", answer)
	}
	if title := s.tab.eval("document.title"); title != "Page /first" {
		t.Errorf("title is %q, want that of the untouched page", title)
	}
}

func TestAReadOnlyTabSendsNoForm(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	refused := s.server.run("s_1", s.name, click("button", "Send")...)
	if refused.Error == nil || refused.Error.Code != "form_refused" {
		t.Errorf("a click on a form's button is answered %+v, want form_refused", refused.Error)
	}
	s.server.must(s.name, click("button", "Write in a new window")...)
	s.tab.eval("navigator.sendBeacon('/beacon', 'x')")
	s.tab.eval("document.getElementById('same').submit()")
	s.tab.until("location.protocol === 'chrome-error:'")
	if writes := s.writes.Load(); writes != 0 {
		t.Errorf("%d writes arrived, want none", writes)
	}
	s.popup.eval("document.querySelector('#unshare').click()")
	s.server.tabsUntil("the tab unshared", func(tabs []sharedTab) bool {
		return !slices.ContainsFunc(tabs, func(other sharedTab) bool { return other.ID == s.name })
	})
	s.tab.goTo(s.site.URL + "/first")
	s.tab.eval("document.getElementById('same').submit()")
	s.tab.until("location.pathname === '/written'")
	if writes := s.writes.Load(); writes != 1 {
		t.Errorf("%d writes arrived after the tab was unshared, want the person's own one", writes)
	}
}

func TestATabSleepsOnPagesOfNobodyAndWakes(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	s.server.must(s.name, object{"run": "@state"})
	for _, url := range []string{s.server.http.URL + "/", "chrome://version/"} {
		s.tab.goTo(url)
		s.server.tabsUntil("a sleeping tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended != "" })
		if answer := s.server.run("s_1", s.name, object{"run": "@state"}); answer.Error == nil || answer.Error.Code != "tab_suspended" {
			t.Errorf("a program on %s is answered %+v, want tab_suspended", url, answer)
		}
		s.tab.goTo(s.site.URL + "/back")
		s.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended == "" })
		s.server.must(s.name, object{"run": "@state"})
	}
}

func TestAPageThatLeadsToTheServerIsNotRead(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	for sentence, steps := range map[string][]any{
		"a redirect":       {call("Page.navigate", object{"url": s.site.URL + "/elsewhere"}), object{"settle": object{"quiet_ms": 100, "max_ms": 3000}}, object{"run": "@snapshot", "args": object{"budget": 4000}}},
		"a link, followed": append(click("link", "Elsewhere"), object{"run": "@snapshot", "args": object{"budget": 4000}}),
	} {
		answer := s.server.run("s_1", s.name, steps...)
		if answer.Error == nil || answer.Error.Code != "tab_suspended" || len(answer.Steps) > 0 {
			t.Errorf("%s to the server's own page is answered %+v, want tab_suspended and no step's result", sentence, answer)
		}
		s.tab.goTo(s.site.URL + "/first")
		s.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended == "" })
	}
}

func TestALevelLoweredWhileAProgramRunsStopsIt(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	stopped := make(chan result, 1)
	go func() {
		defer close(stopped)
		stopped <- s.server.run("s_1", s.name,
			call("Page.navigate", object{"url": s.site.URL + "/begun"}),
			object{"await": object{"run": "@has_text", "args": object{"text": "never there"}, "max_ms": 14000}})
	}()
	s.tab.until("location.pathname === '/begun'")
	s.popup.eval("document.querySelector('#level-read').click()")
	if answer := <-stopped; answer.Error == nil || answer.Error.Code != "forbidden" {
		t.Errorf("the program is answered %+v, want forbidden", answer.Error)
	}
	key := call("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "a"})
	if answer := s.server.run("s_1", s.name, key); answer.Error == nil || answer.Error.Code != "forbidden" {
		t.Errorf("a key is answered %+v, want forbidden", answer.Error)
	}
}

func TestTheRealPopupIsAboutTheTabInFront(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	helper := w.popup(tab)
	w.pair(helper)
	popup := w.realPopup(tab, helper)
	popup.until("document.querySelector('#current-page')?.textContent.includes('Page /first')")
	share(popup, "read")
	w.server.tabsUntil("one tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && strings.HasSuffix(tabs[0].URL, "/first") })
}

func TestAStoppedWorkerComesBackWithTheSameGrants(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	s.server.must(s.name, object{"run": "@state"})
	before := s.server.tabsUntil("an owned tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Session == "s_1" })
	s.must("", "Target.closeTarget", object{"targetId": s.worker().ID}, nil)
	s.open("about:blank") // an event, for which Chrome starts the worker again
	s.server.linksUntil(2)
	after := s.server.tabsUntil("the same tab", func(tabs []sharedTab) bool { return len(tabs) == 1 })
	if after[0] != before[0] {
		t.Errorf("the tab is %+v after the stop, want %+v", after[0], before[0])
	}
	s.server.must(s.name, object{"run": "@state"})
	s.popup.until("document.querySelector('#status').textContent === 'Connected'")
}

func TestADisconnectStopsWhatRuns(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.must(s.name, object{"run": "@state"})
	s.popup.eval("document.querySelector('#disconnect').click()")
	s.server.forgotten()
	s.popup.until("chrome.debugger.attach({tabId: Number(new URLSearchParams(location.search).get('tab'))}, '1.3').then(() => true)")
	s.popup.until("chrome.storage.session.get('grants').then(got => got.grants.length === 0)")
	s.popup.until("chrome.declarativeNetRequest.getSessionRules().then(all => all.length === 0)")
}
