package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chaperone/demo"
)

// wallWays are ways to send a document, frame or ping request that writes, besides those of postPage. Each is a script, run by a click
// on the button of its name; to(way) is the address that counts it.
var wallWays = map[string]string{
	"redirect 308":                          `post({action: '/r308'})`,
	"redirect 307 in a frame":               `frame('f1', 'about:blank'); post({action: '/r307w', target: 'f1'})`,
	"a redirect from another site":          `post({action: other + '/r307back'})`,
	"multipart":                             `post({enctype: 'multipart/form-data'})`,
	"plain text":                            `post({enctype: 'text/plain'})`,
	"an image button":                       `const i = document.createElement('input'); i.type = 'image'; i.formAction = to; i.formMethod = 'post'; form({method: 'get', action: '/second'}).append(i); i.click()`,
	"a form in a shadow tree":               `const h = document.createElement('div'); document.body.append(h); h.attachShadow({mode: 'closed'}).append(form({})); h.remove; last.submit()`,
	"a javascript: form":                    `form({action: "javascript:document.getElementById('js').submit()", method: 'get'}); last.id = 'x'; const x = last; form({id: 'js'}); x.submit()`,
	"a javascript: frame":                   `form({id: 'jf'}); frame('f2', "javascript:parent.document.getElementById('jf').submit()")`,
	"a javascript: link":                    `form({id: 'jl'}); const a = document.createElement('a'); a.href = "javascript:document.getElementById('jl').submit()"; document.body.append(a); a.click()`,
	"a window of its own, named again":      `open('/second', 'again'); post({target: 'again'})`,
	"a window of its own, later":            `open('/second', 'later'); setTimeout(() => post({target: 'later'}), 700)`,
	"a window, written into":                `const w = open('', 'written'); w.document.write('<form method=post action="' + to + '"></form>'); w.document.forms[0].submit()`,
	"a window without opener":               `post({target: '_blank', rel: 'noopener'})`,
	"a window that posts itself":            `open('/selfpost?to=' + encodeURIComponent(to), '_blank', 'noopener')`,
	"a window of another site":              `open(other + '/selfpost?to=' + encodeURIComponent(location.origin + to), '_blank')`,
	"the same window under its own name":    `window.name = 'me'; post({target: 'me'})`,
	"window.open into itself":               `window.open('/selfpost?to=' + encodeURIComponent(to), '_self')`,
	"the parent, from a frame":              `frame('f3', '/framed?target=_parent&to=' + encodeURIComponent(to))`,
	"the top, from a frame of another site": `frame('f4', other + '/framed?target=_top&to=' + encodeURIComponent(location.origin + to))`,
	"a frame in a frame":                    `frame('f5', '/framed?target=_self&nested=1&to=' + encodeURIComponent(to))`,
	"the top from a sandboxed frame":        `const i = frame('f7', ''); i.sandbox = 'allow-forms allow-scripts allow-top-navigation'; i.srcdoc = '<form method=post target=_top action="' + location.origin + to + '"></form><script>document.forms[0].submit()<\/script>'`,
	"an object":                             `const o = document.createElement('object'); o.data = '/second'; o.name = 'o1'; o.onload = () => { o.onload = null; post({target: 'o1'}) }; document.body.append(o)`,
	"an embed":                              `const o = document.createElement('embed'); o.src = '/second'; o.type = 'text/html'; o.name = 'e1'; document.body.append(o); setTimeout(() => post({target: 'e1'}), 500)`,
	"a page inside an object":               `const o = document.createElement('object'); o.data = '/selfpost?to=' + encodeURIComponent(to); document.body.append(o)`,
	"a data: page in a frame":               `frame('f8', 'data:text/html,<form method=post action="' + location.origin + to + '"></form><script>document.forms[0].submit()</' + 'script>')`,
	"a blob: page in a frame":               `frame('f9', URL.createObjectURL(new Blob(['<form method=post action="' + location.origin + to + '"></form><script>document.forms[0].submit()</' + 'script>'], {type: 'text/html'})))`,
	"a blob: page in a window":              `open(URL.createObjectURL(new Blob(['<form method=post action="' + location.origin + to + '"></form><script>document.forms[0].submit()</' + 'script>'], {type: 'text/html'})))`,
	"a meta refresh to a page that posts":   `const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=/selfpost?to=' + encodeURIComponent(to); document.head.append(m)`,
	"the Navigation API":                    `navigation.navigate('/selfpost?to=' + encodeURIComponent(to))`,
	"a navigation that is intercepted":      `navigation.onnavigate = e => e.intercept({handler: async () => { form({}); setTimeout(() => last.submit()); navigation.onnavigate = null }}); navigation.navigate('#there')`,
	"a view transition":                     `document.startViewTransition(() => { form({}).submit() })`,
	"speculation rules":                     `const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent = JSON.stringify({prerender: [{urls: ['/selfpost?to=' + encodeURIComponent(to)]}]}); document.head.append(s); setTimeout(() => { location = '/selfpost?to=' + encodeURIComponent(to) }, 100)`,
	"a beacon as the page goes":             `addEventListener('pagehide', () => navigator.sendBeacon(to, 'x')); location = '/second'`,
	"a beacon from a frame of another site": `frame('f10', other + '/beacon?to=' + encodeURIComponent(location.origin + to))`,
	"a ping of a window's link":             `const a = document.createElement('a'); a.href = '/second'; a.target = '_blank'; a.ping = to; document.body.append(a); a.click()`,
	"a form that is sent as the page goes":  `addEventListener('pagehide', () => { frame('f11', 'about:blank'); post({target: 'f11'}) }); setTimeout(() => post({}), 50)`,
}

