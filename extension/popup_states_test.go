package extension_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// pictures names the environment variable with a folder into which TestEveryStateOfThePopup writes what it looks at.
const pictures = "POPUP_PICTURES"

// eye looks at an open popup as different people do.
type eye struct {
	*page
	folder string
}

func newEye(p *page) *eye {
	p.t.Helper()
	script, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		p.t.Fatalf("axe-core is not installed: %v", err)
	}
	p.eval(string(script) + "; 0")
	p.size(360, 600)
	return &eye{page: p, folder: os.Getenv(pictures)}
}

func (p *page) size(width, height int) {
	p.t.Helper()
	size := object{"width": width, "height": height, "deviceScaleFactor": 2, "mobile": false}
	p.must(p.session, "Emulation.setDeviceMetricsOverride", size, nil)
}

// media emulates preferences such as prefers-color-scheme.
func (p *page) media(name, value string) {
	p.t.Helper()
	features := []object{{"name": name, "value": value}}
	p.must(p.session, "Emulation.setEmulatedMedia", object{"features": features}, nil)
}

// look holds one state against what must be true of all, light and dark.
func (e *eye) look(state string) {
	e.t.Helper()
	e.must(e.session, "Page.bringToFront", object{}, nil)
	e.eval("document.querySelector('main').scrollTo(0, 0)")
	for _, scheme := range []string{"light", "dark"} {
		e.media("prefers-color-scheme", scheme)
		for _, found := range e.violations() {
			e.t.Errorf("%s, %s: %s", state, scheme, found)
		}
		e.picture(state + "-" + scheme)
	}
	e.media("prefers-color-scheme", "light")
	e.fits(state)
	e.eval("document.documentElement.style.fontSize = '26px'")
	e.fits(state + " in text of twice the size")
	e.picture(state + "-large")
	e.eval("document.documentElement.style.fontSize = ''")
	e.media("forced-colors", "active")
	e.picture(state + "-forced")
	e.media("forced-colors", "none")
}

// violations are what axe finds wrong.
func (e *eye) violations() []string {
	e.t.Helper()
	found := fmt.Sprint(e.eval(`axe.run({resultTypes: ['violations']}).then(({violations}) => JSON.stringify(
		violations.flatMap(({id, nodes}) => nodes.map(n => id + ' at ' + n.target.join(' ') + ': ' + n.failureSummary))))`))
	var all []string
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		e.t.Fatalf("axe answers %s: %v", found, err)
	}
	return all
}

// fits tells of what is wider than the window, or is cut without being meant to be.
func (e *eye) fits(state string) {
	e.t.Helper()
	wide := fmt.Sprint(e.eval(`[document.documentElement, document.querySelector('main'), ...document.querySelectorAll('body *')]
		.filter(e => e.getClientRects().length > 0 && !e.closest('.unseen, template'))
		.filter(e => e.getBoundingClientRect().right > innerWidth + 1 || (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
			&& getComputedStyle(e).textOverflow !== 'ellipsis' && getComputedStyle(e).display !== 'inline'))
		.map(e => e.tagName + '#' + e.id + '.' + e.className).join(', ')`))
	if wide != "" {
		e.t.Errorf("%s: wider than there is room: %s", state, wide)
	}
}

func (e *eye) picture(name string) {
	e.t.Helper()
	if e.folder == "" {
		return
	}
	var shot struct {
		Data string `json:"data"`
	}
	e.must(e.session, "Page.captureScreenshot", object{"format": "png"}, &shot)
	content, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.folder, "popup-"+name+".png"), content, 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// ask sends the worker a command as the popup itself does.
func (p *page) ask(command object) {
	p.t.Helper()
	message, err := json.Marshal(command)
	if err != nil {
		p.t.Fatal(err)
	}
	p.eval(fmt.Sprintf("(globalThis.asking ??= chrome.runtime.connect({name: 'popup'})).postMessage(%s)", message))
}

