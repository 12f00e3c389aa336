package chrome_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

const (
	floodPage = `<script>setInterval(() => { for (let i = 0; i < 3000; i++) console.log('x'.repeat(2000) + i) }, 10)</script>`
	// someFloodPage tells ten times what a tab may, and not so much that Chrome itself has no time for others.
	someFloodPage = `<script>setInterval(() => { for (let i = 0; i < 50; i++) console.log('x'.repeat(2000) + i) }, 10)</script>`
	// mostMB is far above what a Chrome with two small pages needs, and far below what a flood made of it.
	mostMB = 700
)

// peakMB is the most memory that a process had.
func peakMB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var kB int
	if _, err := fmt.Sscan(after, &kB); err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}

// twoClients are of two sessions in one Chrome; the first listens.
func twoClients(t *testing.T, w *world, s *site) (client, neighbour *client) {
	t.Helper()
	b, tab := openPage(t, w, s, "/")
	other, quiet := openPage(t, w, s, "/")
	neighbour, client = hold(t, other, quiet), hold(t, b, tab)
	client.wait, neighbour.wait = 6*patience, 6*patience
	client.call("", "Runtime.enable", `{}`)
	client.post("never", "", "Runtime.evaluate", `{"expression":"new Promise(() => {})","awaitPromise":true}`)
	return client, neighbour
}

// answered is how long the page takes to answer; a busy machine may give it nothing to run on for a while.
func (c *client) answered() time.Duration {
	c.t.Helper()
	start, done := time.Now(), make(chan error, 1)
	err := c.Send(c.t.Context(), "", "Runtime.evaluate", []byte(`{"expression":"1+1"}`), func(_ []byte, err error) { done <- err })
	if err != nil {
		c.t.Fatal(err)
	}
	select {
	case err = <-done:
		mustNot(c.t, err)
	case <-time.After(c.wait):
		c.t.Fatalf("the neighbour is not answered within %v", c.wait)
	}
	return time.Since(start)
}

func (c *client) median(count int) time.Duration {
	c.t.Helper()
	took := make([]time.Duration, count)
	for i := range took {
		took[i] = c.answered()
	}
	slices.Sort(took)
	return took[count/2]
}

func isAsleep(w told) bool { return w.method == "asleep" }

