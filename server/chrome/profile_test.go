package chrome_test

import (
	"bytes"
	"context"
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
	var title string
	within(t, patience, "the page says whom it sees", func() bool {
		i := slices.IndexFunc(b.Tabs(), func(open program.Tab) bool { return open.ID == tab })
		if i < 0 {
			t.Fatal("the page is gone")
		}
		title = b.Tabs()[i].Title
		return strings.Contains(title, " ")
	})
	return title
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
