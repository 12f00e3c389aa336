package extension_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// blue makes a page all blue, and never quite the same, so that pictures of it come.
func (p *page) blue() {
	p.t.Helper()
	p.unasked("document.body.innerHTML = '<div style=\"position:fixed;inset:0\"></div>'; setInterval(() => { document.querySelector('div').style.background = `rgb(0 0 ${230 + Math.random() * 25})` }, 30); 1")
}

// isBlue tells whether a picture is of a page that was made blue.
func (f frame) isBlue(t *testing.T) bool {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(string(f.body))
	if err != nil {
		t.Fatal(err)
	}
	picture, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	_, green, blue, _ := picture.At(picture.Bounds().Dx()/2, picture.Bounds().Dy()*3/4).RGBA()
	return blue > 0xc000 && green < 0x4000
}

// occupy keeps the worker busy with programs of another session for a while.
func (s *sharing) occupy(count int) {
	heavy := object{"tab": "t99", "x": slices.Repeat([]object{{}}, 600_000)}
	for id := range count {
		s.server.say(object{"t": "program", "id": 50_000 + id, "session": "s_9"}, heavy)
	}
}

// pictures are those that were told since a mark.
func (s *server) pictures(mark int) []frame {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.told[mark:]), func(got frame) bool { return got.T != "picture" })
}

// A picture can be on its way while the page goes where the grant does not reach.
func TestNoPictureIsOfAPageThatMayNotBeSeen(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Bank</title><body style='background:red'>balance 4711"))
	}))
	t.Cleanup(elsewhere.Close)
	for sentence, way := range map[string]struct {
		stays bool
		to    func(*sharing) string
	}{
		"the server's own page":            {false, func(s *sharing) string { return s.server.http.URL + "/dashboard" }},
		"a file":                           {false, func(*sharing) string { return "file:///etc/" }},
		"another site":                     {true, func(*sharing) string { return strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/top" }},
		"another site in the same process": {true, func(*sharing) string { return elsewhere.URL + "/top" }},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var s *sharing
			if way.stays {
				s = newStaying(t, "read").sharing
			} else {
				s = newSharing(t, "read", "read")
			}
			s.must("", "Target.activateTarget", object{"targetId": s.tab.target}, nil)
			s.tab.blue()
			mark := s.server.mark()
			s.server.say(object{"t": "cast", "id": 900, "session": "s_1", "options": object{"tab": s.name, "max_width": 320, "max_height": 240, "quality": 80, "fps": 30}})
			eventually(t, "pictures of the page as it is now", func() bool {
				seen := s.server.pictures(mark)
				return len(seen) > 3 && seen[len(seen)-1].isBlue(t)
			})
			mark = s.server.mark()
			s.occupy(4)
			s.tab.goTo(way.to(s))
			s.server.tabsUntil("a sleeping tab", func(tabs []sharedTab) bool { return len(tabs) == 1 && tabs[0].Suspended != "" })
			s.server.run("s_9", "t99") // what was sent before has been heard
			for _, got := range s.server.pictures(mark) {
				if !got.isBlue(t) {
					t.Error("a picture is of another page")
				}
			}
		})
	}
}

// A picture that was asked for before the page left can be taken after it has.
func TestNoPictureThatWasAskedForIsOfAPageThatMayNotBeSeen(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "read", "read")
	s.must("", "Target.activateTarget", object{"targetId": s.tab.target}, nil)
	s.server.hold(s.name)
	for _, url := range []string{"file:///etc/", s.server.http.URL + "/dashboard"} {
		s.tab.blue()
		shot := object{"format": "jpeg", "quality": 80}
		eventually(t, "a picture of the page as it is now", func() bool { return s.shows(s.server.raw(s.name, "Page.captureScreenshot", shot)) })
		mark := s.server.mark()
		for id := range 40 {
			s.server.say(object{"t": "cdp", "id": 60_000 + id, "session": "s_1", "tab": s.name, "method": "Page.captureScreenshot"}, shot)
			s.server.say(object{"t": "program", "id": 70_000 + id, "session": "s_1"}, object{"tab": s.name, "deadline_ms": 9000, "steps": []any{call("Page.captureScreenshot", shot)}})
		}
		s.tab.goTo(url)
		s.server.tabsUntil("a sleeping tab", func(tabs []sharedTab) bool { return tabs[0].Suspended != "" })
		answered := func(got frame) bool { return got.ID >= 60_000 && got.ID < 80_000 }
		eventually(t, "all answers", func() bool { return s.server.count(mark, answered) >= 80 })
		s.server.stateMu.Lock()
		told := slices.DeleteFunc(slices.Clone(s.server.told[mark:]), func(got frame) bool { return !answered(got) || got.T == "error" })
		s.server.stateMu.Unlock()
		for _, got := range told {
			if strings.Contains(string(got.body), `"data"`) && !s.shows(got) {
				t.Errorf("%s %d to %s is a picture of another page", got.T, got.ID, url)
			}
		}
		s.tab.goTo(s.site.URL + "/first")
		s.server.tabsUntil("a tab that is awake", func(tabs []sharedTab) bool { return tabs[0].Suspended == "" })
	}
}

// shows tells whether an answer has a picture of a page that was made blue.
func (s *sharing) shows(got frame) bool {
	s.t.Helper()
	var answer struct {
		Data  string
		Steps []struct{ Data string }
	}
	if json.Unmarshal(got.body, &answer) != nil {
		return false
	}
	for _, step := range answer.Steps {
		answer.Data = step.Data
	}
	return answer.Data != "" && frame{body: []byte(answer.Data)}.isBlue(s.t)
}
