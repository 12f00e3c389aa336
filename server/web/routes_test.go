package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server/artifact"
	"chaperone/server/web"
)

func field(t *testing.T, body, name string) string {
	t.Helper()
	var fields map[string]any
	check(t, json.Unmarshal([]byte(body), &fields))
	return fmt.Sprint(fields[name])
}

// TestTheDescriptionIsTrue walks what gin serves and what the description says, both ways.
func TestTheDescriptionIsTrue(t *testing.T) {
	t.Parallel()
	o, _ := options(t, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
	o.Dashboard = nil
	registered, err := web.Registered(o)
	check(t, err)
	var served []string
	for _, r := range registered {
		path := r.Path
		for part := range strings.SplitSeq(r.Path, "/") {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				path = strings.Replace(path, part, "{"+name+"}", 1)
			}
		}
		if path != "/" {
			served = append(served, r.Method+" "+path)
		}
	}
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Summary   string
			Responses map[string]any
		}
	}
	h := open(t)
	h.must(wish{method: "GET", path: "/api/v1/openapi.json", bearer: "none"}, &document)
	var described []string
	for path, methods := range document.Paths {
		for method, op := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
			if op.Summary == "" || len(op.Responses) < 2 {
				t.Errorf("%s %s says %q and has %d answers", method, path, op.Summary, len(op.Responses))
			}
		}
	}
	slices.Sort(served)
	slices.Sort(described)
	if !slices.Equal(served, described) || len(served) < 35 {
		t.Errorf("served:\n%s\ndescribed:\n%s", strings.Join(served, "\n"), strings.Join(described, "\n"))
	}
	if document.OpenAPI != "3.1.0" {
		t.Errorf("the description is of version %q", document.OpenAPI)
	}
}

func TestASessionsLife(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	var result struct {
		Session, Action string
		Ledger          struct{ Seq int64 }
	}
	h.must(wish{method: "POST", path: "/api/v1/sessions/" + id + "/actions", body: `{"action":"tabs"}`}, &result)
	if result.Session != id || result.Action != "tabs" || result.Ledger.Seq == 0 {
		t.Errorf("the action answered %+v", result)
	}
	var view struct{ State string }
	h.must(wish{method: "DELETE", path: "/api/v1/sessions/" + id}, &view)
	h.must(wish{method: "DELETE", path: "/api/v1/sessions/" + id}, &view)
	if view.State != "ended" {
		t.Errorf("the session is %s", view.State)
	}
	var list struct {
		Items []struct{ ID string }
		Next  string
	}
	second := h.session()
	h.must(wish{method: "GET", path: "/api/v1/projects/default/sessions?limit=1"}, &list)
	if len(list.Items) != 1 || list.Items[0].ID != second {
		t.Fatalf("the first page is %+v", list)
	}
	h.must(wish{method: "GET", path: "/api/v1/projects/default/sessions?limit=1&cursor=" + list.Next}, &list)
	if len(list.Items) != 1 || list.Items[0].ID != id {
		t.Errorf("the second page is %+v", list)
	}
	if got := h.ask(wish{method: "POST", path: "/api/v1/sessions/" + id + "/actions", body: `{"action":"tabs"}`}); got.code() != "session_ended" || got.status != http.StatusGone {
		t.Errorf("an action after the end: %d %s", got.status, got.body)
	}
}

func TestAChangedPolicyEndsWhatItDoesNotPermit(t *testing.T) {
	t.Parallel()
	h := open(t)
	set := func(body string) { h.must(wish{method: "PATCH", path: "/api/v1/projects/default", body: body}, nil) }
	state := func(id string) string {
		return field(t, h.ask(wish{method: "GET", path: "/api/v1/sessions/" + id}).body, "state")
	}
	reading := h.session()
	set(`{"name":"default"}`)
	if state(reading) != "active" {
		t.Errorf("after what changes nothing: %s", state(reading))
	}
	set(`{"policy":"interactive"}`)
	acting := h.session()
	if state(reading) != "ended" || state(acting) != "active" {
		t.Errorf("after interactive: reading %s, acting %s", state(reading), state(acting))
	}
	set(`{"policy":"read_only"}`)
	reading = h.session()
	if state(acting) != "ended" || state(reading) != "active" {
		t.Errorf("after read_only: reading %s, acting %s", state(reading), state(acting))
	}
	set(`{"allow_domains":["example.com"]}`)
	if state(reading) != "ended" {
		t.Errorf("after other domains: %s", state(reading))
	}
	reading = h.session()
	set(`{"profile":false}`)
	if state(reading) != "active" {
		t.Errorf("after a profile that was not there was switched off: %s", state(reading))
	}
	set(`{"profile":true}`)
	if state(reading) != "ended" {
		t.Errorf("after a profile was switched on: %s", state(reading))
	}
}

func TestAProjectsProfileGoesWithIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	made := h.ask(wish{method: "POST", path: "/api/v1/projects", body: `{"name":"kept","profile":true}`})
	id := field(t, made.body, "id")
	if got := field(t, h.ask(wish{method: "GET", path: "/api/v1/projects/kept"}).body, "profile"); got != "true" {
		t.Errorf("the project's profile is %s", got)
	}
	h.must(wish{method: "DELETE", path: "/api/v1/projects/kept"}, nil)
	if got := <-h.profiles.removed; got != id {
		t.Errorf("removed was %s, want %s", got, id)
	}
}

func TestPairingIsCopiedForgottenAndReset(t *testing.T) {
	t.Parallel()
	h := open(t)
	code := func() string {
		return field(t, h.ask(wish{method: "POST", path: "/api/v1/projects/default/pairing/code"}).body, "code")
	}
	paired := func() string {
		return field(t, h.ask(wish{method: "GET", path: "/api/v1/projects/default/pairing"}).body, "paired")
	}
	first := code()
	if !strings.HasPrefix(first, "chaperone1.") || code() != first || paired() != "true" {
		t.Errorf("the code is %q, paired %s", first, paired())
	}
	h.must(wish{method: "POST", path: "/api/v1/projects/default/pairing/disconnect"}, nil)
	if paired() != "false" || code() != first {
		t.Errorf("after disconnect: paired %s", paired())
	}
	h.must(wish{method: "POST", path: "/api/v1/pairing/reset"}, nil)
	if paired() != "false" || code() == first {
		t.Error("reset kept the code")
	}
}

func TestTheLedgerIsListedVerifiedAndExported(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	for range 3 {
		h.must(wish{method: "POST", path: "/api/v1/sessions/" + id + "/actions", body: `{"action":"tabs"}`}, nil)
	}
	var list struct {
		Items []struct {
			Seq    int64
			Method string
		}
		Next string
	}
	h.must(wish{method: "GET", path: "/api/v1/ledger?kind=browser&limit=2&session=" + id}, &list)
	if len(list.Items) != 2 || list.Items[0].Method != "tabs" || list.Next == "" {
		t.Fatalf("the list is %+v", list)
	}
	var report struct {
		Rows int64
		Bad  any
	}
	h.must(wish{method: "GET", path: "/api/v1/ledger/verify"}, &report)
	exported := h.ask(wish{method: "GET", path: "/api/v1/ledger/export"})
	if lines := strings.Count(exported.body, "\n"); report.Bad != nil || int64(lines) != report.Rows || report.Rows < 4 {
		t.Errorf("%d lines of %+v", lines, report)
	}
}

func TestAnArtifactHasTwoDoors(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	var view struct{ Project string }
	h.must(wish{method: "GET", path: "/api/v1/sessions/" + id}, &view)
	var me struct{ Account string }
	h.must(wish{method: "GET", path: "/api/v1/me"}, &me)
	kept, err := h.artifacts.Save(t.Context(), artifact.Meta{Account: me.Account, Project: view.Project, Session: id, Kind: "screenshot", MIME: "image/png"}, []byte("\x89PNG\r\n\x1a\npicture"))
	check(t, err)
	path := "/api/v1/artifacts/" + kept.ID
	link := h.artifacts.Sign(kept.ID, time.Now().Add(time.Minute))
	signed := fmt.Sprintf("%s?until=%d&signature=%s", path, link.Until, link.Signature)
	for name, c := range map[string]struct {
		wish   wish
		status int
	}{
		"a bearer":                    {wish{method: "GET", path: path}, 200},
		"a signed link":               {wish{method: "GET", path: signed, bearer: "none"}, 200},
		"a signed link made longer":   {wish{method: "GET", path: strings.Replace(signed, "until=", "until=9", 1), bearer: "none"}, 401},
		"neither":                     {wish{method: "GET", path: path, bearer: "none"}, 401},
		"an artifact that is none":    {wish{method: "GET", path: "/api/v1/artifacts/a_none"}, 404},
		"the list of its own session": {wish{method: "GET", path: "/api/v1/sessions/" + id + "/artifacts"}, 200},
	} {
		got := h.ask(c.wish)
		if got.status != c.status {
			t.Errorf("%s: answered %d %s", name, got.status, got.body)
		}
		if got.status == 200 && !strings.Contains(got.body, "picture") && !strings.Contains(got.body, kept.ID) {
			t.Errorf("%s: answered %q", name, got.body)
		}
	}
}

