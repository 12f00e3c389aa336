package chrome_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// canary listens on every address of the machine, TCP and UDP on one port, and counts who comes.
type canary struct {
	port int
	seen atomic.Int64
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	var lc net.ListenConfig
	tcp, err := lc.Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := tcp.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("not a TCP address")
	}
	c := &canary{port: addr.Port}
	udp, err := lc.ListenPacket(t.Context(), "udp", fmt.Sprintf(":%d", c.port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close(); _ = udp.Close() })
	go func() {
		for {
			in, err := tcp.Accept()
			if err != nil {
				return
			}
			c.seen.Add(1)
			_ = in.Close()
		}
	}()
	go func() {
		buffer := make([]byte, 1500)
		for {
			if _, _, err := udp.ReadFrom(buffer); err != nil {
				return
			}
			c.seen.Add(1)
		}
	}()
	return c
}

// spellings are the ways to write a host that is this machine, or another that nobody may reach.
var spellings = []string{
	"127.0.0.1", "localhost", "x.localhost", "0.0.0.0", "[::1]", "[::]", "127.1", "2130706433", "0x7f000001", "0177.0.0.1",
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.255.255.254", "169.254.169.254", "10.0.0.1", "name.attacker.test",
}

// hostile is a site each of whose pages tries roads past the way out, to the canary or to names that no resolver may
// hear. Its first page tells when all have come to an end.
func (c *canary) hostile(t *testing.T) *site {
	t.Helper()
	s := newSite(t, nil)
	pages := map[string]string{"/": "<body><script>" + common + roads + "</script>"}
	for _, kind := range []string{"worker", "shared", "sw"} {
		pages["/"+kind+".js"] = common + inWorker
	}
	fill := strings.NewReplacer("PORT", strconv.Itoa(c.port), "HOSTS", `"`+strings.Join(spellings, `","`)+`"`)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r.Method + " " + r.URL.RequestURI())
		there := fmt.Sprintf("http://127.0.0.1:%d/", c.port)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Alt-Svc", fmt.Sprintf(`h3=":%d"; ma=60, h2="127.0.0.1:%[1]d"`, c.port))
		switch path := r.URL.Path; path {
		case "/redirect":
			http.Redirect(w, r, there+"redirected", http.StatusFound)
		case "/redirect-file":
			http.Redirect(w, r, "file:///etc/hostname", http.StatusFound)
		case "/meta":
			_, _ = fmt.Fprintf(w, `<meta http-equiv=refresh content="0;url=%smeta">`, there)
		case "/hints":
			w.Header().Set("Link", "<"+there+"hinted.css>; rel=preload; as=style, <http://hinted.attacker.test>; rel=preconnect")
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "hinted")
		default:
			if strings.HasSuffix(path, ".js") {
				w.Header().Set("Content-Type", "text/javascript")
			}
			_, _ = io.WriteString(w, fill.Replace(pages[path]))
		}
	})
	return s
}

// common are the roads that pages and workers have alike.
const common = `
const hosts = [HOSTS];
const soon = (ms) => new Promise(done => setTimeout(done, ms));
const ends = (make) => Promise.race([new Promise(done => { try { make(done) } catch { done() } }), soon(4000)]);
const plain = () => hosts.flatMap(host => [
	ends(done => fetch('http://' + host + ':PORT/fetch', {mode: 'no-cors'}).then(done, done)),
	ends(done => fetch('https://' + host + ':PORT/tls', {mode: 'no-cors'}).then(done, done)),
	ends(done => { const s = new WebSocket('ws://' + host + ':PORT/'); s.onerror = s.onclose = done }),
	ends(done => { const s = new WebSocket('wss://' + host + ':PORT/'); s.onerror = s.onclose = done }),
	ends(done => { const e = new EventSource('http://' + host + ':PORT/events'); e.onerror = () => { e.close(); done() } }),
	ends(done => { const w = new WebTransport('https://' + host + ':PORT/'); w.ready.then(done, done); w.closed.catch(() => {}) }),
]);
`

const inWorker = `
const tell = (to) => Promise.all(plain()).then(() => to.postMessage('done'));
onmessage = (e) => tell(e.source ?? self);
onconnect = (e) => tell(e.ports[0]);
`

