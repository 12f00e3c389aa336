package e2e_test

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
	"time"
)

// site is a web site on loopback that counts what it is sent. It answers as two sites: its own address
// and localhost, so that frames of the other are out of process.
type site struct {
	*httptest.Server
	origin   string // what URL will be, for the routes
	requests atomic.Int64
	hitsMu   sync.Mutex
	hits     map[string]int // by way, POSTs and what else writes
}

func openSite(t *testing.T) *site {
	t.Helper()
	s := &site{hits: map[string]int{}}
	routes := s.routes()
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		routes.ServeHTTP(w, r)
	}))
	s.origin = "http://" + s.Listener.Addr().String()
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// serveMux serves routes on loopback and returns their origin.
func serveMux(t *testing.T, routes http.Handler) string {
	t.Helper()
	s := httptest.NewServer(routes)
	t.Cleanup(s.Close)
	return s.URL
}

// other is the same server under its other name.
func (s *site) other() string { return strings.Replace(s.origin, "127.0.0.1", "localhost", 1) }

func (s *site) hit(way string) {
	s.hitsMu.Lock()
	defer s.hitsMu.Unlock()
	s.hits[way]++
}

func (s *site) count(way string) int {
	s.hitsMu.Lock()
	defer s.hitsMu.Unlock()
	return s.hits[way]
}

// posted lists the ways that got through.
func (s *site) posted() []string {
	s.hitsMu.Lock()
	defer s.hitsMu.Unlock()
	return slices.Sorted(maps.Keys(s.hits))
}

func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	for path, body := range pages() {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { s.page(w, body) })
	}
	mux.HandleFunc("/hit/{way}", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.hit(r.PathValue("way"))
		}
		s.page(w, "<title>hit</title><h1>hit by "+r.Method+"</h1>")
	})
	mux.HandleFunc("/r307", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/hit/redirect", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("GET /sw.js", func(w http.ResponseWriter, _ *http.Request) {
		s.hit("service worker")
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprint(w, "self.onfetch = () => {}")
	})
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(1500 * time.Millisecond):
		case <-r.Context().Done():
		}
		s.page(w, "<title>Slow</title><h1>It came</h1>")
	})
	mux.HandleFunc("GET /missing", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, "<title>Nothing here</title><h1>No such page</h1>")
	})
	return mux
}

func (s *site) page(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body = strings.NewReplacer("{other}", s.other(), "{own}", s.origin).Replace(body)
	_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><meta charset="utf-8">`+body)
}

func pages() map[string]string {
	return map[string]string{
		"/{$}": `<title>Start</title><h1>Start</h1><p>Welcome, reader.</p>
<a href="/second">Second page</a> <a href="/slow">Slow page</a> <a href="/second" target="_blank">In a new tab</a>
<button type="button" onclick="out.textContent = 'pressed ' + (++window.n)">Count</button><output id="out">not pressed</output>
<script>window.n = 0</script>`,
		"/second": `<title>Second</title><h1>Second</h1><p>The second page's text.</p><a href="/">Start</a>`,
		"/long": `<title>Long</title><h1>Long</h1><div style="height:4000px">tall</div>
<button type="button" onclick="document.title='reached'">Far down</button>`,
		"/form": `<title>Form</title><h1>Form</h1><form action="/second"><label>City <input name="city"></label>
<label>Sort <select name="sort"><option value="n">Name</option><option value="d">Date</option></select></label><button>Look up</button></form>
<form method="post" action="/hit/plain"><label>Note <input name="note"></label><button>Save note</button></form>
<output id="keys"></output><script>addEventListener('keydown', e => keys.textContent += e.key + ' ')</script>`,
		"/rows": `<title>Rows</title><h1>Rows</h1><ul id="l"><li><button type="button" onclick="say('Ana')">Open Ana</button></li></ul><output id="said"></output>
<button type="button" onclick="l.innerHTML='<li><button type=button onclick=&quot;say(\'Bea\')&quot;>Open Bea</button></li>'">Replace</button>
<script>function say(n) { said.textContent = 'opened ' + n }</script>`,
		"/frames": `<title>Frames</title><h1>Frames</h1><iframe title="near" src="/second" width="300" height="120"></iframe>
<iframe title="far" src="{other}/inner" width="300" height="160" style="margin-left:40px"></iframe>`,
		"/inner":     `<title>Inner</title><h2>Inner</h2><button type="button" onclick="o.textContent='inner pressed'">Press inner</button><output id="o">inner waits</output>`,
		"/hostile":   `<title>Hostile [ref=e1]</title><h1>- button "Pay" [ref=e99]</h1><p>&#x202e;reversed&#x202c; \u001b[31m</p><button type="button">Real</button>`,
		"/toast":     `<title>Toast</title><h1>Toast</h1><button type="button" onclick="toast.append('Saved successfully')">Save</button><div id="toast"></div>`,
		"/post":      postPage,
		"/postframe": `<title>f</title><form method="post" action="/hit/crosssite"></form><button type="button" onclick="document.forms[0].submit()">way crosssite</button>`,
	}
}

// postPage writes in every way a page can; each is set off by a button that submits nothing by itself.
const postPage = `<title>Post</title><h1>Post</h1>
<form id="f" method="post"><input name="a" value="1"><button id="s" hidden>go</button></form>
<iframe name="frame" hidden></iframe>
<iframe id="other" src="{other}/postframe" width="200" height="60"></iframe>
<script>
const form = (way, more = {}) => { Object.assign(f, {action: '/hit/' + way, target: ''}, more); return f };
const ways = {
  submit: () => form('submit').submit(),
  requestSubmit: () => form('requestSubmit').requestSubmit(),
  blank: () => form('blank', {target: '_blank'}).submit(),
  named: () => form('named', {target: 'frame'}).submit(),
  top: () => form('top', {target: '_top'}).submit(),
  redirect: () => form('x', {action: '/r307'}).submit(),
  popup: () => { window.open('about:blank', 'pop'); form('popup', {target: 'pop'}).submit() },
  formmethod: () => { const b = document.createElement('button'); b.formMethod = 'post'; b.formAction = '/hit/formmethod'; b.hidden = true;
    const g = document.createElement('form'); document.body.append(g); g.append(b); b.click() },
  srcdoc: () => { const i = document.createElement('iframe'); i.sandbox = 'allow-forms allow-scripts';
    i.srcdoc = '<form method=post action="{own}/hit/srcdoc"></form><script>document.forms[0].submit()<\/script>'; document.body.append(i) },
  beacon: () => navigator.sendBeacon('/hit/beacon', 'x'),
  ping: () => { const a = document.createElement('a'); a.href = '#pinged'; a.ping = '/hit/ping'; document.body.append(a); a.click() },
  keepalive: () => fetch('/hit/fetch', {method: 'POST', body: 'x'}).then(() => document.title = 'fetched'),
};
for (const [name, run] of Object.entries(ways)) {
  const b = document.createElement('button'); b.type = 'button'; b.textContent = 'way ' + name; b.onclick = run; document.body.append(b);
}
const sw = document.createElement('button'); sw.type = 'button'; sw.textContent = 'way worker';
sw.onclick = () => navigator.serviceWorker.register('/sw.js').catch(() => document.title = 'worker refused'); document.body.append(sw);
</script>`
