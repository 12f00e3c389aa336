package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"chaperone/demo"
)

// road is a session on one backend, ready to act on the site: the same tests run on both.
type road struct {
	*served
	site    *site
	session string
	person  *demo.Person // nil on the managed road
	page    *demo.Page   // the shared tab, as the person sees it
}

// onBothRoads runs a test with a read-only session of each backend, at the site's start page.
func onBothRoads(t *testing.T, test func(r *road)) {
	t.Helper()
	onRoads(t, "read_only", test)
}

func onRoads(t *testing.T, policy string, test func(r *road)) {
	t.Helper()
	t.Run("managed", func(t *testing.T) {
		s := openSite(t)
		r := &road{site: s, served: serve(t, "--test-origin", s.URL, "--test-origin", s.other())}
		r.policy(policy)
		r.session = r.served.session("managed")
		r.act(r.session, action{"action": "open", "url": s.URL + "/"})
		test(r)
	})
	t.Run("shared", func(t *testing.T) {
		s := openSite(t)
		r := &road{site: s, served: serve(t)}
		r.policy(policy)
		r.shareStart(t)
		r.session = r.served.session("shared")
		test(r)
	})
}

// shareStart lets a person arrive, open the start page, pair and share it at the policy's level.
func (r *road) shareStart(t *testing.T) {
	t.Helper()
	r.person = arrive(t, demo.PersonOptions{})
	var err error
	r.page, err = r.person.Visit(t.Context(), r.site.URL+"/")
	check(t, err)
	check(t, r.person.Pair(t.Context(), r.code()))
	var p struct{ Policy string }
	r.ask(http.MethodGet, "/projects/default", nil, &p)
	level := "read"
	if p.Policy == "interactive" {
		level = "act"
	}
	check(t, r.person.Share(t.Context(), r.page, level))
}

func (r *road) do(a action) demo.Answer {
	r.t.Helper()
	return r.act(r.session, a)
}

func (r *road) snapshot() string {
	r.t.Helper()
	return r.do(action{"action": "snapshot"}).Snapshot.Text
}

func (r *road) text() string {
	r.t.Helper()
	return r.do(action{"action": "get_text"}).Text
}

func (r *road) clickNamed(role, name string) demo.Answer {
	r.t.Helper()
	return r.do(action{"action": "click", "ref": r.ref(r.session, role, name)})
}

func wants(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, want := range parts {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", what, want, got)
		}
	}
}

func lacks(t *testing.T, what, got, unwanted string) {
	t.Helper()
	if strings.Contains(got, unwanted) {
		t.Errorf("%s has %q:\n%s", what, unwanted, got)
	}
}

func TestReadingActionsWorkAlikeOnBothRoads(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		snapshot := r.snapshot()
		for _, line := range []string{`- heading "Start"`, `- link "Second page" [ref=`, `- button "Count" [ref=`} {
			wants(t, "the snapshot", snapshot, line)
		}
		pressed := r.clickNamed("button", "Count")
		if pressed.Landed == nil || !*pressed.Landed {
			t.Error("the click on Count did not land")
		}
		wants(t, "the answer's changes", pressed.Snapshot.Text, "pressed 1")

		second := r.clickNamed("link", "Second page")
		if second.Title != "Second" || second.URL != r.site.URL+"/second" {
			t.Errorf("the link led to %q at %s", second.Title, second.URL)
		}
		wants(t, "the text", r.text(), "The second page's text.")

		if back := r.do(action{"action": "back"}); back.Title != "Start" {
			t.Errorf("back led to %q", back.Title)
		}
		if forward := r.do(action{"action": "forward"}); forward.Title != "Second" {
			t.Errorf("forward led to %q", forward.Title)
		}
		if opened := r.do(action{"action": "open", "url": r.site.URL + "/long"}); opened.Title != "Long" {
			t.Errorf("open led to %q", opened.Title)
		}
		r.do(action{"action": "scroll", "direction": "down"})
		if far := r.clickNamed("button", "Far down"); far.Title != "reached" {
			t.Errorf("the far button was not reached: title %q", far.Title)
		}
		r.do(action{"action": "open", "url": r.site.URL + "/slow"})
		r.do(action{"action": "wait", "text": "It came"})
		r.do(action{"action": "wait", "ms": 10})
	})
}

func TestTabsAndPicturesWorkAlikeOnBothRoads(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		var answer struct {
			Tabs       []struct{ ID, URL string }
			Screenshot struct {
				Artifact      string
				Href          string
				Width, Height int
			}
		}
		r.ask(http.MethodPost, "/sessions/"+r.session+"/actions", action{"action": "tabs"}, &answer)
		if len(answer.Tabs) != 1 || answer.Tabs[0].URL != r.site.URL+"/" {
			t.Fatalf("tabs shows %+v", answer.Tabs)
		}
		r.do(action{"action": "select_tab", "tab": answer.Tabs[0].ID})
		r.refused(r.session, action{"action": "select_tab", "tab": "t999"}, "tab_closed")
		r.ask(http.MethodPost, "/sessions/"+r.session+"/actions", action{"action": "screenshot"}, &answer)
		if answer.Screenshot.Artifact == "" || answer.Screenshot.Width == 0 {
			t.Fatalf("the screenshot's answer is %+v", answer.Screenshot)
		}
		picture := r.fetch(answer.Screenshot.Href)
		if !strings.HasPrefix(picture, "\x89PNG") || len(picture) < 1000 {
			t.Errorf("the screenshot is no picture: %d bytes", len(picture))
		}
	})
}

