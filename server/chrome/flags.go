package chrome

import (
	"os"
	"strconv"
)

// nobody is the port of the proxy where no session is asked: nobody listens there.
const nobody = 1

// commandLine is all that Chrome is started with after its path: this list and nothing else. A test holds
// it against the running process. wayOut is the port that whatever belongs to no context of a session's own goes to.
func commandLine(b Binary, userData string, wayOut int) []string {
	line := []string{
		"--remote-debugging-pipe",
		"--user-data-dir=" + userData,
		"--window-size=1280,800",
		"--lang=en-US",
		// The way out: each session's context names its own forwarder, and whatever belongs to no session meets a
		// port where nobody listens. A profile's one session is in no context of its own: there the forwarder is named here.
		// <-loopback> keeps loopback and link-local names from going direct.
		"--proxy-server=127.0.0.1:" + strconv.Itoa(wayOut),
		"--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--disable-quic",
		// Two spellings: each Chrome heeds one of them.
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		// Quiet: nothing but the sessions' pages asks for anything.
		"--no-first-run",
		"--no-default-browser-check",
		"--no-startup-window",
		// Frames of other sites have processes of their own, in the headless shell too, as they have everywhere else.
		"--site-per-process",
		"--disable-background-networking",
		"--disable-breakpad",
		"--disable-client-side-phishing-detection",
		"--disable-component-update",
		"--disable-default-apps",
		"--disable-domain-reliability",
		"--disable-extensions",
		"--disable-features=AutofillServerCommunication,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate",
		"--disable-gpu",
		"--disable-sync",
		// These two have no switch that is heeded: they ask where nobody is.
		"--component-updater=url-source=http://127.0.0.1:1/",
		"--gaia-url=http://127.0.0.1:1",
		"--metrics-recording-only",
		"--mute-audio",
		"--password-store=basic",
		"--use-mock-keychain",
		// No window is ever in front here: every tab runs at full speed.
		"--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",
	}
	if b.Kind == FullBrowser {
		line = append(line, "--headless=new")
	}
	if isRoot() {
		line = append(line, "--no-sandbox") // Chrome refuses to start as root with its sandbox
	}
	return line
}

func isRoot() bool { return os.Geteuid() == 0 }

// environment is all of Chrome's environment; home and tmp are folders of the process.
func environment(home, tmp string) []string {
	return []string{
		"HOME=" + home,
		"TMPDIR=" + tmp,
		"XDG_CONFIG_HOME=" + home,
		"XDG_CACHE_HOME=" + home,
		"XDG_RUNTIME_DIR=" + tmp,
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8",
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
	}
}