// tabOf is Chrome's id of a page's tab.
func (p *page) tabOf(other *page) float64 {
	p.t.Helper()
	find := fmt.Sprintf("chrome.tabs.query({}).then(all => all.find(t => t.url === %q).id)", other.eval("location.href"))
	id, _ := p.eval(find).(float64)
	return id
}

func shareAs(popup, tab *page, key, level string) {
	popup.t.Helper()
	popup.ask(object{"do": "share", "tab": popup.tabOf(tab), "project": key, "share": object{"level": level}})
}

func keyOf(s *server) string { return project + " " + s.http.URL }

// another pairs the popup's browser with one more server, as project name.
func (w *world) another(popup *page, name string) *server {
	w.t.Helper()
	other := startServer(w.t, "read")
	other.name = name
	popup.ask(object{"do": "connect", "code": other.code()})
	other.tabsUntil("a link", noTab)
	return other
}

func TestEveryStateOfThePopup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	popup.until("!document.querySelector('#connecting').hidden")
	e := newEye(popup)
	e.look("not-connected")
	popup.eval("document.querySelector('#code').value = 'hello'; document.querySelector('#connect').click()")
	popup.until("!document.querySelector('#problem').hidden")
	e.look("no-code")
	w.pair(popup)
	e.look("empty")
	popup.eval("document.querySelector('#stays').click()")
	share(popup, "read")
	e.look("one")
	popup.eval("document.querySelector('#add').click()")
	e.look("adding")
	popup.eval("document.querySelector('#connect-cancel').click()")
	w.sharesSix(popup)
	e.look("six")
	e.eval("document.querySelector('main').scrollTo(0, 9999)")
	e.picture("six-end-light")
	tab.goTo("chrome://version/")
	popup.until("document.querySelector('#current-note').textContent.startsWith('Paused: ')")
	e.look("paused")
	w.another(popup, "Research")
	w.another(popup, "Invoices")
	popup.until("document.querySelectorAll('.chip').length === 3")
	popup.eval("document.querySelector('.chip input').click()")
	e.look("several")
	popup.eval("document.querySelector('#disconnect-all').click()")
	e.look("several-asked")
	popup.eval("document.querySelector('#confirm-no').click(); document.querySelector('.chip:nth-of-type(2) input').click()")
	popup.until("document.querySelector('#current-note').textContent.includes('shared with Invoices')")
	e.look("of-another")
}

// sharesSix shares five tabs besides the one that is: one is in use, one asleep.
func (w *world) sharesSix(popup *page) {
	w.t.Helper()
	var last *page
	for _, path := range []string{"/invoices", "/a-long-way/" + strings.Repeat("on-", 60), "/third", "/fourth", "/fifth"} {
		last = w.open(w.site.URL + path)
		shareAs(popup, last, keyOf(w.server), "act")
	}
	popup.until("document.querySelectorAll('#tabs li').length === 5")
	tabs := w.server.tabsUntil("six tabs", func(tabs []sharedTab) bool { return len(tabs) == 6 })
	w.server.must(tabs[1].ID, object{"run": "@state"})
	popup.until("document.querySelector('#tabs .use:not([hidden])') !== null")
	last.goTo(w.server.http.URL)
	popup.until("document.querySelector('#tabs .paused:not([hidden])') !== null")
}

func TestEveryTroubleOfThePopup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "read")
	popup := w.popup(w.open(w.site.URL + "/first"))
	w.pair(popup)
	e := newEye(popup)
	e.look("read-only")
	share(popup, "read")
	e.look("read-only-shared")
	popup.eval("document.querySelector('#unshare').click(); document.querySelector('#may-open').click()")
	popup.until("!document.querySelector('#share').hidden && document.querySelector('#may-open-text').textContent.startsWith('Off: ')")
	e.look("off")
	for _, trouble := range []struct {
		state string
		code  websocket.StatusCode
		words string
	}{
		{"update", 4004, "If the server is newer"},
		{"replaced", 4002, "this browser instead"},
		{"revoked", 4001, "Copy a new code"},
	} {
		w.server.drop(trouble.code)
		popup.until(fmt.Sprintf("document.querySelector('#trouble-text').textContent.includes(%q)", trouble.words))
		e.look("refused-" + trouble.state)
		popup.eval("document.querySelector('#again').click()")
		popup.until(connected)
	}
	_ = w.server.http.Listener.Close()
	w.server.drop(websocket.StatusGoingAway)
	popup.until("document.querySelector('#retry').textContent.startsWith('Next try in ')")
	e.look("waiting")
}