func TestANeighbourIsAnsweredWhileAPageFloodsItsClient(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>", "/flood": someFloodPage})
	w := newWorld(t, s)
	c, n := twoClients(t, w, s)
	pid := chromePID(t, w.runDir)
	limit := max(time.Second, 20*n.median(20)) // a busy machine answers late as it is
	c.post("go", "", "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.URL+"/flood"))
	median := n.median(40)
	if most := peakMB(t, pid); median > limit || most > mostMB {
		t.Errorf("the neighbour is answered within %v, not %v; Chrome had %d MB", median, limit, most)
	}
	mustBe(t, c.await(t, "the tab rests", isAsleep).err, "tab_suspended")
	list, _ := c.heard()
	at := slices.IndexFunc(list, isAsleep)
	if !slices.ContainsFunc(list[:at], func(w told) bool { return w.child == "never" && w.err != nil }) {
		t.Error("what was under way was not answered before")
	}
	next := c.await(t, "what becomes of it", func(w told) bool { return w.method == "reset" || w.method == "gone" })
	if next.method == "gone" { // on a machine with too little to run on, the page alone is too much for Chrome
		mustBe(t, next.err, "tab_closed")
		return
	}
	if next.params != c.Target() {
		t.Errorf("attached anew to %s, not %s", next.params, c.Target())
	}
	c.call("", "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.URL+"/"))
	within(t, patience, "the page afterwards", func() bool { return c.eval("", "document.title") == `"Hello"` })
}

func TestATabThatRestsTakesNoCommandAndCanBeLetGo(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>", "/flood": floodPage})
	w := newWorld(t, s)
	c, _ := twoClients(t, w, s)
	c.post("go", "", "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.URL+"/flood"))
	c.await(t, "the tab rests", isAsleep)
	err := c.Send(t.Context(), "", "Runtime.evaluate", []byte(`{"expression":"1"}`), func([]byte, error) { t.Error("it answered") })
	mustBe(t, err, "tab_suspended")
	c.Release()
	before, _ := c.heard()
	chrome.Wake(c.Wire)
	if after, _ := c.heard(); len(after) != len(before) {
		t.Errorf("heard after the release: %+v", after[len(before):])
	}
}

func TestATabThatKeepsChromeBusyIsClosedBeforeChromeIsGivenUp(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<title>Hello</title>"})
	w := newWorld(t, s)
	c, n := twoClients(t, w, s)
	pid := chromePID(t, w.runDir)
	freeze(t, pid)
	chrome.Rest(c.Wire)
	gone := c.await(t, "the tab is given up", event("gone"))
	mustBe(t, gone.err, "tab_closed")
	mustMention(t, gone.err, "kept its browser from everything else")
	mustNot(t, syscall.Kill(pid, syscall.SIGCONT))
	if got := n.eval("", "document.title"); got != `"Hello"` {
		t.Errorf("the neighbour's page is %s", got)
	}
}

func TestHowMuchATabMayTell(t *testing.T) {
	const line, navigated = "Runtime.consoleAPICalled", "Page.frameNavigated"
	for name, c := range map[string]struct {
		method string
		events int // evenly within span
		span   time.Duration
		bytes  int // of each
		want   bool
	}{
		"the longest burst":                 {navigated, 10_000, 0, 10, false},
		"one more":                          {navigated, 10_001, 0, 10, true},
		"the steady rate for a minute":      {navigated, 120_000, time.Minute, 10, false},
		"more for a minute":                 {navigated, 135_000, time.Minute, 10, true},
		"as much text as may be at once":    {line, 64, 0, 64 << 10, false},
		"more text":                         {line, 65, 0, 64 << 10, true},
		"a few long ones":                   {line, 64, 0, 1 << 20, false},
		"text at the steady rate":           {line, 1920, time.Minute, 64 << 10, false},
		"what is needed may be of any size": {navigated, 100, 0, 1 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			var m chrome.Meter
			at, got := time.Unix(1_800_000_000, 0), false
			for i := range c.events {
				got = m.IsFlood(c.method, c.bytes, at.Add(c.span*time.Duration(i)/time.Duration(c.events))) || got
			}
			if got != c.want {
				t.Errorf("flood: %t", got)
			}
		})
	}
}

func TestEventsThatAreTooManyAreDroppedUnread(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	line := func(session string) []byte {
		return []byte(`{"method":"Runtime.consoleAPICalled","params":{"args":["},\"sessionId\":\"B\"}"]},"sessionId":"` + session + `"}`)
	}
	var th chrome.Thinner
	for i := range 1000 {
		if th.Thin(line("A"), at) {
			t.Fatalf("event %d is dropped", i)
		}
	}
	for name, c := range map[string]struct {
		text []byte
		want bool
	}{
		"one more":                 {line("A"), true},
		"another session's":        {line("B"), false},
		"one that clients need":    {[]byte(`{"method":"Page.frameNavigated","params":{},"sessionId":"A"}`), false},
		"a reply":                  {[]byte(`{"id":1,"result":{"method":"Runtime.consoleAPICalled"},"sessionId":"A"}`), false},
		"one of the whole browser": {[]byte(`{"method":"Log.entryAdded","params":{"text":"},\"sessionId\":\"A\"}"}}`), false},
		"half a message":           {[]byte(`{"method":"`), false},
		"nothing":                  {nil, false},
	} {
		if got := th.Thin(c.text, at); got != c.want {
			t.Errorf("%s: dropped %t", name, got)
		}
	}
	if th.Thin(line("A"), at.Add(time.Second)) {
		t.Error("one of the next second is dropped")
	}
}

func TestHowLongATabRests(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	var r chrome.Rests
	defer r.End()
	for i, want := range []int{5, 10, 20, 40, 80, 160, 300, 300} {
		length := r.Begin(at)
		if length.Seconds() != float64(want) {
			t.Errorf("rest %d is %v, want %d s", i, length, want)
		}
		at = at.Add(length + time.Minute)
	}
	if length := r.Begin(at.Add(time.Second)); length != 5*time.Second {
		t.Errorf("after a calm minute it is %v", length)
	}
}

func TestTabsBeyondTheLimitAreRefusedAtOnceAlsoTogether(t *testing.T) {
	w := newWorld(t)
	b := w.open(t, chrome.Interactive)
	for range 4 {
		run(t, b, program.NewTab)
	}
	const asked = 60
	answers := make(chan error, asked)
	start := time.Now()
	for range asked {
		go func() { _, err := b.NewTab(t.Context()); answers <- err }()
	}
	made := 0
	for range asked {
		if err := <-answers; err == nil {
			made++
		} else {
			mustBe(t, err, "rate_limited")
			mustMention(t, err, "as many tabs as it may have")
		}
	}
	if took := time.Since(start); made != 28 || len(b.Tabs()) != 32 || took > 3*patience {
		t.Errorf("%d made, %d open, after %v", made, len(b.Tabs()), took)
	}
	mustNot(t, b.CloseTab(t.Context(), b.Tabs()[0].ID))
	if _, err := b.NewTab(t.Context()); err != nil {
		t.Errorf("no place is given back: %v", err)
	}
}
