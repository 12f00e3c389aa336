package browse_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaperone/server/browse"
)

// workshop serves pages whose buttons begin something, and what they ask for, which takes as many milliseconds as they say.
func workshop(t *testing.T) string {
	t.Helper()
	const head = `<!doctype html><title>workshop</title><script>
const say = (text) => out.textContent = text;
const ask = (ms, n = 0) => fetch('/data?ms=' + ms + '&n=' + n).then((answer) => answer.text());
</script><output id="out">nothing</output> `
	pages := map[string]string{
		"/buttons": `
<button onclick="">inert</button>
<button onclick="say('said')">sync</button>
<button onclick="Promise.resolve().then(() => requestAnimationFrame(() => say('framed')))">frame</button>
<button onclick="ask(300).then(say)">answer</button>
<button onclick="ask(100).then(() => ask(200, 1)).then(() => say('second'))">chain</button>
<button onclick="const s = document.createElement('script'); s.src = '/script?ms=250'; document.head.append(s)">script</button>
<button onclick="const f = document.createElement('iframe'); f.src = '/data?ms=250'; document.body.append(f)">framed page</button>
<button onclick="this.setAttribute('aria-busy', 'true'); setTimeout(() => { this.removeAttribute('aria-busy'); say('done') }, 500)">busy</button>
<button onclick="this.disabled = true; setTimeout(() => { this.disabled = false; say('enabled') }, 250)">disabling</button>
<button onclick="history.pushState(0, '', '/pushed'); setTimeout(say, 120, 'routed')">route</button>
<button onclick="location.hash = 'x'; setTimeout(say, 120, 'hashed')">hash</button>
<button onclick="say('step 1'); setTimeout(() => requestAnimationFrame(() => { say('step 2'); setTimeout(say, 60, 'step 3') }), 0)">steps</button>
<button onclick="new EventSource('/stream').onmessage = () => say('streamed')">stream</button>
<button onclick="setTimeout(() => location = '/there', 0)">leave</button>
<button onclick="pieces()">pieces</button>
<script>const pieces = (left = 30) => {
	const end = performance.now() + 8; while (performance.now() < end);
	if (left > 0) { const c = new MessageChannel(); c.port1.onmessage = () => pieces(left - 1); c.port2.postMessage(0) } else say('assembled');
}</script>`,
		"/fading": `<style>#box{opacity:1;transition:opacity .3s}#box.out{opacity:0}</style>
<div id="box" role="dialog" aria-label="Box">text <button onclick="box.className = 'out'; box.ontransitionend = () => { box.remove(); say('closed') }">Close</button></div>`,
		"/restless": `<button onclick="say('pressed')">press</button><p id="tick"></p><script>setInterval(() => tick.textContent = performance.now(), 20)</script>`,
		"/polling":  `<button onclick="say('pressed')">press</button><script>(async () => { for (let n = 0;; n++) await ask(150, n) })()</script>`,
		"/app":      `<script>ask(400).then(() => { say('loaded'); document.body.append(Object.assign(document.createElement('button'), { textContent: 'ready' })) })</script>`,
		"/onward":   `<script>setTimeout(() => location.replace('/there'), 30)</script>`,
		"/meta":     `<meta http-equiv="refresh" content="0;url=/there">`,
		"/there":    `<h1>there</h1>`,
		"/late":     `<script>setTimeout(() => document.body.append(Object.assign(document.createElement('iframe'), { src: '/data?ms=300' })), 600)</script>`,
		"/inner":    `<iframe width="400" height="200" src="/buttons"></iframe>`,
	}
	mux := http.NewServeMux()
	for path, body := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, head+body)
		})
	}
	rest := func(r *http.Request) {
		ms, _ := strconv.Atoi(r.FormValue("ms"))
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-r.Context().Done():
		}
	}
	mux.HandleFunc("/data", func(w http.ResponseWriter, r *http.Request) {
		rest(r)
		_, _ = io.WriteString(w, "answered")
	})
	mux.HandleFunc("/script", func(w http.ResponseWriter, r *http.Request) {
		rest(r)
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, "say('scripted')")
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func TestWhatAClickBeganIsWaitedFor(t *testing.T) {
	script, at := pageScript(t), workshop(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for button, want := range map[string]string{
		"sync": "said", "frame": "framed", "answer": "answered", "chain": "second", "script": "scripted", "framed page": "answered",
		"busy": "done", "disabling": "enabled", "route": "routed", "hash": "hashed", "steps": "step 3", "leave": "there", "pieces": "assembled",
	} {
		d.open("buttons")
		r := d.do(`{"action":"click","role":"button","name":"` + button + `","snapshot":"full"}`)
		if button == "framed page" { // frames come with the text
			r = d.do(`{"action":"get_text","snapshot":"none"}`)
			r.Snapshot = &browse.Snapshot{Text: *r.Text}
		}
		if !strings.Contains(r.Snapshot.Text, want) || r.Landed != nil && !*r.Landed {
			t.Errorf("%s: %v %s", button, r.Notices, r.Snapshot.Text)
		}
	}
}

func TestWhatAClickBeganInAFrameIsWaitedFor(t *testing.T) {
	script, at := pageScript(t), workshop(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for button, want := range map[string]string{"answer": "answered", "steps": "step 3", "busy": "done"} {
		d.open("inner")
		if r := d.do(`{"action":"click","role":"button","name":"` + button + `","snapshot":"full"}`); !strings.Contains(r.Snapshot.Text, want) {
			t.Errorf("%s: %v %s", button, r.Notices, r.Snapshot.Text)
		}
	}
}

func TestWhatFadesIsWaitedFor(t *testing.T) {
	script, at := pageScript(t), workshop(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	d.open("fading")
	if r := d.do(`{"action":"click","role":"button","name":"Close","snapshot":"full"}`); !strings.Contains(r.Snapshot.Text, "closed") {
		t.Errorf("%s", r.Snapshot.Text)
	}
}

// settleCap is what an action is let wait for at most, in milliseconds.
const settleCap = 5000

func TestPagesThatAreNeverIdleAreNotWaitedFor(t *testing.T) {
	script, at := pageScript(t), workshop(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for _, page := range []string{"restless", "polling"} {
		d.open(page)
		for range 3 {
			r := d.do(`{"action":"click","role":"button","name":"press","snapshot":"full"}`)
			if !strings.Contains(r.Snapshot.Text, "pressed") || r.ElapsedMS >= settleCap {
				t.Errorf("%s: %s", page, r.Snapshot.Text)
			}
		}
	}
}

func TestAPageThatHasJustComeIsWaitedFor(t *testing.T) {
	script, at := pageScript(t), workshop(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for page, want := range map[string]string{"app": "loaded", "onward": "there", "meta": "there"} {
		r := d.open(page)
		if !strings.Contains(r.Snapshot.Text, want) {
			t.Errorf("%s: %s %v %s", page, r.URL, r.Notices, r.Snapshot.Text)
		}
	}
}

func TestATextInAFrameIsWaitedFor(t *testing.T) {
	script, at := pageScript(t), workshop(t)
	for sentence, o := range map[string]browse.Options{"found": {}, "not looked for": {AllowDomains: []string{"127.0.0.1"}}} {
		d := drive(t, launch(t), script, o)
		d.at = at
		d.open("late")
		if _, err := d.try(`{"action":"wait","text":"answered","timeout_ms":3000}`); (err == nil) != (sentence == "found") {
			t.Errorf("%s: %v", sentence, err)
		}
	}
}

func TestAFrameOfAnotherSiteIsNotWaitedForTwice(t *testing.T) {
	c, script, at := hostile(t, map[string]string{
		"/":       `<h1>outer</h1><iframe id="f"></iframe><script>f.src = "{OTHER}/inside"</script>`,
		"/inside": `<p>inside</p>`,
	})
	d := drive(t, c, script, browse.Options{})
	d.at = at
	if r := d.open(""); strings.Contains(strings.Join(r.Notices, " "), "waits for its server") {
		t.Errorf("after %d ms: %v", r.ElapsedMS, r.Notices)
	}
}
