package extension_test

import (
	"fmt"
	"strings"
	"testing"
)

// button puts a button into a page that runs a script when it is clicked.
func button(p *page, name, script string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`{
		const button = document.createElement('button');
		button.type = 'button';
		button.textContent = %q;
		button.onclick = () => { %s };
		document.body.prepend(button);
	}`, name, script))
}

// unasked evaluates a script as the page's own, without the person's touch that eval is to the page.
func (p *page) unasked(script string) any {
	p.t.Helper()
	var got struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	p.must(p.session, "Runtime.evaluate", object{"expression": script}, &got)
	return got.Result.Value
}

// linger is a step that takes as long as the program may.
func linger(ms int) any {
	return object{"await": object{"run": "@has_text", "args": object{"text": "never there"}, "max_ms": ms}}
}

// during runs steps and does something else meanwhile; the answer is the program's.
func (s *sharing) during(steps []any, meanwhile func()) result {
	s.t.Helper()
	answered := make(chan result, 1)
	s.tab.unasked("document.title = 'waiting'")
	go func() { answered <- s.server.run("s_1", s.name, steps...) }()
	s.popup.until("chrome.debugger.getTargets().then(all => all.some(target => target.title === 'waiting' && target.attached))")
	meanwhile()
	return <-answered
}