// TestHostileNamesStayInTheirPlaces has a page and a project that would like to be more than a line.
func TestHostileNamesStayInTheirPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	w.server.name = "<img src=x onerror=alert(1)>" + strings.Repeat("W", 60)
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	w.pair(popup)
	share(popup, "act")
	e := newEye(popup)
	other := w.open(w.site.URL + "/other")
	shareAs(popup, other, keyOf(w.server), "act")
	popup.until("document.querySelectorAll('#tabs li').length === 1")
	entitle := func(name, title string) (heights string) {
		quoted, err := json.Marshal(name + " " + title)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range []*page{tab, other} {
			page.eval(fmt.Sprintf("document.title = %s", quoted))
		}
		popup.until(fmt.Sprintf("[...document.querySelectorAll('main .title')].every(e => e.textContent.startsWith(%q))", name))
		return fmt.Sprint(popup.eval("[...document.querySelectorAll('#card, #tabs li')].map(e => Math.round(e.getBoundingClientRect().height)).join()"))
	}
	usual := entitle("plain", "title")
	for name, title := range map[string]string{
		"html":  "<b>bold</b><script>document.title='owned'</script>",
		"bidi":  "\u202egnisrever \u2067 \u202e Stop sharing" + strings.Repeat("x", 200),
		"rtl":   strings.Repeat("שלום עולם مرحبا ", 20),
		"emoji": strings.Repeat("👩‍👩‍👧‍👦🏴‍☠️", 60),
		"lines": strings.Repeat("a\nb\u0007\t", 60),
		"marks": "Z" + strings.Repeat("\u0301\u0489", 120),
	} {
		if heights := entitle(name, title); heights != usual {
			t.Errorf("%s: the card and the row are %s high, want %s", name, heights, usual)
		}
		e.look("hostile-" + name)
	}
	if found := popup.eval("document.querySelectorAll('main img, main script').length"); found != 0.0 {
		t.Errorf("%v elements of others' making are in the popup", found)
	}
}

func TestManyProjectsLeaveRoomForTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	popup := w.popup(w.open(w.site.URL + "/first"))
	w.pair(popup)
	for i := range 9 {
		w.another(popup, strings.Repeat("Long name ", i)+"of project "+strconv.Itoa(i))
	}
	popup.until("document.querySelectorAll('.chip').length === 10")
	e := newEye(popup)
	e.look("many")
	if high, _ := popup.eval("document.querySelector('#projects').getBoundingClientRect().height").(float64); high > 140 {
		t.Errorf("ten projects are %v high, want four lines at most", high)
	}
}

// TestEscapeLeavesWhatIsOpenInTheRealPopup looks at what is kept from Chrome, which closes a popup on Escape
// (a headless one does not).
func TestEscapeLeavesWhatIsOpenInTheRealPopup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	helper := w.popup(tab)
	w.pair(helper)
	popup := w.realPopup(tab, helper)
	popup.until("!document.querySelector('#share').hidden")
	if size := popup.eval("[innerWidth >= 360, innerWidth <= 800, innerHeight <= 600, document.documentElement.scrollWidth <= innerWidth].join()"); size != "true,true,true,true" {
		t.Errorf("wide enough, no wider than Chrome permits, no higher, nothing beyond: %v", size)
	}
	(&eye{page: popup, folder: os.Getenv(pictures)}).picture("real")
	popup.click("#add")
	popup.until("document.activeElement.id === 'code'")
	popup.eval("addEventListener('keydown', event => { globalThis.kept = event.defaultPrevented })")
	popup.press("Escape")
	popup.until("document.activeElement.id === 'add' && kept === true")
	popup.press("Escape")
	popup.until("kept === false")
}
