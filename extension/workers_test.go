package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// A form that a site's service worker passes on is the worker's own request, of no tab.
func TestAFormOfAReadOnlyTabIsNotSentByItsServiceWorker(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			writes.Add(1)
		}
		if r.URL.Path == "/sw.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprint(w, `addEventListener('install', e => e.waitUntil(skipWaiting())); addEventListener('activate', e => e.waitUntil(clients.claim())); addEventListener('fetch', e => e.respondWith(fetch(e.request)))`)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<title>Shop</title><script>navigator.serviceWorker.register('/sw.js')</script><form method=post action=/written></form><iframe name=inner></iframe>`)
	}))
	t.Cleanup(site.Close)
	w := newWorld(t, "read")
	s := &sharing{world: w, tab: w.open(site.URL + "/first")}
	s.tab.until("navigator.serviceWorker.controller !== null")
	s.popup = w.popup(s.tab)
	w.pair(s.popup)
	share(s.popup, "read")
	s.name = w.server.tabsUntil("one", withLevel("read"))[0].ID
	s.server.hold(s.name)
	const failed = "location.protocol === 'chrome-error:'"
	for sentence, way := range map[string]struct{ script, until string }{
		"at once":                         {"document.forms[0].submit()", failed},
		"a while later":                   {"setTimeout(() => document.forms[0].submit(), 2500)", failed},
		"in a frame":                      {"document.forms[0].target = 'inner'; document.forms[0].submit(); setTimeout(() => { window.done = true }, 2000)", "window.done"},
		"when a client stops its hearing": {"setTimeout(() => document.forms[0].submit(), 2500)", failed},
	} {
		s.tab.goTo(site.URL + "/first")
		button(s.tab, "Details", way.script)
		answer := s.server.run("s_1", s.name, click("button", "Details")...)
		if sentence == "when a client stops its hearing" {
			s.server.mustRaw(s.name, "Network.disable", nil)
		}
		s.tab.until(way.until)
		if n := writes.Swap(0); n != 0 {
			t.Errorf("%s: %d forms were sent, want none; the click was answered %+v", sentence, n, answer.Error)
		}
	}
	s.tab.goTo(site.URL + "/first")
	eventually(t, "the person's own service worker", func() bool {
		s.tab.goTo(site.URL + "/first")
		return s.tab.eval("performance.getEntriesByType('navigation')[0].workerStart > 0") == true
	})
}
