package chrome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
	"chaperone/server/fault"
)

// signIn is a site that knows a person by a cookie that script cannot see.
func signIn(t *testing.T) *site {
	t.Helper()
	s := newSite(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r.Method + " " + r.URL.RequestURI())
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "who", Value: "me", MaxAge: 86_400, HttpOnly: true, Path: "/"})
			_, _ = io.WriteString(w, "<title>signed in</title><script>localStorage.kept = 'kept'</script>")
		case "/sw.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `onfetch = e => { if (e.request.method === 'POST') e.respondWith(fetch(e.request)) };
				oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim())`)
		case "/worker":
			_, _ = io.WriteString(w, `<script>navigator.serviceWorker.oncontrollerchange = () => fetch('/controlled');
				navigator.serviceWorker.register('/sw.js')</script>`)
		case "/form":
			_, _ = io.WriteString(w, `<iframe name=into></iframe><form method=post action=/post target=into></form><script>
				document.forms[0].submit(); setTimeout(() => fetch('/tried'), 500)</script>`)
		default:
			who := "nobody"
			if c, err := r.Cookie("who"); err == nil {
				who = c.Value
			}
			_, _ = fmt.Fprintf(w, `<script>document.title = %q + ' ' + (localStorage.kept || 'nothing')</script>`, who)
		}
	})
	return s
}

// newProfiles is a world whose profiles are beneath root.
func newProfiles(t *testing.T, root string, sites ...*site) *world {
	t.Helper()
	w := &world{exits: &exits{}, runDir: shortDir(t), log: &bytes.Buffer{}, warm: -1, root: root}
	for _, s := range sites {
		w.exits.origins = append(w.exits.origins, s.host())
	}
	pool, err := chrome.NewPool(t.Context(), w.options())
	if err != nil {
		t.Fatal(err)
	}
	w.Pool = pool
	t.Cleanup(func() {
		w.close(t)
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	return w
}

// close ends the pool, of which nothing but the profiles is left.
func (w *world) close(t *testing.T) {
	t.Helper()
	if err := w.Close(context.Background()); err != nil {
		t.Error(err)
	}
	mustLeaveNothing(t, w.runDir)
	if w.exits.open != 0 {
		t.Errorf("%d ways out are still open", w.exits.open)
	}
}

const mine = "p_01KB9ZZZZZZZZZZZZZZZZZZZZZ"

func onProfile(account, profile string, policy chrome.Policy) chrome.OpenOptions {
	return chrome.OpenOptions{Account: account, Session: "s_1", Policy: policy, Profile: profile}
}

func (w *world) openProfile(t *testing.T, o chrome.OpenOptions) *chrome.Browser {
	t.Helper()
	b, err := w.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open session: %v\n%s", err, w.log)
	}
	return b
}

func end(t *testing.T, b *chrome.Browser) {
	t.Helper()
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// whoIs is what the site knows of the browser: its cookie, then what is in local storage.
func whoIs(t *testing.T, b *chrome.Browser, s *site) string {
	t.Helper()
	tab := run(t, b, program.NewTab, navigate(s.URL+"/"), settle()).Tab
	for _, open := range b.Tabs() {
		if open.ID == tab {
			return open.Title
		}
	}
	return "gone"
}

func TestASignInOutlivesSessionChromeAndServer(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	run(t, b, program.NewTab, navigate(s.URL+"/login"), settle())
	if got := whoIs(t, b, s); got != "me kept" {
		t.Fatalf("after signing in the site sees %q", got)
	}
	end(t, b)
	if left := processes(root); len(left) != 0 {
		t.Errorf("processes are left on the profile: %v", left)
	}
	b = w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	if got := whoIs(t, b, s); got != "me kept" {
		t.Errorf("in the next session, of another policy, the site sees %q", got)
	}
	for name, other := range map[string]chrome.OpenOptions{
		"another project":               onProfile("a_1", "p_2", chrome.ReadOnly),
		"another account's project":     onProfile("a_2", mine, chrome.ReadOnly),
		"a session without a profile":   onProfile("a_1", "", chrome.ReadOnly),
		"the other policy, without one": onProfile("a_1", "", chrome.Interactive),
	} {
		t.Run(name, func(t *testing.T) {
			b := w.openProfile(t, other)
			if got := whoIs(t, b, s); got != "nobody nothing" {
				t.Errorf("the site sees %q", got)
			}
			end(t, b)
		})
	}
	w.close(t) // with the session on it
	if left := processes(root); len(left) != 0 {
		t.Errorf("processes are left on the profile: %v", left)
	}
	next := newProfiles(t, root, s)
	if got := whoIs(t, next.openProfile(t, onProfile("a_1", mine, chrome.Interactive)), s); got != "me kept" {
		t.Errorf("after a restart of the server the site sees %q", got)
	}
}

func TestAProfileIsThereAfterItsChromeWasKilled(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	run(t, b, program.NewTab, navigate(s.URL+"/login"), settle())
	end(t, b)
	b = w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	tab := run(t, b, "t1", settle()).Tab
	failed := waits(b, tab)
	if err := syscall.Kill(chromePID(t, root), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustBe(t, <-failed, "session_ended")
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	b = w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	if got := b.Tabs(); len(got) != 1 || got[0].URL != s.URL+"/login" {
		t.Errorf("the tabs are %+v", got)
	}
	if got := whoIs(t, b, s); got != "me kept" {
		t.Errorf("afterwards the site sees %q", got)
	}
}

func TestAProfileServesOneSessionAtATime(t *testing.T) {
	root := filepath.Join(shortDir(t), "profiles")
	w, beside := newProfiles(t, root), newProfiles(t, root)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	w.WithSeatWait(50 * time.Millisecond)
	_, err := w.Open(t.Context(), onProfile("a_1", mine, chrome.Interactive))
	mustBeSaid(t, err, fault.Busy, "in use by another session")
	mustBeSaid(t, w.RemoveProfile(t.Context(), "a_1", mine), fault.Busy, "in use by another session")
	_, err = beside.Open(t.Context(), onProfile("a_1", mine, chrome.ReadOnly))
	mustBeSaid(t, err, fault.Busy, "in use by another server")
	mustBeSaid(t, beside.RemoveProfile(t.Context(), "a_1", mine), fault.Busy, "in use by another server")
	end(t, beside.openProfile(t, onProfile("a_2", mine, chrome.ReadOnly)))

	w.WithSeatWait(patience)
	opened := make(chan error, 1)
	go func() {
		_, err := w.Open(context.Background(), onProfile("a_1", mine, chrome.Interactive))
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("who should wait got %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	end(t, b)
	if err := <-opened; err != nil {
		t.Errorf("who waited gets %v", err)
	}
}

func mustBeSaid(t *testing.T, err error, code fault.Code, words string) {
	t.Helper()
	if !fault.Is(err, code) || !strings.Contains(fault.Of(err).Message, words) {
		t.Errorf("error is %v, want %s: …%s…", err, code, words)
	}
}

func TestAProfileThatOthersCanEnterIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(folder string) error{
		"its folder is open to its group":         func(folder string) error { return os.Chmod(folder, 0o750) },
		"its folder is open to all":               func(folder string) error { return os.Chmod(folder, 0o701) },
		"the account's folder is open":            func(folder string) error { return os.Chmod(filepath.Dir(folder), 0o711) },
		"a link stands where its folder is":       func(folder string) error { return errors.Join(os.Remove(folder), os.Symlink(os.TempDir(), folder)) },
		"a file stands where its folder is":       func(folder string) error { return errors.Join(os.Remove(folder), os.WriteFile(folder, nil, 0o600)) },
		"the account's folder is a link likewise": func(folder string) error { return linkAway(filepath.Dir(folder)) },
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(shortDir(t), "profiles")
			folder := filepath.Join(root, "a_1", mine)
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := spoil(folder); err != nil {
				t.Fatal(err)
			}
			_, err := newProfiles(t, root).Open(t.Context(), onProfile("a_1", mine, chrome.ReadOnly))
			mustBeSaid(t, err, fault.Unavailable, "only the server's user can enter")
		})
	}
}

func linkAway(folder string) error {
	return errors.Join(os.Rename(folder, folder+"-away"), os.Symlink(folder+"-away", folder))
}

func TestAProfilesIDIsNoPath(t *testing.T) {
	w := newProfiles(t, filepath.Join(shortDir(t), "profiles"))
	for name, o := range map[string]chrome.OpenOptions{
		"above":                onProfile("a_1", "..", chrome.ReadOnly),
		"elsewhere":            onProfile("a_1", "../a_2/"+mine, chrome.ReadOnly),
		"an account elsewhere": onProfile("../a_1", mine, chrome.ReadOnly),
		"too long":             onProfile("a_1", strings.Repeat("p", 65), chrome.ReadOnly),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := w.Open(t.Context(), o); !fault.Is(err, fault.BadRequest) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestAProfileIsStartedWithExactlyTheListAndItsOwnWayOut(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", chromePID(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ")
	_, after, _ := strings.Cut(line, "--proxy-server=127.0.0.1:")
	var port int
	if _, err := fmt.Sscan(after, &port); err != nil || port == chrome.Nobody {
		t.Errorf("the way out is port %d, %v", port, err)
	}
	full := w.Full()
	want := strings.Join(append([]string{full.Path}, chrome.CommandLine(full, filepath.Join(root, "a_1", mine, "chrome"), port)...), " ") +
		" --noerrdialogs --ozone-platform=headless --ozone-override-screen-size=800,600 --use-angle=swiftshader-webgl"
	if line != want || full.Kind != chrome.FullBrowser {
		t.Errorf("command line\n got %q\nwant %q", line, want)
	}
	run(t, b, program.NewTab, navigate(s.URL+"/"), settle())
	run(t, b, program.NewTab, navigate("http://other.test/"), settle())
	if !w.exits.asked("other.test") && !w.exits.asked("other.test:80") {
		t.Error("the way out was not asked for another site")
	}
	w.exits.mu.Lock()
	defer w.exits.mu.Unlock()
	for _, host := range w.exits.refused {
		if !strings.HasPrefix(host, "other.test") {
			t.Errorf("Chrome itself asked for %s by the session's way out", host)
		}
	}
}

func TestAProfileOpensHoweverDeepTheRunFolderIs(t *testing.T) {
	w := &world{exits: &exits{}, log: &bytes.Buffer{}, warm: -1, root: filepath.Join(shortDir(t), "profiles")}
	const longest = 77
	deep := shortDir(t) + "/"
	w.runDir = deep + strings.Repeat("d", longest-len(deep))
	pool, err := chrome.NewPool(t.Context(), w.options())
	if err != nil {
		t.Fatal(err)
	}
	w.Pool = pool
	defer w.close(t)
	end(t, w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly)))
}

func TestWithoutAFullBrowserAProfileSaysSo(t *testing.T) {
	w := newProfiles(t, filepath.Join(shortDir(t), "profiles"))
	w.WithoutBrowser()
	_, err := w.Open(t.Context(), onProfile("a_1", mine, chrome.ReadOnly))
	mustBeSaid(t, err, fault.Unavailable, "no full browser")
}

func TestAFailingEgressLeavesAProfileFree(t *testing.T) {
	root := filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root)
	w.exits.broken = true
	if _, err := w.Open(t.Context(), onProfile("a_1", mine, chrome.ReadOnly)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("error is %v", err)
	}
	if left := processes(root); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	w.exits.broken = false
	end(t, w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly)))
}

func TestARemovedProfileIsGone(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	run(t, b, program.NewTab, navigate(s.URL+"/login"), settle())
	end(t, b)
	for _, id := range []string{mine, "p_2", "..", ""} {
		if err := w.RemoveProfile(t.Context(), "a_1", id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	b = w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	if got := whoIs(t, b, s); got != "nobody nothing" || len(b.Tabs()) != 1 {
		t.Errorf("the site sees %q in %d tabs", got, len(b.Tabs()))
	}
}

// TestAServiceWorkerOfBeforePassesNoFormOn lets a site leave a worker in a profile that passes forms on as its own requests.
func TestAServiceWorkerOfBeforePassesNoFormOn(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	run(t, b, program.NewTab, navigate(s.URL+"/worker"), settle())
	if !s.waitFor("GET /controlled") {
		t.Fatal("the worker does not come to control its page")
	}
	run(t, b, program.NewTab, navigate(s.URL+"/login"), settle())
	end(t, b)
	b = w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	run(t, b, program.NewTab, navigate(s.URL+"/form"), settle())
	if !s.waitFor("GET /tried") {
		t.Fatal("the form was not tried")
	}
	if ok, _ := s.saw("POST /post"); ok {
		t.Error("the form was posted")
	}
	if got := whoIs(t, b, s); got != "me kept" {
		t.Errorf("with the worker gone the site sees %q", got)
	}
}

// tabsFile is what a profile remembers.
func tabsFile(root string) string { return filepath.Join(root, "a_1", mine, "tabs.json") }

func urls(b *chrome.Browser) []string {
	var list []string
	for _, t := range b.Tabs() {
		list = append(list, t.URL)
	}
	return list
}

func TestTabsComeBackAsleep(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	for _, path := range []string{"/one", "/two", "/three"} {
		run(t, b, program.NewTab, navigate(s.URL+path), settle())
	}
	run(t, b, program.NewTab, settle()) // blank, so nothing to come back to
	b.Select("t2")
	end(t, b)
	if info, err := os.Stat(tabsFile(root)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	before := len(s.lines())
	b = w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	if got := urls(b); !slices.Equal(got, []string{s.URL + "/one", s.URL + "/two", s.URL + "/three"}) || b.Selected() != "t2" {
		t.Errorf("the tabs are %q, selected is %q", got, b.Selected())
	}
	if got := s.lines()[before:]; len(got) != 0 {
		t.Errorf("nobody has asked for a page, but the site saw %q", got)
	}
	if got := run(t, b, "t2", settle()); got.Tab != "t2" || len(got.Opened) != 0 {
		t.Errorf("the woken tab is %+v", got)
	}
	if ok, _ := s.saw("GET /two"); !ok || strings.Count(strings.Join(s.lines()[before:], "\n"), "GET /two") != 1 {
		t.Errorf("the site saw %q", s.lines()[before:])
	}
	run(t, b, "t1", navigate(s.URL+"/elsewhere"), settle())
	if strings.Contains(strings.Join(s.lines()[before:], "\n"), "GET /one") {
		t.Error("a page was loaded that the program leaves at once")
	}
	if err := b.CloseTab(t.Context(), "t3"); err != nil {
		t.Fatal(err)
	}
	if got := run(t, b, program.NewTab, navigate(s.URL+"/new"), settle()).Tab; slices.Contains([]string{"t1", "t2", "t3"}, got) {
		t.Errorf("a new tab is called %q", got)
	}
	want := []string{s.URL + "/elsewhere", s.URL + "/two", s.URL + "/new"}
	if got := urls(b); !slices.Equal(got, want) {
		t.Errorf("the tabs are %q", got)
	}
	within(t, patience, "the tabs are written while the session lives", func() bool {
		text, _ := os.ReadFile(tabsFile(root))
		return strings.Contains(string(text), "/new") && !strings.Contains(string(text), "/three")
	})
}

func TestAWatchedTabWakes(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	plant(t, root, fmt.Sprintf(`{"tabs":[%q],"selected":0}`, s.URL+"/seen"))
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pictures int
	err := b.Cast(ctx, program.CastOptions{Tab: "t1", FPS: 10}, func(program.Picture) { pictures++; cancel() })
	if ok, _ := s.saw("GET /seen"); err != nil || pictures == 0 || !ok {
		t.Errorf("%d pictures, %v, loaded: %v", pictures, err, ok)
	}
}

func TestARememberedPageThatIsNotThereIsToldOnce(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	plant(t, root, `{"tabs":["https://gone.test/"],"selected":0}`)
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	look := program.Program{Tab: "t1", DeadlineMS: 20_000, Steps: []program.Step{settle()}}
	if got, err := b.Run(t.Context(), look); err != nil || got.Error == nil || got.Error.Code != string(fault.NavigationFailed) {
		t.Errorf("the first program is told %+v, %v", got.Error, err)
	}
	run(t, b, "t1", navigate(s.URL+"/"), settle())
}

func plant(t *testing.T, root, text string) {
	t.Helper()
	folder := filepath.Dir(tabsFile(root))
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(tabsFile(root), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyAddressesComeBack(t *testing.T) {
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf("https://site.test/%d", i))
	}
	encode := func(tabs []string, selected int) string {
		text, _ := json.Marshal(map[string]any{"tabs": tabs, "selected": selected})
		return string(text)
	}
	for name, c := range map[string]struct {
		file     string
		want     []string
		selected string
	}{
		"51 become the newest 50":                {encode(many, 50), many[1:], "t50"},
		"but for the selected one":               {encode(many, 0), append([]string{many[0]}, many[2:]...), "t1"},
		"what is no address of the web is not":   {`{"tabs":["file:///etc/passwd","javascript:alert(1)","https://site.test/","chrome://settings","about:blank","data:text/html,x","//site.test/","https://me:secret@site.test/","view-source:https://site.test/"],"selected":2}`, []string{"https://site.test/"}, "t1"},
		"a selected one that does not come back": {`{"tabs":["file:///etc/passwd","https://site.test/"],"selected":0}`, []string{"https://site.test/"}, ""},
		"a selected one that never was":          {`{"tabs":["https://site.test/"],"selected":7}`, []string{"https://site.test/"}, ""},
		"what is not permitted":                  {`{"tabs":["https://refused.test/","https://site.test/"],"selected":1}`, []string{"https://site.test/"}, "t1"},
		"an empty file is no obstacle":           {"", nil, ""},
		"nor a broken one":                       {`{"tabs":["https://site.te`, nil, ""},
		"nor one of another kind":                {`[1, "x"]`, nil, ""},
		"nor one that has no end":                {`{"tabs":["` + strings.Repeat("x", 2<<20) + `"]}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(shortDir(t), "profiles")
			plant(t, root, c.file)
			o := onProfile("a_1", mine, chrome.ReadOnly)
			o.Permits = func(address string) bool { return !strings.Contains(address, "refused") }
			b := newProfiles(t, root).openProfile(t, o)
			if got := urls(b); !slices.Equal(got, c.want) || b.Selected() != c.selected {
				t.Errorf("the tabs are %q, selected is %q", got, b.Selected())
			}
		})
	}
}
