package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server"
)

// knocked is how a request, written out, was answered.
type knocked struct {
	status int
	body   string
}

// knockAt writes a request for a path with exactly these header lines.
func knockAt(t *testing.T, host, path string, lines ...string) knocked {
	t.Helper()
	var dialer net.Dialer
	c, err := dialer.DialContext(t.Context(), "tcp", host)
	check(t, err)
	defer func() { _ = c.Close() }()
	check(t, c.SetDeadline(time.Now().Add(patience)))
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	if !strings.HasPrefix(path, "/devtools/") {
		upgrade = []string{"Connection: close"}
	}
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\n%s\r\n\r\n", path, strings.Join(slices.Concat(lines, upgrade), "\r\n"))
	check(t, err)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(t, err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return knocked{status: response.StatusCode}
	}
	body := make([]byte, 512)
	n, _ := response.Body.Read(body)
	return knocked{status: response.StatusCode, body: string(body[:n])}
}

// interactive is a server whose default project is so, with a managed session at the site's start.
func interactive(t *testing.T) (*served, *site, string) {
	t.Helper()
	site := openSite(t)
	s := serve(t, "--test-origin", site.origin)
	s.policy("interactive")
	session := s.session("managed")
	s.act(session, action{"action": "open", "url": site.origin + "/"})
	return s, site, session
}

func TestTheEndpointLetsInOnlyWhoKnowsItAndIsNoPage(t *testing.T) {
	s, _, session := interactive(t)
	o := s.openCDP(session)
	host := o.host()
	_, port, err := net.SplitHostPort(host)
	check(t, err)
	own, paths := "Host: "+host, map[string]int{
		"/devtools/browser/" + o.secret(): http.StatusSwitchingProtocols, "/" + o.secret() + "/json/version": http.StatusOK,
		"/" + o.secret() + "/json/version/": http.StatusOK, "/" + o.secret() + "/json/list": http.StatusOK,
	}
	for path, want := range paths {
		for _, host := range []string{own, "Host: localhost:" + port} {
			if got := knockAt(t, o.host(), path, host); got.status != want {
				t.Errorf("with %s, %s is answered %d, want %d", host, shape(o, path), got.status, want)
			}
		}
		for _, lines := range slices.Concat(foreignHosts(port), origins(own, host)) {
			if got := knockAt(t, o.host(), path, lines...); got.status != http.StatusForbidden && got.status != http.StatusBadRequest {
				t.Errorf("with %v, %s is answered %d", lines, shape(o, path), got.status)
			}
		}
	}
	s.checkUnknown(session, o)
}

// shape is a path without the secret.
func shape(o opening, path string) string { return strings.ReplaceAll(path, o.secret(), "SECRET") }

func foreignHosts(port string) [][]string {
	names := []string{
		"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "127.1", "127.0.0.2", "0.0.0.0",
		"localhost.", "LOCALHOST", "127.0.0.1.", "127.0.0.1.example.com", "example.com",
	}
	hosts := make([][]string, 0, len(names))
	for _, name := range names {
		hosts = append(hosts, []string{"Host: " + name + ":" + port})
	}
	return append(hosts, []string{"X-None: 1"}, []string{"Host: 127.0.0.1"}, []string{"Host:"}, []string{"Host: 127.0.0.1:1"}, []string{"Host: 127.0.0.1:0" + port})
}

func origins(own, host string) [][]string {
	names := []string{"", "null", "https://example.com", "http://" + host, "chrome-extension://" + server.ExtensionID}
	list := make([][]string, 0, len(names))
	for _, origin := range names {
		list = append(list, []string{own, "Origin: " + origin})
	}
	return list
}

// checkUnknown wants whatever is no capability now to be answered alike: never one, revoked, and of an ended session.
func (s *served) checkUnknown(session string, o opening) {
	s.t.Helper()
	never := o.secret()[:len(o.secret())-4] + "AAAA"
	want := knockAt(s.t, o.host(), "/devtools/browser/"+never, "Host: "+o.host())
	if want.status != http.StatusNotFound {
		s.t.Errorf("a wrong capability is answered %d", want.status)
	}
	s.must("cdp", session, "--revoke")
	if got := knockAt(s.t, o.host(), "/devtools/browser/"+o.secret(), "Host: "+o.host()); got != want {
		s.t.Errorf("a revoked one is answered %+v, a wrong one %+v", got, want)
	}
	later := s.openCDP(session)
	c := speak(s.t, later.WS)
	s.must("session", "close", session)
	if _, err := c.try("", "Browser.getVersion", struct{}{}); err == nil {
		s.t.Error("the session's end left its client connected")
	}
	if got := knockAt(s.t, o.host(), "/devtools/browser/"+later.secret(), "Host: "+o.host()); got != want {
		s.t.Errorf("an ended session's is answered %+v, a wrong one %+v", got, want)
	}
}