func TestWindowsOfTabsThatAreNotSharedAreNotAdopted(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	own := s.open(s.site.URL + "/own")
	eventually(t, "a page that may open no window", func() bool { return s.tab.unasked("navigator.userActivation.isActive") == false })
	s.tab.unasked("setInterval(() => window.open('about:blank'), 100)") // asked for, and never given
	answer := s.during([]any{linger(4000)}, func() {
		for _, open := range []string{
			"document.querySelector('a[target]').click()", "window.open('about:blank'); 0",
			"window.open('/opened'); 0", "window.open('/apart', '_blank', 'noopener'); 0",
		} {
			own.eval(open)
		}
		s.popup.until("chrome.tabs.query({}).then(all => all.length === 8)") // the first one, three pages, four windows
	})
	if len(answer.Opened) != 0 {
		t.Errorf("opened tabs are %+v, want none: the person opened them", answer.Opened)
	}
	s.server.tabsUntil("one shared tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].ID == s.name })
}

// left tells whether a window or frame has left its blank page, be it for a page that its opener may not see.
const left = `(place => { try { return place.location.href !== 'about:blank' } catch { return true } })`

func TestWindowsOfAReadOnlyTabSendNoForm(t *testing.T) {
	t.Parallel()
	const submit = `const form = w.document.createElement('form');
		Object.assign(form, {method: 'post', action: '/written', target: TARGET});
		w.document.body.append(form);
		form.submit();`
	within := func(target string) string { return strings.Replace(submit, "TARGET", "'"+target+"'", 1) }
	frame := "w.document.body.innerHTML = '<iframe name=q></iframe>';" + within("q")
	cases := map[string]struct{ script, until string }{
		"at once":                {"window.w = window.open('about:blank');" + within(""), left + "(w)"},
		"a frame, at once":       {"window.w = window.open('about:blank');" + frame, left + "(w.frames[0])"},
		"a beacon, at once":      {"window.w = window.open('about:blank'); w.navigator.sendBeacon('/beacon', 'x'); fetch('/after').then(() => { window.sent = true })", "window.sent"},
		"a frame, afterwards":    {"window.w = window.open('about:blank'); setTimeout(() => {" + frame + "}, 500)", "w.frames.length > 0 && " + left + "(w.frames[0])"},
		"long after the program": {"setTimeout(() => { window.w = window.open('about:blank'); setTimeout(() => {" + within("") + "}, 7000) }, 2500)", "window.w && " + left + "(w)"},
	}
	s := newSharing(t, "read", "read")
	for sentence, attack := range cases {
		s.tab.goTo(s.site.URL + "/first")
		button(s.tab, "Attack", attack.script)
		s.server.must(s.name, click("button", "Attack")...)
		s.server.must(s.name, object{"run": "@state"})
		s.tab.until(attack.until)
		if writes := s.writes.Swap(0); writes != 0 {
			t.Errorf("%s: %d writes arrived, want none", sentence, writes)
		}
	}
}

func TestAWindowStaysHeldWhenItsOpenerIsGone(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	made := s.server.must("new", call("Page.navigate", object{"url": s.site.URL + "/made"}), object{"settle": object{"quiet_ms": 150, "max_ms": 5000}})
	tab := s.attach(s.target(func(info targetInfo) bool { return strings.HasSuffix(info.URL, "/made") }).ID)
	tab.eval("window.open('/window'); 0")
	w := s.attach(s.target(func(info targetInfo) bool { return strings.HasSuffix(info.URL, "/window") }).ID)
	w.until("document.getElementById('same') !== null")
	if done := s.server.ask(object{"t": "end", "session": "s_1"}, nil); done.T != "done" {
		t.Errorf("end is answered by %s, want done", done.T)
	}
	s.server.tabsUntil("no "+made.Tab, func(tabs []sharedTab) bool { return len(tabs) == 1 })
	w.eval("document.getElementById('same').submit()")
	w.until("location.protocol === 'chrome-error:'")
	if writes := s.writes.Load(); writes != 0 {
		t.Errorf("%d writes arrived, want none", writes)
	}
}

// openingRule is the rule that holds new tabs while an agent's input is fresh.
const openingRule = "chrome.declarativeNetRequest.getSessionRules().then(all => all.find(rule => rule.id === 2))"

func TestAPersonsOwnTabsSendFormsWhileAnAgentWorks(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	button(s.tab, "Nothing", "")
	answer := s.during(append(click("button", "Nothing"), linger(8000)), func() {
		own := s.open(s.site.URL + "/own")
		s.popup.until(openingRule + ".then(rule => Promise.all(rule.condition.excludedTabIds.map(id => chrome.tabs.get(id)))).then(all => all.some(tab => tab.url.endsWith('/own')))")
		own.eval("document.getElementById('same').submit()")
		own.until("location.pathname === '/written'")
	})
	if answer.Error == nil || answer.Error.Code != "timeout" {
		t.Errorf("the program is answered %+v, want timeout: it ran all the time", answer.Error)
	}
	if writes := s.writes.Load(); writes != 1 {
		t.Errorf("%d writes arrived, want the person's own one", writes)
	}
	s.popup.until(openingRule + ".then(rule => rule === undefined)")
	s.during([]any{linger(4000)}, func() {
		own := s.open(s.site.URL + "/own")
		own.eval("document.getElementById('new').submit()")
		s.target(func(info targetInfo) bool { return strings.HasSuffix(info.URL, "/written") && info.ID != own.target })
	})
	eventually(t, "the write in a new window", func() bool { return s.writes.Load() == 2 })
}

func TestAGroupOfThePersonsOwnStaysTheirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "read")
	w.server.name = "*"
	own := w.open(w.site.URL + "/own")
	popup := w.popup(own)
	const mine = "chrome.tabGroups.query({}).then(all => all.find(group => group.color === 'red'))"
	popup.eval(`chrome.tabs.group({tabIds: [Number(new URLSearchParams(location.search).get('tab'))]})
		.then(id => chrome.tabGroups.update(id, {title: 'Mine', color: 'red'}))`)
	w.pair(popup)
	for _, path := range []string{"/first", "/second"} {
		about := w.popup(w.open(w.site.URL + path))
		share(about, "read")
	}
	popup.until("chrome.tabGroups.query({color: 'blue'}).then(all => all.length === 1)")
	popup.until("chrome.tabGroups.query({color: 'blue'}).then(([group]) => chrome.tabs.query({groupId: group.id})).then(all => all.length === 2)")
	popup.until(mine + ".then(group => group.title === 'Mine' && chrome.tabs.query({groupId: group.id})).then(all => all.length === 1)")
}

func TestAFrameOfTheServerInASharedPageIsNotRead(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	for _, source := range []string{s.server.http.URL, strings.Replace(s.server.http.URL, "127.0.0.1", "localhost", 1), s.site.URL + "/inner"} {
		s.tab.eval(fmt.Sprintf("new Promise(done => { const frame = document.createElement('iframe'); frame.onload = done; frame.src = %q; document.body.append(frame) }).then(() => 0)", source))
	}
	answer := s.server.must(s.name, object{"run": "@snapshot", "args": object{"budget": 4000}, "each_frame": true})
	got := string(answer.Steps[0])
	if strings.Contains(got, "Only for the person") || strings.Count(got, `"doc"`) != 2 || !strings.Contains(got, "Page /inner") {
		t.Errorf("snapshot is %s, want the page and /inner alone", got)
	}
}