// TestASharedTabBehindAnotherIsPicturedAndClicked holds for a tab that nobody sees, in a browser that throttles it.
func TestASharedTabBehindAnotherIsPicturedAndClicked(t *testing.T) {
	t.Parallel()
	r := sharedRoad(t)
	front, err := r.person.Popup(t.Context(), nil) // a still page, now in front
	check(t, err)
	var behind bool
	check(t, front.Do(t.Context(), "chrome.tabs.query({active: false}).then(all => all.some(t => t.title === 'Start'))", &behind))
	if !behind {
		t.Fatal("the shared tab is in front")
	}
	for range 6 {
		r.do(action{"action": "screenshot", "timeout_ms": 10_000})
	}
	pressed := r.clickNamed("button", "Count")
	if pressed.Landed == nil || !*pressed.Landed {
		t.Error("the click did not land in a tab that is hidden")
	}
	wants(t, "the answer's changes", pressed.Snapshot.Text, "pressed 1")
}

func TestFramesAreInTheTreeAndCanBeClicked(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		r.do(action{"action": "open", "url": r.site.URL + "/frames"})
		snapshot := r.snapshot()
		wants(t, "the snapshot", snapshot, `heading "Second"`)
		wants(t, "the snapshot", snapshot, `button "Press inner"`)
		if near, far := strings.Index(snapshot, `"Second"`), strings.Index(snapshot, `"Press inner"`); near > far {
			t.Error("the frames are not in document order")
		}
		r.clickNamed("button", "Press inner")
		wants(t, "the snapshot", r.do(action{"action": "snapshot", "full": true}).Snapshot.Text, "inner pressed")
	})
}

func TestARefIsNeverGivenToAnotherElement(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		r.do(action{"action": "open", "url": r.site.URL + "/rows"})
		ana := r.ref(r.session, "button", "Open Ana")
		if again := r.ref(r.session, "button", "Open Ana"); again != ana {
			t.Errorf("the same element is %s, then %s", ana, again)
		}
		r.clickNamed("button", "Replace")
		if bea := r.ref(r.session, "button", "Open Bea"); bea == ana {
			t.Errorf("%s went to another element", ana)
		}
		r.refused(r.session, action{"action": "click", "ref": ana}, "stale_ref")
		r.do(action{"action": "open", "url": r.site.URL + "/rows"})
		r.refused(r.session, action{"action": "click", "ref": ana}, "stale_ref")
		lacks(t, "the page", r.text(), "opened")
	})
}

func TestPageTextCannotForgeARef(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		r.do(action{"action": "open", "url": r.site.URL + "/hostile"})
		snapshot := r.snapshot()
		wants(t, "the snapshot", snapshot, `button "Real" [ref=`)
		lacks(t, "the snapshot", snapshot, "[ref=e99]")
		lacks(t, "the snapshot", snapshot, "\n- button \"Pay\"")
		lacks(t, "the snapshot", snapshot, "\u202e")
		lacks(t, "the snapshot", snapshot, "\x1b")
	})
}

func TestAnInteractiveProjectFillsTypesPressesAndSelects(t *testing.T) {
	onRoads(t, "interactive", func(r *road) {
		t := r.t
		r.do(action{"action": "open", "url": r.site.URL + "/form"})
		r.do(action{"action": "fill", "ref": r.ref(r.session, "textbox", "City"), "text": "Zürich – 狛江市"})
		wants(t, "the snapshot", r.snapshot(), "Zürich – 狛江市")
		r.do(action{"action": "select", "ref": r.ref(r.session, "combobox", "Sort"), "values": []string{"Date"}})
		wants(t, "the snapshot", r.snapshot(), "Date")
		r.do(action{"action": "fill", "role": "textbox", "name": "City", "text": "Oslo"})
		r.do(action{"action": "type", "text": "!"})
		r.do(action{"action": "press", "keys": "Tab"})
		wants(t, "the keys seen", r.do(action{"action": "snapshot", "full": true}).Snapshot.Text, "Tab")
		r.do(action{"action": "click", "role": "textbox", "name": "City"})
		found := r.do(action{"action": "press", "keys": "Enter"})
		if found.Title != "Second" || !strings.Contains(found.URL, "city=Oslo%21") {
			t.Errorf("Enter led to %q at %s", found.Title, found.URL)
		}
	})
}