func TestWhoMayHaveAnEndpoint(t *testing.T) {
	s, _, session := interactive(t)
	token := strings.TrimSpace(s.must("token", "create", "--project", "default", "--role", "observe"))
	if r := s.runAs(token, "cdp", session); r.code != 3 || !strings.Contains(r.err, "forbidden") {
		t.Errorf("an observer: %+v", r)
	}
	s.must("project", "new", "other", "--policy", "interactive")
	stranger := strings.TrimSpace(s.must("token", "create", "--project", "other", "--role", "control"))
	if r := s.runAs(stranger, "cdp", session); r.code != 1 || !strings.Contains(r.err, "not_found") {
		t.Errorf("another project's token: %+v", r)
	}
	o := s.openCDP(session)
	s.policy("read_only")
	if got := knockAt(t, o.host(), "/devtools/browser/"+o.secret(), "Host: "+o.host()); got.status != http.StatusNotFound {
		t.Errorf("after the project became read-only: %d", got.status)
	}
	if r := s.run("cdp", s.session("managed")); r.code != 3 || !strings.Contains(r.err, "read_only_refused") || !strings.Contains(r.err, "--policy interactive") {
		t.Errorf("a read-only project: %+v", r)
	}
}

func TestARevokedTokenTakesItsEndpointAlong(t *testing.T) {
	s, _, session := interactive(t)
	var made struct{ ID, Token string }
	decodeJSON(t, s.must("token", "create", "--project", "default", "--role", "control", "--json"), &made)
	r := s.runAs(made.Token, "cdp", session)
	if r.code != 0 {
		t.Fatalf("the token's own request: %+v", r)
	}
	c := speak(t, strings.TrimSpace(r.out))
	c.must("", "Browser.getVersion", struct{}{}, nil)
	s.must("token", "revoke", made.ID)
	revoked := time.Now()
	s.await(func() bool {
		_, err := c.try("", "Browser.getVersion", struct{}{})
		return err != nil
	}, "the client to be cut off")
	if took := time.Since(revoked); took > 5*time.Second {
		t.Errorf("the client went on for %v", took)
	}
	s.await(func() bool { return strings.Contains(s.must("ledger", "list"), "cdp.close") }, "the row of the end")
}

// runAs runs the command line with a token of its own.
func (s *served) runAs(token string, args ...string) said {
	s.t.Helper()
	s.t.Setenv("CHAPERONE_TOKEN", token)
	defer s.t.Setenv("CHAPERONE_TOKEN", "")
	return s.run(args...)
}

func TestAClientReachesItsOwnSessionsTabsAlone(t *testing.T) {
	s, site, session := interactive(t)
	s.must("project", "new", "other", "--policy", "interactive")
	foreign := strings.TrimSpace(s.must("session", "new", "--project", "other"))
	s.act(foreign, action{"action": "open", "url": site.origin + "/second"})
	beside := s.session("managed")
	s.act(beside, action{"action": "open", "url": site.origin + "/form"})
	mine := speak(t, s.openCDP(session).WS)
	target, held := mine.page()
	for _, other := range []string{foreign, beside} {
		o := s.openCDP(other)
		theirs := speak(t, o.WS)
		id, attached := theirs.page()
		if id == target {
			t.Fatal("two sessions have one page")
		}
		mine.refused("", "Target.attachToTarget", map[string]any{"targetId": id, "flatten": true})
		mine.refused("", "Target.closeTarget", map[string]any{"targetId": id})
		mine.refused("", "Target.activateTarget", map[string]any{"targetId": id})
		mine.refused("", "Target.getTargetInfo", map[string]any{"targetId": id})
		mine.refused(attached, "Runtime.evaluate", evaluate("1"))
		if answer, err := speak(t, "ws://"+o.host()+"/devtools/page/"+o.secret()+"/"+target).try("", "Runtime.evaluate", evaluate("1")); err == nil {
			t.Errorf("the page of another session was opened by its id: %+v", answer)
		}
		if got := theirs.eval(attached, "1 + 1"); got != "2" {
			t.Errorf("the other client is answered %s", got)
		}
	}
	if got := mine.eval(held, "document.title"); got != "Start" {
		t.Errorf("the own page is %s", got)
	}
}

