package chrome_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// canary listens on the machine's own loopback, TCP and UDP on one port, and counts who comes.
type canary struct {
	port int
	seen atomic.Int64
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	var lc net.ListenConfig
	tcp, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := tcp.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("not a TCP address")
	}
	c := &canary{port: addr.Port}
	udp, err := lc.ListenPacket(t.Context(), "udp4", fmt.Sprintf("127.0.0.1:%d", c.port))
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

// hostile is a page that tries every road to the canary and then says so to its own site.
func (c *canary) hostile() string {
	return strings.ReplaceAll(`<body><script>(async () => {
		const roads = [];
		for (const host of ['127.0.0.1', 'localhost', 'x.localhost', '0.0.0.0', '[::1]']) {
			roads.push(fetch('http://' + host + ':PORT/fetch', {mode: 'no-cors'}).catch(() => {}));
			roads.push(new Promise(done => { const i = new Image(); i.onload = i.onerror = done; i.src = 'http://' + host + ':PORT/image'; }));
			roads.push(new Promise(done => { const s = new WebSocket('ws://' + host + ':PORT/'); s.onerror = s.onclose = done; }));
			roads.push(new Promise(done => { const e = new EventSource('http://' + host + ':PORT/events'); e.onerror = () => { e.close(); done(); }; }));
		}
		const candidates = [];
		const rtc = new RTCPeerConnection({iceServers: [
			{urls: 'stun:127.0.0.1:PORT'},
			{urls: ['turn:127.0.0.1:PORT?transport=udp', 'turn:127.0.0.1:PORT?transport=tcp'], username: 'u', credential: 'p'}]});
		rtc.onicecandidate = e => { if (e.candidate) candidates.push(e.candidate.candidate); };
		rtc.createDataChannel('x');
		await rtc.setLocalDescription(await rtc.createOffer());
		roads.push(new Promise(done => { const look = () => rtc.iceGatheringState === 'complete' ? done() : setTimeout(look, 20); look(); setTimeout(done, 3000); }));
		await Promise.all(roads);
		await fetch('/tried?candidates=' + candidates.length);
	})()</script>`, "PORT", strconv.Itoa(c.port))
}

func TestNothingReachesTheMachineButByTheWayOut(t *testing.T) {
	for name, arrange := range map[string]func(*testing.T, *world){
		"confined by the kernel": func(t *testing.T, w *world) {
			t.Helper()
			if got := w.Confinement(); got.Mode != chrome.ByKernel {
				t.Fatalf("this machine does not confine: %s", got.Reason)
			}
		},
		"confined by flags alone": func(_ *testing.T, w *world) { w.WithoutNamespaces() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCanary(t)
			s := newSite(t, map[string]string{"/": c.hostile()})
			w := newWorld(t, s)
			arrange(t, w)
			run(t, w.open(t, chrome.Interactive), program.NewTab, navigate(s.URL+"/"))
			if !s.waitFor("GET /tried?candidates=0") {
				t.Errorf("the page did not come to an end without a candidate: %q", s.lines())
			}
			if n := c.seen.Load(); n != 0 {
				t.Errorf("the canary saw %d attempts", n)
			}
			if !w.exits.asked(fmt.Sprintf("127.0.0.1:%d", c.port)) {
				t.Error("the way out was not asked for the canary: the page tried nothing")
			}
		})
	}
}

func TestChromeLivesInNamespacesOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.open(t, chrome.ReadOnly)
	pid := chromePID(t, w.runDir)
	for _, space := range []string{"net", "pid", "mnt"} {
		ours, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			t.Fatal(err)
		}
		if its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, space)); err != nil || its == ours {
			t.Errorf("%s namespace is %q, %v; ours is %q", space, its, err, ours)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"CapPrm", "CapEff", "CapAmb"} {
		if !strings.Contains(string(status), set+":\t0000000000000000\n") {
			t.Errorf("Chrome has capabilities: %s is not empty", set)
		}
	}
}

// TestAsAnOrdinaryUser runs other tests of this package once more as a user who may do nothing: there Chrome's own
// sandbox is on, and the namespaces need one of users.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then every test here is run as an ordinary user already
	}
	const nobody = 65534
	home := shortDir(t)
	binary := filepath.Join(home, "chrome.test")
	copyFile(t, os.Args[0], binary)
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), binary)
	again.Dir = home
	again.Env = []string{"TMPDIR=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), testChrome + "=" + os.Getenv(testChrome)}
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	mustPassAgain(t, again,
		"TestPagesLoadThroughTheWayOutOnly", "TestChromeIsStartedWithExactlyTheList",
		"TestNothingReachesTheMachineButByTheWayOut", "TestChromeLivesInNamespacesOfItsOwn", "TestAKilledServerLeavesNothing")
}

// TestWithAFullBrowser runs what differs between the headless shell and a full browser with the latter.
func TestWithAFullBrowser(t *testing.T) {
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser", "microsoft-edge"} {
		full, err := chrome.Find(name)
		if err != nil {
			continue
		}
		again := exec.CommandContext(t.Context(), os.Args[0])
		again.Env = append(os.Environ(), testChrome+"="+full.Path)
		mustPassAgain(t, again,
			"TestPagesLoadThroughTheWayOutOnly", "TestChromeIsStartedWithExactlyTheList",
			"TestNothingReachesTheMachineButByTheWayOut", "TestReadOnlyLetsNothingBePosted", "TestAPopupBecomesTheSessions",
			"TestACastShowsTheNewest")
		return
	}
	t.Fatal("this machine has no full browser")
}

// mustPassAgain runs tests of this package in another process.
func mustPassAgain(t *testing.T, again *exec.Cmd, tests ...string) {
	t.Helper()
	again.Args = append(again.Args, "-test.v", "-test.run=^("+strings.Join(tests, "|")+")$")
	said, err := again.CombinedOutput()
	if passed := strings.Count("\n"+string(said), "\n--- PASS: "); err != nil || passed != len(tests) {
		t.Errorf("%d of %d passed: %v\n%s", passed, len(tests), err, said)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
