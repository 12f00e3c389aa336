package chrome_test

import (
	"bytes"
	"context"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

const bigButton = `<button id=go style="position:fixed;inset:0;width:100%">go</button>`

func TestAPopupBecomesTheSessions(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":      bigButton + `<script>go.onclick = () => window.open('/popup')</script>`,
		"/popup": `<title>Popup</title>`,
	})
	w := newWorld(t, s)
	b := w.open(t, chrome.ReadOnly)
	steps := append([]program.Step{navigate(s.URL + "/"), settle()}, click(2)...)
	result := run(t, b, program.NewTab, append(steps, program.Step{Settle: &program.Settle{QuietMS: 300, MaxMS: 2000}})...)
	if len(result.Opened) != 1 || result.Opened[0].ID != "t2" || result.Opened[0].Opener != "t1" {
		t.Fatalf("opened: %+v", result.Opened)
	}
	run(t, b, "t2", settle())
	if tabs := b.Tabs(); len(tabs) != 2 || tabs[1].Title != "Popup" {
		t.Errorf("tabs are %+v", tabs)
	}
	if fresh := run(t, b, program.NewTab, settle()); fresh.Tab != "t3" || len(fresh.Opened) != 0 {
		t.Errorf("a new tab is %q and opened %v", fresh.Tab, fresh.Opened)
	}
}

func TestAPopupWithADialogDoesNotHang(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":      bigButton + `<script>go.onclick = () => window.open('/popup')</script>`,
		"/popup": `<script>alert('hello'); fetch('/answered')</script>`,
	})
	w := newWorld(t, s)
	b := w.open(t, chrome.ReadOnly)
	steps := append([]program.Step{navigate(s.URL + "/"), settle()}, click(2)...)
	first := run(t, b, program.NewTab, append(steps, settle())...)
	if len(first.Opened) != 1 {
		t.Fatalf("opened %v", first.Opened)
	}
	second := run(t, b, first.Opened[0].ID, settle())
	if !s.waitFor("GET /answered") {
		t.Errorf("the dialog stands: %+v", second)
	}
	told := append(first.Dialogs, second.Dialogs...)
	if len(told) != 1 || told[0].Message != "hello" || told[0].Type != "alert" || told[0].Accepted {
		t.Errorf("dialogs: %+v", told)
	}
}

func TestAPageMayOpenOnlySoManyTabs(t *testing.T) {
	s := newSite(t, map[string]string{
		"/": bigButton + `<script>go.onclick = () => { for (let i = 0; i < 60; i++) window.open('/popup?' + i) }</script>`,
	})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	steps := append([]program.Step{navigate(s.URL + "/"), settle()}, click(2)...)
	run(t, b, program.NewTab, append(steps, settle())...)
	for len(b.Tabs()) < 32 { // a full browser lets one click open one tab only
		run(t, b, program.NewTab, settle())
	}
	if n := len(b.Tabs()); n != 32 {
		t.Errorf("the session has %d tabs", n)
	}
	_, err := b.Run(t.Context(), program.Program{Tab: program.NewTab, DeadlineMS: 1000, Steps: []program.Step{settle()}})
	mustBe(t, err, "rate_limited")
}

func TestATabThatIsGoneFailsAtOnce(t *testing.T) {
	waiting := program.Step{Await: &program.Await{Run: "@has_text", Args: []byte(`{"text":"never"}`), MaxMS: 19_000}}
	s := newSite(t, map[string]string{"/": bigButton + `<script>go.onclick = () => opener ? window.close() : window.open('/')</script>`})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	for name, steps := range map[string][]program.Step{
		"closed by its page":       append(append([]program.Step{settle()}, click(1)...), waiting),
		"its renderer has crashed": {waiting},
	} {
		t.Run(name, func(t *testing.T) {
			opening := append([]program.Step{navigate(s.URL + "/"), settle()}, click(2)...)
			opened := run(t, b, program.NewTab, append(opening, settle())...).Opened
			if len(opened) != 1 {
				t.Fatalf("opened %v", opened)
			}
			tab := opened[0].ID
			run(t, b, tab, settle())
			if len(steps) == 1 {
				b.CrashTab(tab)
			}
			start := time.Now()
			result, err := b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 20_000, Steps: steps})
			if err != nil {
				t.Fatal(err)
			}
			mustBe(t, result.Error, "tab_closed")
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if slices.ContainsFunc(b.Tabs(), func(other program.Tab) bool { return other.ID == tab }) {
				t.Errorf("%s is still on the list", tab)
			}
			result, err = b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 1000, Steps: []program.Step{settle()}})
			if err != nil {
				t.Fatal(err)
			}
			mustBe(t, result.Error, "tab_closed")
		})
	}
}

