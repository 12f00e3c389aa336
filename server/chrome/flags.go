package chrome

import "os"

// commandLine is all that Chrome is started with after its path: this list and nothing else. A test holds
// it against the running process.
func commandLine(b Binary, profile string) []string {
	line := []string{
		"--remote-debugging-pipe",
		"--user-data-dir=" + profile,
		"--window-size=1280,800",
		"--lang=en-US",
		// The way out: each session's context names its own forwarder; whatever belongs to no session meets a
		// port where nobody listens. <-loopback> keeps loopback and link-local names from going direct.
		"--proxy-server=127.0.0.1:1",
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
		"--disable-features=AutofillServerCommunication,MediaRouter,OptimizationHints,Translate",
		"--disable-gpu",
		"--disable-sync",
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