const roads = `(async () => {
	const all = plain();
	const element = (name, more) => { const e = Object.assign(document.createElement(name), more); document.head.append(e); return e };
	for (const host of hosts) {
		all.push(ends(done => { const i = new Image(); i.onload = i.onerror = done; i.src = 'http://' + host + ':PORT/image' }));
		navigator.sendBeacon('http://' + host + ':PORT/beacon', 'x');
		for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'preload', 'modulepreload', 'icon', 'stylesheet'])
			element('link', {rel, as: 'script', href: 'http://' + rel + '.' + host.replaceAll(/[\[\]:]/g, '') + ':PORT/' + rel}), element('link', {rel, as: 'script', href: 'http://' + host + ':PORT/' + rel});
	}
	element('script', {type: 'speculationrules', text: JSON.stringify({
		prefetch: [{source: 'list', urls: hosts.map(host => 'http://' + host + ':PORT/prefetched')}],
		prerender: [{source: 'list', urls: ['http://127.0.0.1:PORT/prerendered']}]})});
	for (const src of ['/redirect', '/redirect-file', '/meta', '/hints', 'http://127.0.0.1:PORT/frame', 'file:///etc/hostname'])
		all.push(ends(done => document.body.append(Object.assign(document.createElement('iframe'), {src, onload: () => setTimeout(done, 500)}))));
	all.push(ends(done => document.body.append(Object.assign(document.createElement('iframe'), {
		srcdoc: '<script>new WebSocket("ws://127.0.0.1:PORT/"); fetch("http://127.0.0.1:PORT/srcdoc", {mode: "no-cors"}); location = "http://127.0.0.1:PORT/location"</' + 'script>', onload: () => setTimeout(done, 500)}))));
	all.push(ends(done => { const w = new Worker('/worker.js'); w.onmessage = done; w.postMessage('go') }));
	all.push(ends(done => { new SharedWorker('/shared.js').port.onmessage = done }));
	all.push(ends(async done => { const r = await navigator.serviceWorker.register('/sw.js'); await navigator.serviceWorker.ready; navigator.serviceWorker.onmessage = done; r.active.postMessage('go') }));
	const candidates = [];
	const ice = hosts.flatMap(host => [{urls: 'stun:' + host + ':PORT'}, {urls: ['turn:' + host + ':PORT?transport=udp', 'turn:' + host + ':PORT?transport=tcp', 'turns:' + host + ':PORT?transport=tcp'], username: 'u', credential: 'p'}]);
	const call = (servers) => ends(async done => {
		const rtc = new RTCPeerConnection({iceServers: servers}), far = new RTCPeerConnection();
		rtc.onicecandidate = e => { if (e.candidate) candidates.push(e.candidate.candidate) };
		rtc.createDataChannel('x');
		await rtc.setLocalDescription(await rtc.createOffer());
		await far.setRemoteDescription(rtc.localDescription);
		await far.setLocalDescription(await far.createAnswer());
		await rtc.setRemoteDescription(far.localDescription);
		for (const host of ['127.0.0.1', '10.0.0.1', '::1'])
			await rtc.addIceCandidate({sdpMid: '0', candidate: 'candidate:1 1 udp 2122260223 ' + host + ' PORT typ host'}).catch(() => {});
		const look = () => rtc.iceGatheringState === 'complete' ? setTimeout(done, 1000) : setTimeout(look, 20); look();
	});
	for (let i = 0; i < ice.length; i += 4) all.push(call(ice.slice(i, i + 4)));
	await Promise.all(all);
	await fetch('/tried?candidates=' + candidates.length);
})()`

// TestNothingReachesTheMachineButByTheWayOut lets a hostile site try every road, with a canary on the machine's addresses
// and, for who may, with all that goes over the wire taken down.
func TestNothingReachesTheMachineButByTheWayOut(t *testing.T) {
	t.Parallel()
	c := newCanary(t)
	s := c.hostile(t)
	w := newWorld(t, s)
	if got := w.Confinement(); got.Mode != chrome.ByKernel {
		t.Fatalf("this machine does not confine: %s", got.Reason)
	}
	w.suffers(t, s, c)
}

// TestNothingPassesTheWayOutByFlagsAlone does so on a machine whose kernel confines nothing. That machine is a network
// namespace of the test's own, where root can see all that Chrome sends.
func TestNothingPassesTheWayOutByFlagsAlone(t *testing.T) {
	t.Parallel()
	if os.Getenv("CHAPERONE_TEST_ALONE") == "" && os.Geteuid() == 0 {
		again := exec.CommandContext(t.Context(), os.Args[0])
		again.Env = append(os.Environ(), "CHAPERONE_TEST_ALONE=1")
		again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		mustPassAgain(t, again, t.Name())
		return
	}
	if os.Getenv("CHAPERONE_TEST_ALONE") != "" {
		becomeAMachine(t)
	}
	c := newCanary(t)
	s := c.hostile(t)
	w := newWorld(t, s)
	w.WithoutNamespaces()
	w.suffers(t, s, c)
}

// suffers opens the hostile site and fails the test for whatever went past the way out.
func (w *world) suffers(t *testing.T, s *site, c *canary) {
	t.Helper()
	b := w.open(t, chrome.Interactive)
	var taken *wire
	if pid := chromePID(t, w.runDir); os.Geteuid() == 0 {
		if os.Getenv("CHAPERONE_TEST_ALONE") == "" {
			leadToLoopback(t, pid)
		}
		taken = tap(t, pid)
	}
	run(t, b, program.NewTab, navigate(s.URL+"/"))
	if !s.waitFor("GET /tried?candidates=0") {
		t.Errorf("the page did not come to an end without a candidate: %q", s.lines())
	}
	if n := c.seen.Load(); n != 0 {
		t.Errorf("the canary saw %d attempts", n)
	}
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "[::1]", "10.0.0.1", "name.attacker.test"} {
		if !w.exits.asked(host + ":" + strconv.Itoa(c.port)) {
			t.Errorf("the way out was not asked for %s: the page tried nothing", host)
		}
	}
	if taken == nil {
		return
	}
	// Chrome's own requests, which are no session's, find nobody at port 1 (flags.go).
	permitted := append(slices.DeleteFunc(taken.listening(t), func(port int) bool { return port == c.port }), 1)
	taken.stop()
	if astray := taken.astray(permitted); len(astray) > 0 {
		t.Errorf("sent past the way out: %q; permitted are %v", astray, permitted)
	}
	if len(taken.seen) == 0 {
		t.Error("nothing was seen on the wire, not even what goes the permitted way")
	}
}
