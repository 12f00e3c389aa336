package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chaperone/demo"
)

// TestReadOnlyRefusesEveryWritingAction is the first wall: the tool, called directly.
func TestReadOnlyRefusesEveryWritingAction(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		for _, a := range []action{
			{"action": "fill", "role": "textbox", "name": "x", "text": "y"},
			{"action": "type", "text": "y"},
			{"action": "press", "keys": "Enter"},
			{"action": "select", "role": "combobox", "name": "x", "values": []string{"y"}},
			{"action": "check", "role": "checkbox", "name": "x"},
			{"action": "uncheck", "role": "checkbox", "name": "x"},
			{"action": "eval"},
			{"action": "upload"},
			{"action": "drag"},
		} {
			r.refused(r.session, a, "read_only_refused")
		}
	})
}

// TestReadOnlyRefusesAFormThatPosts is the second wall's word about a click that would plainly submit.
func TestReadOnlyRefusesAFormThatPosts(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		t := r.t
		r.do(action{"action": "open", "url": r.site.URL + "/form"})
		r.refused(r.session, action{"action": "click", "ref": r.ref(r.session, "button", "Save note")}, "form_refused")
		if r.site.count("plain") != 0 {
			t.Error("the form was posted")
		}
		if looked := r.clickNamed("button", "Look up"); looked.Title != "Second" {
			t.Errorf("a form that only asks led to %q", looked.Title)
		}
	})
}

// TestNoPageCanWriteFromAReadOnlySession is the third wall: the browser, against pages that submit by script.
func TestNoPageCanWriteFromAReadOnlySession(t *testing.T) {
	t.Parallel()
	ways := []string{
		"submit", "requestSubmit", "blank", "named", "top", "redirect", "popup", "formmethod", "srcdoc", "beacon", "ping", "worker", "crosssite",
	}
	onBothRoads(t, func(r *road) {
		t := r.t
		for _, way := range ways {
			r.do(action{"action": "open", "url": r.site.URL + "/post"})
			if way == "worker" && r.person != nil {
				continue // a shared tab may register what its site registers anyway; DESIGN speaks of managed Chrome
			}
			_, err := r.agent.Act(t.Context(), r.session, action{"action": "click", "ref": r.ref(r.session, "button", "way "+way)})
			if err != nil {
				t.Logf("%s: %v", way, err) // a refused navigation may well be told
			}
		}
		r.do(action{"action": "open", "url": r.site.URL + "/post"})
		r.clickNamed("button", "way keepalive")
		permitted := 0
		if r.person != nil { // a script may read by POST; of a managed session egress lets that out in TLS only
			permitted = 1
			r.await(func() bool { return r.site.count("fetch") == 1 }, "the page's own fetch, which is let through")
		}
		if got := r.site.posted(); len(got) != permitted {
			t.Errorf("these ways got through: %s", strings.Join(got, ", "))
		}
	})
}

// TestThePersonsOtherTabsMayStillPost holds the third wall in shared tabs to the shared tab.
func TestThePersonsOtherTabsMayStillPost(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := &road{site: s, served: serve(t)}
	r.shareStart(t)
	other, err := r.person.Visit(t.Context(), s.URL+"/post")
	check(t, err)
	r.session = r.served.session("shared")
	r.clickNamed("button", "Count") // the agent is at work on the same site
	check(t, other.Do(t.Context(), `ways.submit()`, nil))
	r.await(func() bool { return s.count("submit") == 1 }, "the person's own post in another tab")
}

// TestAddressesThatManagedBrowsersRefuse names the code for each kind of address.
func TestAddressesThatManagedBrowsersRefuse(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	session := r.session("managed")
	for address, code := range map[string]string{
		"file:///etc/passwd":                       "url_refused",
		"javascript:alert(1)":                      "url_refused",
		"data:text/html,x":                         "url_refused",
		"chrome://version":                         "url_refused",
		"view-source:" + s.URL:                     "url_refused",
		"http://user:pw@example.com/":              "url_refused",
		"http://example.com:22/":                   "url_refused",
		"http://169.254.169.254/latest/meta-data/": "address_refused",
		"http://127.0.0.1:1/":                      "address_refused",
		"http://0x7f000001/":                       "address_refused",
		"http://[::1]/":                            "address_refused",
		"http://localhost/":                        "address_refused",
		"http://10.0.0.1/":                         "address_refused",
	} {
		refusal := r.refusedAny(session, action{"action": "open", "url": address})
		if refusal.Code != code {
			t.Errorf("%s is refused with %s (%s), want %s", address, refusal.Code, refusal.Message, code)
		}
	}
	r.act(session, action{"action": "open", "url": s.URL + "/"})
}

// TestAPageCannotLeadAManagedBrowserInside follows links and redirects to where egress stands.
func TestAPageCannotLeadAManagedBrowserInside(t *testing.T) {
	t.Parallel()
	inside := openSite(t) // not admitted
	outside := http.NewServeMux()
	outside.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<title>out</title><a href="/hop">hop</a> <a href="` + inside.URL + `/">link</a><img src="` + inside.URL + `/hit/image">`))
	})
	outside.HandleFunc("GET /hop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL+"/", http.StatusFound)
	})
	o := serveMux(t, outside)
	r := serve(t, "--test-origin", o)
	session := r.session("managed")
	for _, name := range []string{"hop", "link"} {
		r.act(session, action{"action": "open", "url": o + "/"})
		answer, err := r.agent.Act(t.Context(), session, action{"action": "click", "ref": r.ref(session, "link", name)})
		if err == nil && answer.Title == "Start" {
			t.Errorf("%s led inside: %s", name, answer.URL)
		}
	}
	if inside.requests.Load() != 0 {
		t.Errorf("%d requests came inside", inside.requests.Load())
	}
}

func (s *served) refusedAny(session string, a action) *demo.RefusedError {
	s.t.Helper()
	_, err := s.agent.Act(s.t.Context(), session, a)
	refusal := asRefused(err)
	if refusal == nil {
		s.t.Fatalf("%v: got %v, want a refusal", a, err)
	}
	return refusal
}

// TestWhyNobodyAnswersIsToldByName tells the reasons of the way out apart, in the clear and by https, where Chrome does not.
func TestWhyNobodyAnswersIsToldByName(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	r := serve(t, "--test-origin", gone.URL)
	session := r.session("managed")
	for address, words := range map[string]string{
		"http://no-such-host.invalid/":  "the name does not resolve",
		"https://no-such-host.invalid/": "the name does not resolve",
		gone.URL + "/":                  "the connection was refused",
	} {
		refusal := r.refusedAny(session, action{"action": "open", "url": address})
		if refusal.Code != "navigation_failed" || !strings.Contains(refusal.Message, words) {
			t.Errorf("%s: %s: %s", address, refusal.Code, refusal.Message)
		}
	}
}
