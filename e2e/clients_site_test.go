package e2e_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// workshop is the web site that the CDP clients are sent to: it has what such clients are used for, and it
// counts what reaches it. It answers as two sites, 127.0.0.1 and localhost, so that its far frame is out of
// process and a way from one to the other leads to another process.
type workshop struct {
	*httptest.Server
	hitsMu sync.Mutex
	hits   map[string]int
}

// newWorkshop opens the site; the caller closes it.
func newWorkshop() *workshop {
	w := &workshop{hits: map[string]int{}}
	w.Server = httptest.NewServer(w.routes())
	return w
}

// far is the same server under its other name.
func (w *workshop) far() string { return strings.Replace(w.URL, "127.0.0.1", "localhost", 1) }

// taken returns what was counted since the last call.
func (w *workshop) taken() map[string]int {
	w.hitsMu.Lock()
	defer w.hitsMu.Unlock()
	hits := w.hits
	w.hits = map[string]int{}
	return hits
}

func (w *workshop) hit(what string) {
	w.hitsMu.Lock()
	defer w.hitsMu.Unlock()
	w.hits[what]++
}

func (w *workshop) routes() http.Handler {
	mux := http.NewServeMux()
	for path, body := range workshopPages() {
		mux.HandleFunc("GET "+path, func(rw http.ResponseWriter, r *http.Request) { w.page(rw, r, body) })
	}
	mux.HandleFunc("POST /hit/{what}", func(rw http.ResponseWriter, r *http.Request) {
		w.hit(r.PathValue("what"))
		rw.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /headers", func(rw http.ResponseWriter, r *http.Request) {
		w.page(rw, r, `<title>Headers</title><output id="said">`+html.EscapeString(r.Header.Get("X-Workshop"))+`</output>`)
	})
	mux.HandleFunc("GET /greet", func(rw http.ResponseWriter, r *http.Request) {
		city := r.FormValue("city")
		w.hit("greet " + city)
		w.page(rw, r, "<title>Greeting</title><h1>Hello, "+strings.ToUpper(city)+".</h1>")
	})
	script := func(path, body string) {
		mux.HandleFunc("GET "+path, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprint(rw, body)
		})
	}
	script("/sw.js", `self.oninstall = () => self.skipWaiting(); self.onactivate = e => e.waitUntil(clients.claim());
self.onfetch = e => { if (e.request.url.endsWith('/asked')) e.respondWith(new Response('the service worker answered')) }`)
	script("/worker.js", `onmessage = e => postMessage('the worker says ' + e.data * 2)`)
	return mux
}

func (w *workshop) page(rw http.ResponseWriter, r *http.Request, body string) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Cache-Control", "no-store")
	here, there := "http://"+r.Host, w.far()
	if here == there {
		there = w.URL
	}
	_, _ = fmt.Fprint(rw, `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">
<script>const hit = what => fetch('/hit/' + what, {method: 'POST'})</script>`+strings.ReplaceAll(body, "{far}", there))
}

func workshopPages() map[string]string {
	return map[string]string{
		"/{$}": `<title>Start</title><style>@media (prefers-color-scheme: dark) { body { background: #123 } }</style>
<h1>Start</h1><p id="welcome">Welcome, reader.</p>
<button id="count" type="button" onclick="out.textContent = 'pressed ' + (++window.n); hit('count')">Count</button> <output id="out">not pressed</output>
<form action="/greet"><label>City <input id="city" name="city"></label></form>
<a id="second" href="/second">Second page</a> <a id="blank" href="/second" target="_blank">In a new tab</a>
<button id="open" type="button" onclick="window.open('/popup')">Open a window</button>
<script>window.n = 0</script>`,
		"/second": `<title>Second</title><h1>Second</h1><p id="text">The second page's text.</p><a href="/">Start</a>`,
		"/popup":  `<title>Popup</title><h1>Popup</h1><p id="text">A window of its own.</p>`,
		"/frames": `<title>Frames</title><h1>Frames</h1><iframe title="far" src="{far}/inner" width="400" height="200"></iframe>`,
		"/everything": `<title>Everything</title><h1>Everything</h1><button id="count" type="button" onclick="out.textContent = 'pressed ' + (++window.n); hit('count')">Count</button>
<output id="out">not pressed</output><iframe title="far" src="{far}/inner" width="400" height="200"></iframe><script>window.n = 0; const w = new Worker('/worker.js')</script>`,
		"/near": `<title>Near</title><h1>Near</h1><button id="count" type="button" onclick="out.textContent = 'pressed ' + (++window.n)">Count</button>
<output id="out">not pressed</output><iframe title="near" name="near" src="/inner" width="400" height="200"></iframe><script>window.n = 0</script>`,
		"/inner": `<title>Inner</title><h2>Inner</h2><button id="press" type="button" onclick="said.textContent = 'inner pressed'; hit('inner')">Press inner</button>
<output id="said">inner waits</output>`,
		"/service-worker": `<title>Service worker</title><h1>Service worker</h1><output id="said">waiting</output>
<script>navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready)
.then(() => navigator.serviceWorker.controller || new Promise(done => navigator.serviceWorker.oncontrollerchange = done))
.then(() => fetch('/asked')).then(r => r.text()).then(t => said.textContent = t, e => said.textContent = String(e))</script>`,
		"/worker": `<title>Worker</title><h1>Worker</h1><output id="said">waiting</output>
<script>const w = new Worker('/worker.js'); w.onmessage = e => said.textContent = e.data; w.postMessage(21)</script>`,
		"/dialog": `<title>Dialog</title><h1>Dialog</h1>
<button id="ask" type="button" onclick="said.textContent = 'answered ' + confirm('Really?')">Ask</button> <output id="said">not asked</output>`,
		"/traces": `<title>Traces</title><h1>Traces</h1><output id="said">waiting</output>
<script>const w = new Worker('/worker.js'); w.postMessage(21)
w.onmessage = e => said.textContent = [innerWidth === 500 ? 'narrow' : 'wide', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  typeof globalThis.left, typeof globalThis.twice, e.data].join(', ')</script>`,
		"/form": `<title>Form</title><h1>Form</h1><label>Sort <select id="sort"><option value="n">Name</option><option value="d">Date</option></select></label>
<label>Agree <input id="agree" type="checkbox"></label><label>File <input id="file" type="file"></label><label>Note <textarea id="note"></textarea></label>
<div id="hover" onmouseenter="this.textContent = 'hovered'">Hover here</div><div id="twice" ondblclick="this.textContent = 'twice'">Click twice</div>
<div id="from" draggable="true">Drag</div><div id="to" ondragover="event.preventDefault()" ondrop="this.textContent = 'dropped'">Drop here</div>
<div style="height: 3000px"></div>`,
		"/moving": `<title>Moving</title><style>@keyframes there { to { margin-left: 300px } }
div { width: 100px; height: 100px; background: teal; animation: there 1s infinite alternate }</style><h1>Moving</h1><div></div>`,
		"/console": `<title>Console</title><h1>Console</h1><script>console.log('the page speaks', 42)</script>`,
	}
}
