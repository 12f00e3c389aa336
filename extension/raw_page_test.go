package extension_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestADialogIsTheClientsWhoHoldTheTab(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	mark := s.server.mark()
	s.server.say(object{"t": "cdp", "id": 7000, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, object{"expression": "prompt('name?')", "returnByValue": true})
	opened := s.server.since(mark, "the dialog", event("Page.javascriptDialogOpening"))
	if !strings.Contains(string(opened.body), "name?") {
		t.Errorf("the dialog is %s", opened.body)
	}
	s.server.mustRaw(s.name, "Page.handleJavaScriptDialog", object{"accept": true, "promptText": "Ada"})
	got := s.server.since(mark, "the script's end", func(got frame) bool { return got.T == "reply" && got.ID == 7000 })
	if !strings.Contains(string(got.body), "Ada") {
		t.Errorf("the script answers %s, want what the client said", got.body)
	}
	s.server.since(mark, "the dialog's end", event("Page.javascriptDialogClosed"))
	answer := s.server.must(s.name, call("Runtime.evaluate", object{"expression": "confirm('sure?')", "returnByValue": true}))
	if !strings.Contains(string(answer.Steps[0]), "false") {
		t.Errorf("a program's own dialog is answered %s, want its dismissal", answer.Steps[0])
	}
}

// A page behind another paints nothing by itself.
func TestAClientsPictureOfAHiddenTabComes(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	front := s.open(s.site.URL + "/quiet")
	s.must("", "Target.activateTarget", object{"targetId": front.target}, nil)
	s.server.hold(s.name)
	mark := s.server.mark()
	for range 3 {
		begun := time.Now()
		var got struct {
			Data string `json:"data"`
		}
		if err := json.Unmarshal(s.server.mustRaw(s.name, "Page.captureScreenshot", object{"format": "jpeg"}), &got); err != nil || !strings.HasPrefix(got.Data, "/9j/") {
			t.Fatalf("the picture is %.20s (%v)", got.Data, err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("a picture took %s", took)
		}
	}
	if n := s.server.count(mark, event("Page.screencastFrame")); n != 0 {
		t.Errorf("clients are told of %d frames of the screencast that nobody watches", n)
	}
}

func TestAHoldLeavesWatchersTheirPictures(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	pictures := make(chan frame, 1)
	s.server.stateMu.Lock()
	s.server.answers[900] = pictures
	s.server.stateMu.Unlock()
	picture := func() {
		t.Helper()
		for len(pictures) > 0 {
			<-pictures
		}
		s.tab.eval("document.body.append(String(Math.random()))")
		select {
		case got := <-pictures:
			if got.T != "picture" {
				t.Fatalf("the cast says %+v", got.header)
			}
		case <-time.After(patience):
			t.Fatal("no picture")
		}
	}
	s.server.say(object{"t": "cast", "id": 900, "session": "s_1", "options": object{"tab": s.name, "max_width": 320, "max_height": 240, "quality": 50, "fps": 10}})
	picture()
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "window.owned = true"})
	s.server.say(object{"t": "drop", "session": "s_1", "tab": s.name})
	picture()
	s.server.hold(s.name)
	picture()
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/fresh"})
	eventually(t, "the page", func() bool { return s.server.evaluate(s.name, "document.title") == "Page /fresh" })
	if got := s.server.evaluate(s.name, "window.owned === undefined"); got != true {
		t.Error("what the earlier clients did is still there")
	}
}

func TestATabThatHangsIsHeldAllTheSame(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("void setTimeout(() => { for (;;); })")
	s.server.hold(s.name)
	s.server.say(object{"t": "cdp", "id": 7000, "session": "s_1", "tab": s.name, "method": "Runtime.evaluate"}, object{"expression": "1"})
	elsewhere := strings.Replace(s.site.URL, "127.0.0.1", "localhost", 1) // in another process
	s.server.say(object{"t": "cdp", "id": 7001, "session": "s_1", "tab": s.name, "method": "Page.navigate"}, object{"url": elsewhere + "/away"})
	s.server.tabsUntil("another page", func(tabs []sharedTab) bool { return strings.HasSuffix(tabs[0].URL, "/away") })
	eventually(t, "an answer", func() bool { return s.server.evaluate(s.name, "document.title") == "Page /away" })
}

// A page whose click opened a window in front of it paints once a second, and clients that wait for frames are as slow.
func TestAHeldTabGoesOnPaintingBehindAWindowThatItOpened(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	own := s.server.make()
	s.server.hold(own)
	s.server.mustRaw(own, "Page.navigate", object{"url": s.site.URL + "/first"})
	eventually(t, "the page", func() bool { return s.server.evaluate(own, "document.readyState") == "complete" })
	place := object{"type": "mousePressed", "button": "left", "clickCount": 1}
	for _, axis := range []string{"x", "y"} {
		place[axis] = s.server.evaluate(own, "document.querySelector('a[target]').getBoundingClientRect()."+axis+" + 5")
	}
	s.server.mustRaw(own, "Input.dispatchMouseEvent", place)
	place["type"] = "mouseReleased"
	s.server.mustRaw(own, "Input.dispatchMouseEvent", place)
	s.server.tabsUntil("the window", func(tabs []sharedTab) bool { return len(tabs) == 3 })
	s.server.mustRaw(own, "Runtime.evaluate", object{"expression": "window.count = 0; { const next = () => { count++; requestAnimationFrame(next) }; requestAnimationFrame(next) }"})
	begun := time.Now()
	eventually(t, "sixty frames", func() bool { return s.server.evaluate(own, "count >= 60") == true })
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("sixty frames took %s, want far less than a second each", took)
	}
}