// listen reads a stream's messages until take has enough.
func (h *house) listen(path, after string, take func(kind, id, data string) bool) {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url+path, nil)
	check(h.t, err)
	request.Header.Set("Authorization", "Bearer "+h.token)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	response, err := h.client.Do(request)
	check(h.t, err)
	defer func() { _ = response.Body.Close() }()
	message := map[string]string{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), ": ")
		if ok {
			message[name] = value
			continue
		}
		if message["data"] != "" && take(message["event"], message["id"], message["data"]) {
			return
		}
		message = map[string]string{}
	}
	h.t.Fatalf("%s ended too early", path)
}

func TestEventsGoOnWhereTheyWereLeft(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	h.must(wish{method: "POST", path: "/api/v1/sessions/" + id + "/actions", body: `{"action":"tabs"}`}, nil)
	var first string
	h.listen("/api/v1/sessions/"+id+"/events", "", func(kind, event, _ string) bool {
		first = event
		return kind == "session.opened"
	})
	h.listen("/api/v1/projects/default/events", first, func(kind, _, data string) bool {
		if kind != "browser.action" || !strings.Contains(data, `"action":"tabs"`) {
			t.Errorf("after the first came %s %s", kind, data)
		}
		return true
	})
}

func TestFramesEndWithTheSession(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	// The tab that is shown is the one of the latest action, also of one that failed.
	h.ask(wish{method: "POST", path: "/api/v1/sessions/" + id + "/actions", body: `{"action":"tabs"}`})
	pictures := 0
	h.listen("/api/v1/sessions/"+id+"/frames", "", func(kind, _, data string) bool {
		if kind == "end" {
			return true
		}
		if !strings.Contains(data, `"jpeg":"anBlZw=="`) {
			t.Errorf("%s holds %s", kind, data)
		}
		if pictures++; pictures == 2 {
			h.must(wish{method: "DELETE", path: "/api/v1/sessions/" + id}, nil)
		}
		return false
	})
	if pictures < 2 {
		t.Errorf("%d pictures came", pictures)
	}
	if got := h.ask(wish{method: "GET", path: "/api/v1/sessions/" + id + "/frames"}); got.code() != "session_ended" {
		t.Errorf("frames after the end: %d %s", got.status, got.body)
	}
}

func TestOtherFacesAreMounted(t *testing.T) {
	t.Parallel()
	h := open(t)
	// The metrics last: they count what was answered before.
	for _, face := range [][2]string{
		{"/mcp", "me"},
		{"/healthz", `"ok"`},
		{"/readyz", `"ready"`},
		{"/api/downloads/chrome-extension.zip", "PK"},
		{"/", "<!doctype html>"},
		{"/metrics", "chaperone_http_requests_total"},
	} {
		if got := h.ask(wish{method: "GET", path: face[0]}); got.status != 200 || !strings.Contains(got.body, face[1]) {
			t.Errorf("%s answered %d %s", face[0], got.status, got.body)
		}
	}
	if got := h.ask(wish{method: "GET", path: "/api/browser/extension/connect", bearer: "none"}); got.status < 400 {
		t.Errorf("the link without a socket answered %d", got.status)
	}
}

func TestAnEndpointIsAskedForAndTakenAway(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.session()
	path := "/api/v1/sessions/" + id + "/cdp"
	if got := h.ask(wish{method: "POST", path: path}); got.code() != "read_only_refused" || got.status != http.StatusForbidden {
		t.Errorf("a read-only project: %d %s", got.status, got.code())
	}
	if got := h.ask(wish{method: "POST", path: path, bearer: "none"}); got.status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", got.status)
	}
	if got := h.ask(wish{method: "DELETE", path: path}); got.status != http.StatusNoContent {
		t.Errorf("taking away what is not there: %d", got.status)
	}
	if got := h.ask(wish{method: "DELETE", path: "/api/v1/sessions/s_none/cdp"}); got.code() != "not_found" {
		t.Errorf("a session that never was: %s", got.code())
	}
}
