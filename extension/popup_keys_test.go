package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// key is what Chrome is told of a key that is pressed.
type key struct {
	code int
	text string
}

var keys = map[string]key{
	"Tab": {code: 9}, "Enter": {13, "\r"}, "Escape": {code: 27}, " ": {32, " "}, "ArrowLeft": {code: 37}, "ArrowRight": {code: 39},
	"ArrowDown": {code: 40},
}

// press presses a key as a person does; "Shift+" may stand before it.
func (p *page) press(name string) {
	p.t.Helper()
	name, shifted := strings.CutPrefix(name, "Shift+")
	modifiers := 0
	if shifted {
		modifiers = 8
	}
	k := keys[name]
	down := object{"type": "keyDown", "key": name, "windowsVirtualKeyCode": k.code, "text": k.text, "modifiers": modifiers}
	p.must(p.session, "Input.dispatchKeyEvent", down, nil)
	up := object{"type": "keyUp", "key": name, "windowsVirtualKeyCode": k.code, "modifiers": modifiers}
	p.must(p.session, "Input.dispatchKeyEvent", up, nil)
}

// focus names what has the focus, and how it shows.
const focus = `(e => e === document.body ? 'body' : (e.id || e.className || e.name + '-' + e.value || e.tagName)
	+ ([e, e.closest('.chip, .segments label')].some(f => f && getComputedStyle(f).outlineStyle !== 'none') ? '' : ' (unseen)'))(document.activeElement)`

// tabTo presses Tab until something that fits a selector has the focus.
func (p *page) tabTo(selector string) {
	p.t.Helper()
	var passed []any
	for range 60 {
		if p.eval(fmt.Sprintf("document.activeElement.matches(%q)", selector)) == true {
			return
		}
		p.press("Tab")
		passed = append(passed, p.eval(focus))
	}
	p.t.Fatalf("Tab never comes to %s, but to %v", selector, passed)
}

// click presses the left button in the middle of what fits a selector, once that stands still: a window that has just opened
// finds its size.
func (p *page) click(selector string) {
	p.t.Helper()
	var x, y float64
	at := fmt.Sprint(p.eval(fmt.Sprintf(`(async e => {
		for (let at = [], before; ; await new Promise(soon => setTimeout(soon, 100))) {
			e.scrollIntoView({block: 'nearest'});
			const r = e.getBoundingClientRect();
			[before, at] = [at, [r.x + r.width / 2, r.y + r.height / 2, innerWidth, innerHeight]];
			if (before.join() === at.join()) return at.join(' ');
		}
	})(document.querySelector(%q))`, selector)))
	if _, err := fmt.Sscan(at, &x, &y); err != nil {
		p.t.Fatalf("%s is at %s: %v", selector, at, err)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		event := object{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
		p.must(p.session, "Input.dispatchMouseEvent", event, nil)
	}
}

func withLevel(level string) func([]sharedTab) bool {
	return func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Level == level }
}

func TestThePopupIsUsedByKeysAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	popup := w.popup(w.open(w.site.URL + "/first"))
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.until("document.activeElement.id === 'code'")
	popup.must(popup.session, "Input.insertText", object{"text": w.server.code()}, nil)
	popup.press("Enter")
	popup.until(connected)

	popup.tabTo("#level-read")
	popup.press("ArrowDown")
	popup.tabTo("#share")
	popup.press("Enter")
	w.server.tabsUntil("a tab to act in", withLevel("act"))
	popup.until("document.querySelector('#said').textContent.includes('is shared. Agents may act.')")
	popup.until("document.activeElement.closest('#current') !== null")
	popup.press("ArrowLeft")
	popup.tabTo("#level-act")
	popup.press("ArrowLeft")
	w.server.tabsUntil("a tab to read", withLevel("read"))
	popup.tabTo("#unshare")
	popup.press(" ")
	w.server.tabsUntil("no tab", noTab)
	popup.until("document.activeElement.closest('#current') !== null")

	shareAs(popup, w.open(w.site.URL+"/second"), keyOf(w.server), "read")
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.until("document.querySelectorAll('#tabs li').length === 1")
	popup.tabTo("#tabs input:checked")
	popup.press("ArrowRight")
	w.server.tabsUntil("a tab of the list to act in", withLevel("act"))
	popup.until("document.activeElement.matches('#tabs input:checked[value=act]')")
	popup.tabTo("#may-open")
	popup.press(" ")
	popup.until("!document.querySelector('#may-open').checked")
	popup.tabTo("#tabs [data-stop]")
	popup.press("Enter")
	w.server.tabsUntil("no tab", noTab)
	popup.until("document.activeElement.closest('#shared') !== null")

	popup.tabTo("#add")
	popup.press("Enter")
	popup.until("document.activeElement.id === 'code'")
	popup.press("Escape")
	popup.until("document.activeElement.id === 'add'")
	popup.tabTo("#disconnect")
	popup.press("Enter")
	w.server.forgotten()
	popup.until("document.activeElement.id === 'code'")
}

func TestAllIsDisconnectedOnlyOnceItIsSaidAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	popup := w.popup(w.open(w.site.URL + "/first"))
	w.pair(popup)
	other := w.another(popup, "Research")
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.until("document.querySelectorAll('.chip').length === 2")
	popup.tabTo(".chip input:checked")
	popup.press("ArrowRight")
	popup.until("document.activeElement.matches('.chip:last-child input:checked')")
	popup.until(fmt.Sprintf("document.querySelector('#server').textContent.startsWith(%q)", strings.TrimPrefix(other.http.URL, "http://")))
	popup.tabTo("#disconnect-all")
	popup.press("Enter")
	popup.until("document.activeElement.id === 'confirm-no'")
	popup.press("Escape")
	popup.until("document.activeElement.id === 'disconnect-all' && document.querySelector('#confirm').hidden")
	popup.press("Enter")
	popup.press("Shift+Tab")
	if got := popup.eval("document.activeElement.id + document.querySelectorAll('.chip').length"); got != "confirm-yes2" {
		t.Errorf("asked once more, focus and projects are %v, want confirm-yes2", got)
	}
	popup.press("Enter")
	w.server.forgotten()
	other.forgotten()
	popup.until("!document.querySelector('#connecting').hidden && document.querySelector('#confirm').hidden")
}

func TestEveryControlIsReachedByTabAndShowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	w.pair(popup)
	shareAs(popup, w.open(w.site.URL+"/second"), keyOf(w.server), "read")
	w.another(popup, "Research")
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.until("document.querySelectorAll('.chip').length === 2")
	popup.eval("document.querySelector('.chip input').click()")
	popup.until("document.querySelectorAll('#tabs li').length === 1")
	wanted := fmt.Sprint(popup.eval(`[...document.querySelectorAll('button, input, textarea, select, a')]
		.filter(e => e.getClientRects().length > 0 && (e.type !== 'radio' || e.checked))
		.map(e => e.id || e.className || e.name + '-' + e.value).join()`))
	popup.eval("document.activeElement.blur()")
	controls := strings.Split(wanted, ",")
	reached := make([]string, len(controls)+2)
	for i := range reached {
		popup.press("Tab")
		reached[i] = fmt.Sprint(popup.eval(focus))
	}
	for _, control := range controls {
		if !slices.Contains(reached, control) {
			t.Errorf("Tab comes to %v, want %s among them", reached, control)
		}
	}
	if !slices.Contains(reached, "disconnect-all") || len(reached) < 10 {
		t.Errorf("Tab comes to %v, want all that there is", reached)
	}
}

func TestThePopupIsUsedByMouseAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	popup := w.popup(w.open(w.site.URL + "/first"))
	w.pair(popup)
	shareAs(popup, w.open(w.site.URL+"/second"), keyOf(w.server), "read")
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.until("document.querySelectorAll('#tabs li').length === 1")
	popup.click("#tabs label:has([value=act])")
	w.server.tabsUntil("a tab to act in", withLevel("act"))

	other := w.another(popup, "Research")
	popup.until("document.querySelectorAll('.chip').length === 2")
	popup.click(".chip:last-child")
	popup.until("document.querySelectorAll('#tabs li').length === 0 && document.querySelector('#server').textContent.includes('account me')")
	popup.click("#share")
	other.tabsUntil("a tab of the other project", withLevel("read"))
	popup.until("document.querySelector('.chip:first-of-type').textContent.startsWith('Research')")
	popup.click(".chip:last-child")
	popup.until("document.querySelector('#current-note').textContent.includes('shared with Research')")
	popup.click("#tabs [data-stop]")
	w.server.tabsUntil("no tab", noTab)
}

func TestANewSharedTabIsInFrontAndInTheGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	popup := w.popup(w.open(w.site.URL + "/first"))
	w.pair(popup)
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.click("#new-tab")
	tabs := w.server.tabsUntil("a new tab", withLevel("read"))
	if tabs[0].URL != "about:blank" || tabs[0].Made {
		t.Errorf("the new tab is %+v, want a blank one of the person's own", tabs[0])
	}
	popup.until("chrome.tabs.query({active: true}).then(all => all.length === 1 && all[0].url === 'about:blank' && all[0].groupId > 0)")
}

func TestATabThatWasPinnedComesIntoTheGroupWhenAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	w.pair(popup)
	pin := fmt.Sprintf("chrome.tabs.update(%.0f, {pinned: %%t}).then(() => true)", popup.tabOf(tab))
	popup.until(fmt.Sprintf(pin, true))
	share(popup, "read")
	popup.until(fmt.Sprintf(pin, false))
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	if grouped := popup.eval("chrome.tabGroups.query({}).then(all => all.length)"); grouped != 0.0 {
		t.Errorf("%v groups are there before it is asked for, want none", grouped)
	}
	popup.click("#regroup")
	popup.until("chrome.tabGroups.query({title: 'Invoices'}).then(all => all.length === 1)")
	w.server.tabsUntil("a tab", withLevel("read"))
}

func TestATabThatStaysOnItsSiteIsNobodysElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	elsewhere := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(elsewhere.Close)
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	w.pair(popup)
	popup.must(popup.session, "Page.bringToFront", object{}, nil)
	popup.click("#stays")
	share(popup, "act")
	name := w.server.tabsUntil("a tab", withLevel("act"))[0].ID
	leave := w.server.run("s_1", name, call("Page.navigate", object{"url": elsewhere.URL + "/secret"}))
	if leave.Error == nil || leave.Error.Code != "forbidden" || !strings.Contains(leave.Error.Message, "stays on") {
		t.Errorf("an agent that leaves the site is answered %+v, want forbidden, and why", leave.Error)
	}
	tab.goTo(elsewhere.URL + "/secret")
	asleep := w.server.tabsUntil("a sleeping tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended != "" })
	if asleep[0].URL != elsewhere.URL+"/" || asleep[0].Title != "" {
		t.Errorf("the server is told of %+v, want no more than the origin", asleep[0])
	}
	if answer := w.server.run("s_1", name, object{"run": "@state"}); answer.Error == nil || answer.Error.Code != "tab_suspended" {
		t.Errorf("a program elsewhere is answered %+v, want tab_suspended", answer.Error)
	}
	popup.until("document.querySelector('#current-note').textContent.startsWith('Paused: This tab stays on ')")
	tab.goTo(w.site.URL + "/back")
	w.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended == "" })
	w.server.must(name, object{"run": "@state"})
	popup.click("#unshare")
	popup.until("!document.querySelector('#share').hidden")
	if chosen := popup.eval("document.querySelector('#level-act').checked || document.querySelector('#stays').checked"); chosen != false {
		t.Error("what was chosen for the tab before is still chosen")
	}
}
