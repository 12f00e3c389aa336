package e2e_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"chaperone/demo"
)

// hiding is a tab that nobody sees: the shared one, and the still page that the person looks at instead.
type hiding struct {
	*road
	at    string
	front *demo.Page
}

// throttled makes Chrome do after a second what it does to a tab that was hidden for five minutes: timers run once a minute.
const throttled = "--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/1"

// TestATabThatNobodySeesIsDrivenAndTakesNoFocus holds in a browser that throttles as a person's own does: no switch turns that off.
func TestATabThatNobodySeesIsDrivenAndTakesNoFocus(t *testing.T) {
	h := hide(t, demo.PersonOptions{Display: display(t), Flags: []string{throttled}})
	for _, way := range []struct {
		name string
		hide func(*hiding)
	}{
		{"behind another tab", (*hiding).behindATab},
		{"behind another window", (*hiding).behindAWindow},
		{"in a minimised window", (*hiding).minimised},
	} {
		t.Run(way.name, func(t *testing.T) {
			whole := h.t
			h.t = t
			t.Cleanup(func() { h.t = whole })
			way.hide(h)
			h.letGo()
			h.unseen(h.everyAction)
		})
	}
}

// display runs an X server of the test's own.
func display(t *testing.T) string {
	t.Helper()
	read, write, err := os.Pipe()
	check(t, err)
	defer func() { _ = read.Close() }()
	server := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1400x1000x24", "-nolisten", "tcp") //nolint:noctx // ended below
	server.ExtraFiles = []*os.File{write}
	if err := server.Start(); err != nil {
		t.Fatalf("start Xvfb, which scripts/setup installs: %v", err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	check(t, write.Close())
	number, err := bufio.NewReader(read).ReadString('\n')
	check(t, err)
	number = ":" + strings.TrimSpace(number)
	manager := exec.Command("openbox", "--sm-disable") //nolint:noctx // ended below
	manager.Env = append(os.Environ(), "DISPLAY="+number)
	check(t, manager.Start())
	t.Cleanup(func() { _ = manager.Process.Kill(); _ = manager.Wait() })
	return number
}

func hide(t *testing.T, options demo.PersonOptions) *hiding {
	t.Helper()
	pages := httptest.NewServer(http.HandlerFunc(serveHidden))
	t.Cleanup(pages.Close)
	h := &hiding{road: &road{served: serve(t)}, at: pages.URL}
	h.policy("interactive")
	h.person = arrive(t, options)
	var err error
	h.page, err = h.person.Visit(t.Context(), h.at+"/hidden")
	check(t, err)
	check(t, h.person.Pair(t.Context(), h.code()))
	check(t, h.person.Share(t.Context(), h.page, "act"))
	h.session = h.served.session("shared")
	return h
}

func serveHidden(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body := hiddenPage
	switch r.URL.Path {
	case "/front":
		body = frontPage
	case "/other":
		body = `<title>Other</title><h1>Other</h1>`
	}
	_, _ = fmt.Fprint(w, "<!doctype html>"+body)
}

const frontPage = `<title>Front</title><h1>A still page</h1><input id="mine" autofocus>
<script>
window.seen = [];
window.away = [];
for (const name of ['keydown', 'input', 'mousedown', 'visibilitychange', 'resize']) addEventListener(name, e => seen.push(e.type), true);
let left;
addEventListener('blur', e => { if (e.target === window) left = performance.now() });
addEventListener('focus', e => { if (e.target === window) away.push(performance.now() - left) });
</script>`

const hiddenPage = `<title>Hidden</title><h1>Hidden</h1>
<button type="button" onclick="n.textContent = 'clicked ' + (++window.clicks)">Count</button><output id="n"></output>
<label>Name <input id="name"></label> <output id="keys"></output>
<label>Sort <select id="sort" onchange="sorted.textContent = 'sorted by ' + value"><option>none</option><option>name</option></select></label><output id="sorted"></output>
<button type="button" onclick="setTimeout(() => late.textContent = 'timer ' + (++window.timers), 300)">Later</button><output id="late"></output>
<button type="button" onclick="requestAnimationFrame(() => requestAnimationFrame(() => drawn.textContent = 'drawn ' + (++window.frames_)))">Draw</button><output id="drawn"></output>
<a href="/other">Other</a>
<div style="height:4000px">tall</div><button type="button" onclick="f.textContent = 'far ' + (++window.fars)">Far down</button><output id="f"></output>
<script>window.clicks = window.timers = window.frames_ = window.fars = 0;
document.getElementById('name').onkeydown = e => keys.textContent += e.key + ' '</script>`

// behindATab puts a still page into the shared tab's window, in front of it.
func (h *hiding) behindATab() {
	var err error
	h.front, err = h.person.Visit(h.t.Context(), h.at+"/front")
	check(h.t, err)
	check(h.t, h.page.Wait(h.t.Context(), "document.visibilityState === 'hidden'"))
}

// behindAWindow makes the shared tab the active one of a window that another covers.
func (h *hiding) behindAWindow() {
	h.visitInAWindow()
	h.inWorker(`chrome.tabs.query({url: '` + h.at + `/hidden'}).then(([tab]) => chrome.tabs.update(tab.id, {active: true}))`)
	check(h.t, h.page.Wait(h.t.Context(), "document.visibilityState === 'visible'"))
	h.focusFront()
}

func (h *hiding) minimised() {
	h.visitInAWindow()
	var window struct{ WindowID int }
	raw, err := h.page.Call(h.t.Context(), "Browser.getWindowForTarget", map[string]any{})
	check(h.t, err)
	decodeJSON(h.t, string(raw), &window)
	_, err = h.person.Browser().Call(h.t.Context(), "", "Browser.setWindowBounds",
		map[string]any{"windowId": window.WindowID, "bounds": map[string]any{"windowState": "minimized"}})
	check(h.t, err)
	h.await(func() bool { return strings.Contains(h.inWorker("chrome.windows.getAll()"), `"minimized"`) }, "the window to be minimised")
	h.focusFront()
}

// letGo lets the extension detach from the tab, as it does after an idle minute: Chrome then throttles what it hides.
func (h *hiding) letGo() {
	h.t.Helper()
	since := h.linkedSince()
	check(h.t, h.person.StopWorker(h.t.Context()))
	h.await(func() bool { return h.linkedSince() != since }, "the old link to end")
	h.awaitLink(1)
	var state string
	check(h.t, h.page.Do(h.t.Context(), "document.visibilityState", &state))
	if state == "visible" { // behind a window that does not hide it in Chrome's eyes
		return
	}
	ticks := func() (n int) {
		check(h.t, h.page.Do(h.t.Context(), "window.ticks", &n))
		return n
	}
	check(h.t, h.page.Do(h.t.Context(), "window.ticks = 0; setInterval(() => ticks++, 50)", nil))
	h.await(func() bool { // ten waits of 50 ms, and fewer ticks: the page's timers are late
		before := ticks()
		for range 10 {
			<-time.After(50 * time.Millisecond)
		}
		return ticks()-before < 2
	}, "the hidden tab to be throttled")
}

func (h *hiding) visitInAWindow() {
	h.t.Helper()
	check(h.t, h.front.Leave(h.t.Context()))
	var err error
	h.front, err = h.person.VisitInWindow(h.t.Context(), h.at+"/front")
	check(h.t, err)
}

func (h *hiding) focusFront() {
	h.t.Helper()
	h.inWorker(`chrome.tabs.query({url: '` + h.at + `/front'}).then(([tab]) => chrome.windows.update(tab.windowId, {focused: true}))`)
}

// inWorker evaluates in the extension, which sees windows and tabs.
func (h *hiding) inWorker(expression string) string {
	h.t.Helper()
	worker, err := h.person.Worker(h.t.Context())
	check(h.t, err)
	var got string
	check(h.t, worker.Do(h.t.Context(), "Promise.resolve("+expression+").then(value => JSON.stringify(value ?? null))", &got))
	return got
}

// unseen does something and wants all that the person sees to be as it was, and no key to have gone elsewhere. A press in
// the active tab of another window makes Chrome move the keyboard there: it is given back.
func (h *hiding) unseen(do func()) {
	h.t.Helper()
	check(h.t, h.front.Do(h.t.Context(), "document.getElementById('mine').focus(); away.length = seen.length = 0", nil))
	before := h.sight()
	do()
	if after := h.sight(); after != before {
		h.t.Errorf("the person saw\n%s and sees\n%s", before, after)
	}
	var away []float64
	check(h.t, h.front.Do(h.t.Context(), "away", &away))
	for _, ms := range away {
		if ms > 250 {
			h.t.Errorf("the keyboard was away for %.0f ms", ms)
		}
	}
	h.t.Logf("the keyboard was away for %v ms", away)
}

// sight is which windows and tabs are in front, where the keyboard is, and what happened to the page in front.
func (h *hiding) sight() string {
	h.t.Helper()
	windows := h.inWorker(`chrome.windows.getAll({populate: true}).then(all => all.map(w =>
		[w.id, w.focused, w.state, w.tabs.map(t => [t.id, t.active, t.index])]))`)
	var page string
	check(h.t, h.front.Do(h.t.Context(), "JSON.stringify([document.activeElement.id, document.hasFocus(), document.visibilityState, mine.value, seen])", &page))
	return windows + " " + page
}

// everyAction acts in the hidden tab and believes the page alone about what came of it.
func (h *hiding) everyAction() {
	h.do(action{"action": "open", "url": h.at + "/hidden"})
	h.lands(h.clickNamed("button", "Count"), "n", "clicked 1")
	h.lands(h.do(action{"action": "fill", "role": "textbox", "name": "Name", "text": "Ana"}), "", "Ana")
	h.lands(h.do(action{"action": "type", "text": "!"}), "", "Ana!")
	h.lands(h.do(action{"action": "press", "keys": "Tab"}), "keys", "! Tab ")
	h.lands(h.do(action{"action": "select", "role": "combobox", "name": "Sort", "values": []string{"name"}}), "sorted", "sorted by name")
	h.clickNamed("button", "Later")
	h.do(action{"action": "wait", "text": "timer 1"})
	h.clickNamed("button", "Draw")
	h.do(action{"action": "wait", "text": "drawn 1"})
	h.do(action{"action": "scroll", "direction": "down"})
	h.lands(h.clickNamed("button", "Far down"), "f", "far 1")
	h.do(action{"action": "screenshot"})
	if other := h.clickNamed("link", "Other"); other.Title != "Other" {
		h.t.Errorf("the link led to %q", other.Title)
	}
	if back := h.do(action{"action": "back"}); back.Title != "Hidden" {
		h.t.Errorf("back led to %q", back.Title)
	}
}

// lands holds an answer to what the page itself shows in an output, or in its text field.
func (h *hiding) lands(answer demo.Answer, output, want string) {
	h.t.Helper()
	expression := "document.getElementById('name').value"
	if output != "" {
		expression = "document.getElementById('" + output + "').textContent"
	}
	var got string
	check(h.t, h.page.Do(h.t.Context(), expression, &got))
	if got != want {
		h.t.Errorf("the page shows %q, want %q; landed is %v", got, want, answer.Landed)
	}
}