func TestWhatNoClientMayDo(t *testing.T) {
	s, site, session := interactive(t)
	c := speak(t, s.openCDP(session).WS)
	target, page := c.page()
	for _, address := range []string{
		"file:///etc/passwd", "javascript:document.title='x'", "data:text/html,x", "chrome://version", "view-source:" + site.origin, "about:srcdoc",
		"chrome-extension://" + server.ExtensionID + "/popup.html", "filesystem:" + site.origin + "/x", "blob:" + site.origin + "/x", " file:///etc/passwd",
		"FILE:///etc/passwd", "devtools://devtools/bundled/inspector.html", "ftp://127.0.0.1/", "",
	} {
		c.refused(page, "Page.navigate", map[string]any{"url": address})
		if answer, err := c.try("", "Target.createTarget", map[string]any{"url": address}); err != nil || address != "" && answer.Error == nil {
			t.Errorf("a tab was made at %q: %s, %v", address, answer.Result, err)
		}
	}
	for _, method := range []string{
		"Network.getCookies", "Network.getAllCookies", "Network.setCookie", "Network.deleteCookies", "Network.clearBrowserCookies",
		"Page.getCookies", "Page.setDownloadBehavior", "Storage.getCookies", "Storage.setCookies", "Storage.clearDataForOrigin",
		"DOMStorage.getDOMStorageItems", "IndexedDB.requestDatabaseNames", "CacheStorage.requestCacheNames", "Fetch.enable",
		"Browser.grantPermissions", "Browser.crash", "IO.read", "Tracing.start", "WebAuthn.enable", "DOM.setFileInputFiles",
		"Target.exposeDevToolsProtocol", "Page.crash", "network.getCookies", "Network.getCookies ",
	} {
		c.refused(page, method, struct{}{})
		c.refused("", method, struct{}{})
	}
	var navigated struct{ ErrorText string }
	c.must(page, "Page.navigate", map[string]any{"url": "http://" + strings.TrimPrefix(s.info.URL, "http://") + "/"}, &navigated)
	if navigated.ErrorText == "" && c.eval(page, "document.body.innerText.includes('Chaperone')") == "true" {
		t.Error("a client reached the server itself")
	}
	c.must("", "Target.closeTarget", map[string]any{"targetId": target}, nil)
}

func TestASessionCountsItsClients(t *testing.T) {
	s, _, session := interactive(t)
	o := s.openCDP(session)
	count := func() int {
		var view struct {
			Clients int `json:"cdp_clients"`
		}
		s.ask(http.MethodGet, "/sessions/"+session, nil, &view)
		return view.Clients
	}
	for i := range 3 {
		c := speak(t, o.WS)
		c.must("", "Browser.getVersion", struct{}{}, nil)
		if got := count(); got != i+1 {
			t.Errorf("with %d clients the session shows %d", i+1, got)
		}
	}
	s.must("cdp", session, "--revoke")
	if got := count(); got != 0 {
		t.Errorf("after the end the session shows %d", got)
	}
}

// Chrome answers a navigation before the new page can take input, and a page that is sent some too early takes none ever.
func TestAPageTakesInputFromTheAnswerToItsNavigationOn(t *testing.T) {
	s, site, session := interactive(t)
	c := speak(t, s.openCDP(session).WS)
	_, page := c.page()
	begun := func(method string, params any) {
		c.must(page, method, params, nil)
		c.must(page, "Input.insertText", map[string]any{"text": "a"}, nil)
	}
	for i := range 20 {
		begun("Page.navigate", map[string]any{"url": fmt.Sprintf("%s/form?%d", site.origin, i)})
		begun("Page.reload", struct{}{})
	}
	var history struct{ Entries []struct{ ID int } }
	c.must(page, "Page.getNavigationHistory", struct{}{}, &history)
	for _, entry := range history.Entries {
		begun("Page.navigateToHistoryEntry", map[string]any{"entryId": entry.ID})
	}
}

func TestTheSecretIsWrittenNowhere(t *testing.T) {
	s, site, session := interactive(t)
	o := s.openCDP(session)
	c := speak(t, o.WS)
	_, page := c.page()
	c.must(page, "Page.navigate", map[string]any{"url": site.origin + "/form?q=very-private"}, nil)
	c.must(page, "Input.insertText", map[string]any{"text": "very-private"}, nil)
	c.refused(page, "very-private", struct{}{})
	s.await(func() bool { return strings.Contains(s.must("ledger", "list"), "commands") }, "the second's row")
	s.must("cdp", session, "--revoke")
	texts := map[string]string{"the log": s.log.String(), "the ledger": s.must("ledger", "export")}
	check(t, filepath.WalkDir(s.data, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !entry.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(s.data, "run")) {
			return err
		}
		raw, err := os.ReadFile(path)
		texts[path] = string(raw)
		return err
	}))
	for where, text := range texts {
		for what, secret := range map[string]string{"the capability": o.secret(), "what was typed": "very-private"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %s", where, what)
			}
		}
	}
}
