package chrome_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// waysToPost maps each way in which a page can send a POST that is not a script's own request to the body of its
// click handler and what else must be on the page.
func waysToPost() map[string]struct{ html, onClick string } {
	return map[string]struct{ html, onClick string }{
		"form in the same tab":      {`<form id=f method=post action="/post?same"><input name=a></form>`, `f.querySelector('input').form.submit()`},
		"form into a new tab":       {`<form id=f method=post target=_blank action="/post?blank"></form>`, `f.submit()`},
		"form into a named frame":   {`<iframe name=inner></iframe><form id=f method=post target=inner action="/post?frame"></form>`, `f.submit()`},
		"formmethod of a button":    {`<form id=f method=get action="/post?formmethod"><input type=submit formmethod=post id=s></form>`, `s.click()`},
		"form made and submitted":   {``, `const f=document.createElement('form');f.method='post';f.action='/post?made';document.body.append(f);f.submit()`},
		"requestSubmit":             {`<form id=f method=post action="/post?request"></form>`, `f.requestSubmit()`},
		"redirect with 307":         {`<form id=f method=post action="/again?redirected"></form>`, `f.submit()`},
		"form into a popup":         {`<form id=f method=post target=pop action="/post?popup"></form>`, `window.open('about:blank','pop');f.submit()`},
		"sendBeacon":                {``, `navigator.sendBeacon('/post?beacon','x')`},
		"ping of a link":            {`<a id=a href="#here" ping="/post?ping">x</a>`, `a.click()`},
		"service worker registered": {``, `navigator.serviceWorker.register('/worker.js')`},
	}
}

// arrival is the request line by which the site knows that a way went through.
func arrival(way string) string {
	return map[string]string{
		"form in the same tab": "POST /post?same", "form into a new tab": "POST /post?blank",
		"form into a named frame": "POST /post?frame", "formmethod of a button": "POST /post?formmethod",
		"form made and submitted": "POST /post?made", "requestSubmit": "POST /post?request",
		"redirect with 307": "POST /post?redirected", "form into a popup": "POST /post?popup",
		"sendBeacon": "POST /post?beacon", "ping of a link": "POST /post?ping",
		"service worker registered": "GET /worker.js",
	}[way]
}

func postingSite(t *testing.T) *site {
	t.Helper()
	pages := map[string]string{"/worker.js": `self.addEventListener('install', () => {})`}
	for way, w := range waysToPost() {
		pages["/"+way] = `<body>` + w.html + `<button id=go style="position:fixed;inset:0;width:100%">go</button>
			<script>go.onclick = () => { ` + w.onClick + `; fetch('/tried?` + url.QueryEscape(way) + `', {method: 'POST', keepalive: true}) }</script>`
	}
	return newSite(t, pages)
}

// press opens the page of one way and clicks its button.
func press(t *testing.T, b *chrome.Browser, s *site, way string) {
	t.Helper()
	steps := append([]program.Step{navigate(s.URL + "/" + way), settle()}, click(2)...)
	run(t, b, program.NewTab, append(steps, settle())...)
}

func TestReadOnlyLetsNothingBePosted(t *testing.T) {
	free, guarded := postingSite(t), postingSite(t)
	w := newWorld(t, free, guarded)
	interactive, readOnly := w.open(t, chrome.Interactive), w.open(t, chrome.ReadOnly)
	for _, way := range slices.Sorted(maps.Keys(waysToPost())) {
		t.Run(way, func(t *testing.T) {
			press(t, interactive, free, way)
			if !free.waitFor(arrival(way)) {
				t.Fatalf("even an interactive session does not post this way: the test proves nothing; seen %q", free.lines())
			}
			press(t, readOnly, guarded, way)
			if !guarded.waitFor("POST /tried?" + url.QueryEscape(way)) {
				t.Errorf("the page's own fetch did not go through: %q", guarded.lines())
			}
		})
	}
	// Whatever was sent has arrived before a request that was made after it all.
	run(t, readOnly, program.NewTab, navigate(guarded.URL+"/last"), settle())
	for _, line := range guarded.lines() {
		if strings.HasPrefix(line, "POST ") && !strings.HasPrefix(line, "POST /tried?") || line == "GET /worker.js" {
			t.Errorf("a read-only session sent %s", line)
		}
	}
}