// wallPage has a button for each way.
func wallPage() string {
	var page strings.Builder
	page.WriteString(`<title>Ways</title><h1>Ways</h1><script>
const other = '{other}'; let to, last;
const form = more => { const f = document.createElement('form'); Object.assign(f, {method: 'post', action: to}, more); f.innerHTML = '<input name=a value=1>'; document.body.append(f); return last = f };
const post = more => form(more).submit();
const frame = (name, src) => { const i = document.createElement('iframe'); i.name = name; if (src) i.src = src; document.body.append(i); return i };
const ways = {`)
	for _, way := range wallNames() {
		page.WriteString("\n" + `"` + way + `": () => { ` + strings.ReplaceAll(wallWays[way], "</script>", `<\/script>`) + ` },`)
	}
	page.WriteString(`
};
for (const [name, run] of Object.entries(ways)) {
  const b = document.createElement('button'); b.type = 'button'; b.textContent = 'way ' + name;
  b.onclick = () => { to = '/hit/' + encodeURIComponent(name); run() }; document.body.append(b);
}
</script>`)
	return page.String()
}

func wallNames() []string {
	names := make([]string, 0, len(wallWays))
	for name := range wallWays {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// openWallSite is a site that counts what is written, with pages that write by themselves.
func openWallSite(t *testing.T) *site {
	t.Helper()
	s := openSite(t)
	routes := s.Config.Handler
	selfPost := func(w http.ResponseWriter, r *http.Request, target string) {
		s.page(w, `<title>self</title><form method="post" action="`+r.FormValue("to")+`" target="`+target+`"></form><script>document.forms[0].submit()</script>`)
	}
	mux := http.NewServeMux()
	mux.Handle("/", routes)
	mux.HandleFunc("GET /ways", func(w http.ResponseWriter, _ *http.Request) { s.page(w, wallPage()) })
	mux.HandleFunc("GET /selfpost", func(w http.ResponseWriter, r *http.Request) { selfPost(w, r, "") })
	mux.HandleFunc("GET /framed", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("nested") != "" {
			s.page(w, `<title>nest</title><iframe src="/framed?target=_self&to=`+r.FormValue("to")+`"></iframe>`)
			return
		}
		selfPost(w, r, r.FormValue("target"))
	})
	mux.HandleFunc("GET /beacon", func(w http.ResponseWriter, r *http.Request) {
		s.page(w, `<title>beacon</title><script>navigator.sendBeacon('`+r.FormValue("to")+`', 'x')</script>`)
	})
	for path, to := range map[string]struct {
		way    string
		status int
	}{
		"/r308":     {"redirect 308", http.StatusPermanentRedirect},
		"/r307w":    {"redirect 307 in a frame", http.StatusTemporaryRedirect},
		"/r307back": {"a redirect from another site", http.StatusTemporaryRedirect},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, s.origin+"/hit/"+strings.ReplaceAll(to.way, " ", "%20"), to.status)
		})
	}
	s.Config.Handler = mux
	return s
}