func TestReadOnlyRefusesWhatTheTableRefuses(t *testing.T) {
	w := newWorld(t)
	b := w.open(t, chrome.ReadOnly)
	tab := run(t, b, program.NewTab, settle()).Tab
	for name, step := range map[string]program.Step{
		"typing":               {Call: "Input.insertText", Params: []byte(`{"text":"x"}`)},
		"a file of the server": navigate("file:///etc/passwd"),
		"Chrome's own pages":   navigate("chrome://version"),
		"all cookies":          {Call: "Network.getAllCookies", Params: []byte(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := b.Run(t.Context(), program.Program{Tab: tab, DeadlineMS: 1000, Steps: []program.Step{step}})
			if err != nil {
				t.Fatal(err)
			}
			mustBe(t, result.Error, "forbidden")
		})
	}
}

func TestDownloadsAndPermissionsAreDenied(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<script>(async () => {
		const a = document.createElement('a'); a.href = 'data:application/octet-stream,x'; a.download = 'x.bin'; a.click();
		let granted = '';
		for (const name of ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read'])
			granted += (await navigator.permissions.query({name})).state === 'granted' ? name : '';
		const where = await new Promise(done => navigator.geolocation.getCurrentPosition(() => done('told'), e => done('denied' + e.code)));
		fetch('/tried?granted=' + granted + '&where=' + where);
	})()</script>`})
	w := newWorld(t, s)
	run(t, w.open(t, chrome.Interactive), program.NewTab, navigate(s.URL+"/"), settle())
	if !s.waitFor("GET /tried?granted=&where=denied1") {
		t.Errorf("the site saw %q", s.lines())
	}
	_ = filepath.WalkDir(w.runDir, func(path string, _ os.DirEntry, _ error) error {
		if filepath.Base(path) == "x.bin" {
			t.Errorf("a download is at %s", path)
		}
		return nil
	})
}

func TestACastShowsTheNewest(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<body style="background:#f00"><script>
		let n = 0; setInterval(() => { document.body.textContent = ++n }, 20)</script>`})
	w := newWorld(t, s)
	b := w.open(t, chrome.ReadOnly)
	tab := run(t, b, program.NewTab, navigate(s.URL+"/"), settle()).Tab
	ctx, stop := context.WithCancel(t.Context())
	var pictures []program.Picture
	start := time.Now()
	err := b.Cast(ctx, program.CastOptions{Tab: tab, MaxWidth: 640, MaxHeight: 400, Quality: 50, FPS: 5}, func(p program.Picture) {
		if pictures = append(pictures, p); len(pictures) == 6 {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 900*time.Millisecond {
		t.Errorf("six pictures at five a second came within %v", took)
	}
	first, last := pictures[0], pictures[5]
	size, err := jpeg.DecodeConfig(bytes.NewReader(last.JPEG))
	if err != nil || size.Width > 640 || size.Height > 400 {
		t.Errorf("picture is %+v, %v", size, err)
	}
	if last.Tab != tab || last.Width != 1280 || last.Height != 800 || last.AtMS <= first.AtMS {
		t.Errorf("pictures are of %s, %d × %d, at %d and %d", last.Tab, last.Width, last.Height, first.AtMS, last.AtMS)
	}
}

func TestACastEndsWithItsTabOrSession(t *testing.T) {
	w := newWorld(t)
	for name, end := range map[string]struct {
		do   func(b *chrome.Browser, tab string)
		code string
	}{
		"tab":     {(*chrome.Browser).CrashTab, "tab_closed"},
		"session": {func(b *chrome.Browser, _ string) { _ = b.Close(context.Background()) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := w.open(t, chrome.Interactive)
			tab := run(t, b, program.NewTab, settle()).Tab
			ended := make(chan error, 1)
			shown := make(chan struct{}, 100)
			go func() {
				ended <- b.Cast(context.Background(), program.CastOptions{Tab: tab}, func(program.Picture) { shown <- struct{}{} })
			}()
			<-shown
			end.do(b, tab)
			select {
			case err := <-ended:
				if end.code == "" && err != nil {
					t.Errorf("it ended with %v", err)
				}
				if end.code != "" {
					mustBe(t, err, end.code)
				}
				if b.HasCrashed(tab) != (end.code != "") {
					t.Errorf("has crashed: %v", b.HasCrashed(tab))
				}
			case <-time.After(patience):
				t.Fatal("it goes on")
			}
		})
	}
}

func TestAProcessDoesNotOutliveItsGuard(t *testing.T) {
	w := newWorld(t)
	b := w.open(t, chrome.ReadOnly)
	b.BreakConnection()
	select {
	case <-b.Done():
	case <-time.After(patience):
		t.Fatal("the session goes on without its guard")
	}
	if left := processes(w.runDir); len(left) != 0 {
		t.Errorf("processes go on without their guard: %v", left)
	}
	if b.Err() == nil {
		t.Error("no reason is told")
	}
}
