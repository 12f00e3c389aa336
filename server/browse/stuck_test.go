package browse_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

// twoTabs is a real browser in which programs may make one further tab.
type twoTabs struct {
	*realTab
	script string
	second *realTab
	closed []string
}

func (b *twoTabs) Run(ctx context.Context, p program.Program) (program.Result, error) {
	if p.Tab == program.NewTab {
		b.second = b.browser(b.script, program.LevelAct)
	}
	tab, id := b.realTab, "t1"
	if p.Tab != "t1" {
		tab, id = b.second, "t2"
	}
	result, err := tab.Run(ctx, p)
	result.Tab = id
	return result, err
}

func (b *twoTabs) Tabs() []program.Tab {
	var tabs []program.Tab
	if len(b.closed) == 0 {
		tabs = b.realTab.Tabs()
	}
	if b.second != nil {
		tabs = append(tabs, program.Tab{ID: "t2", URL: b.second.executor.URL()})
	}
	return tabs
}

// closing is one whose tabs can be closed.
type closing struct{ *twoTabs }

func (b closing) CloseTab(_ context.Context, id string) error {
	b.closed = append(b.closed, id)
	return nil
}

func TestOpenLeavesAPageThatHangs(t *testing.T) {
	script, at := pageScript(t), site(t)
	for page, closes := range map[string]bool{"loop.html": true, "alerts.html": false} {
		t.Run(page, func(t *testing.T) {
			c := launch(t)
			// In an interactive session the first alert stays open, and is told.
			level := map[bool]program.Level{true: program.LevelAct, false: program.LevelRead}[closes]
			two := &twoTabs{realTab: c.browser(script, level), script: script}
			var b browse.Browser = two
			left := "was left as it is"
			if closes {
				b, left = closing{two}, "was closed"
			}
			d := &driver{t: t, engine: browse.New(b, browse.Options{ReadOnly: !closes}), tab: two.realTab, at: at}
			d.open("links.html")
			_, _ = d.try(`{"action":"open","url":"` + at + `/` + page + `","timeout_ms":1000}`)
			f := d.refused(`{"action":"snapshot","timeout_ms":800}`, fault.Timeout)
			if !strings.Contains(f.Message, "busy or hangs") || !strings.Contains(f.Hint, "open") || strings.Contains(f.Hint, "snapshot") {
				t.Errorf("%+v", f)
			}
			r := d.do(`{"action":"open","url":"` + at + `/links.html","timeout_ms":6000}`)
			if r.Tab != "t2" || !strings.HasSuffix(r.URL, "/links.html") || len(r.Notices) == 0 || !strings.Contains(r.Notices[0], "t1 hangs and "+left) {
				t.Errorf("%+v", r)
			}
			if r = d.do(`{"action":"snapshot"}`); r.Tab != "t2" {
				t.Errorf("the next action is in %s", r.Tab)
			}
			if closes != (len(two.closed) == 1) {
				t.Errorf("closed: %v", two.closed)
			}
		})
	}
}

func TestWaitsSayWhatDidNotHappen(t *testing.T) {
	script, at := pageScript(t), site(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	d.open("links.html")
	for action, want := range map[string]string{
		`{"action":"wait","text":"never","timeout_ms":500}`:          "The text did not appear within 450 ms",
		`{"action":"wait","url_glob":"**/never","timeout_ms":500}`:   "The address did not come to fit the pattern within 450 ms",
		`{"action":"open","url":"` + at + `/slow","timeout_ms":900}`: "The page was not there within 900 ms; it goes on loading",
	} {
		if f := d.refused(action, fault.Timeout); f.Message != want {
			t.Errorf("%s: %s", action, f.Message)
		}
	}
}

func TestNumbersHaveAMaximum(t *testing.T) {
	nth := math.MaxInt
	for what, a := range map[string]browse.Action{
		"timeout_ms is at most 120000": {Action: "snapshot", TimeoutMS: 120_001},
		"timeout_ms is at most":        {Action: "snapshot", TimeoutMS: math.MaxInt},
		"ms is at most 60000":          {Action: "wait", MS: math.MaxInt},
		"nth is at most 100000":        {Action: "click", Role: "link", Name: "a", Nth: &nth},
	} {
		b := &scripted{tabs: oneTab()}
		_, err := browse.New(b, browse.Options{}).Do(t.Context(), a)
		if f := fault.Of(err); f == nil || f.Code != fault.BadRequest || !strings.Contains(f.Message, what) || len(b.got) > 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	b := &scripted{tabs: oneTab(), answers: showing(`{"doc":"d","lines":[]}`, plainState)}
	if _, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "snapshot", TimeoutMS: 120_000}); err != nil || b.got[0].DeadlineMS != 120_000 {
		t.Errorf("the maximum itself: %v", err)
	}
}

func TestAFailedPageHasTheAddressThatFailed(t *testing.T) {
	script, at := pageScript(t), site(t)
	d := drive(t, launch(t), script, browse.Options{AllowDomains: []string{"127.0.0.1"}})
	d.at = at
	d.open("links.html")
	_ = d.refused(`{"action":"open","url":"`+at+`/empty"}`, fault.NavigationFailed)
	if r := d.do(`{"action":"status"}`); !strings.HasSuffix(r.URL, "/links.html") {
		t.Errorf("the tab that stays is at %s", r.URL)
	}
	const gone = "http://127.0.0.1:9/x"
	_ = d.refused(`{"action":"open","url":"`+gone+`"}`, fault.NavigationFailed)
	for _, action := range []string{"snapshot", "status", "tabs", "snapshot"} {
		r := d.do(`{"action":"` + action + `"}`)
		if r.URL != gone || len(r.Tabs) > 0 && r.Tabs[0].URL != gone || strings.Contains(strings.Join(r.Notices, " "), "moved") {
			t.Errorf("%s: %q %v %v", action, r.URL, r.Tabs, r.Notices)
		}
	}
	if r := d.do(`{"action":"snapshot"}`); !strings.Contains(strings.Join(r.Notices, " "), "did not load") {
		t.Errorf("%v", r.Notices)
	}
	if r := d.open("links.html"); r.URL != at+"/links.html" {
		t.Errorf("%+v", r)
	}
}