// everyWay clicks every way's button, each on a fresh page, and calls after before what the way opened is closed.
func (r *road) everyWay(after func(way string)) {
	for _, way := range wallNames() {
		r.do(action{"action": "open", "url": r.site.URL + "/ways"})
		_, err := r.agent.Act(r.t.Context(), r.session, action{"action": "click", "role": "button", "name": "way " + way})
		if err != nil {
			r.t.Logf("%s: %v", way, err) // a refused navigation may well be told
		}
		after(way)
		r.closeWindows()
	}
}

// settled waits until what a way opened has gone where it goes; what it does later is waited for a while.
func (r *road) settled(way string) {
	r.t.Helper()
	looks := 4
	if strings.Contains(wallWays[way], "setTimeout") {
		looks = 20
	}
	r.inWorker(fmt.Sprintf(`(async () => {
		for (let calm = 0, enough = %d; calm < enough; ) {
			await new Promise(done => setTimeout(done, 50));
			const all = await chrome.tabs.query({});
			if (all.some(tab => !kept.has(tab.id))) enough = 20;
			calm = all.some(tab => tab.status === 'loading') ? 0 : calm + 1;
		}
	})()`, looks))
}

func (r *road) closeWindows() {
	r.t.Helper()
	r.inWorker(`chrome.tabs.query({}).then(all => Promise.all(
		all.filter(tab => !kept.has(tab.id)).map(tab => chrome.tabs.remove(tab.id).catch(() => 0))))`)
}

func (r *road) inWorker(script string) {
	r.t.Helper()
	worker, err := r.person.Worker(r.t.Context()) // which stays awake as long as it is looked at
	check(r.t, err)
	check(r.t, worker.Do(r.t.Context(), script, nil))
}

func shareWays(t *testing.T, policy, level string) *road {
	t.Helper()
	s := openWallSite(t)
	r := &road{site: s, served: serve(t)}
	r.policy(policy)
	r.person = arrive(t, demo.PersonOptions{})
	var err error
	r.page, err = r.person.Visit(t.Context(), s.URL+"/ways")
	check(t, err)
	check(t, r.person.Pair(t.Context(), r.code()))
	check(t, r.person.Share(t.Context(), r.page, level))
	r.session = r.served.session("shared")
	r.inWorker("chrome.tabs.query({}).then(all => { self.kept = new Set(all.map(tab => tab.id)) })")
	return r
}

func TestNoWayToPostLeavesASharedReadOnlyTab(t *testing.T) {
	t.Parallel()
	r := shareWays(t, "read_only", "read")
	r.everyWay(r.settled)
	if got := r.site.posted(); len(got) != 0 {
		t.Errorf("these ways got through: %s", strings.Join(got, ", "))
	}
}

// TestEveryWayToPostIsOne holds the ways themselves: each arrives from a tab that may write.
func TestEveryWayToPostIsOne(t *testing.T) {
	t.Parallel()
	r := shareWays(t, "interactive", "act")
	r.everyWay(func(way string) {
		r.await(func() bool { return r.site.count(way) > 0 }, "the arrival of "+way)
	})
}
