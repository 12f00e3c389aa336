package browse_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// answers serves one page that is one, and answers of every other shape.
func answers(t *testing.T) string {
	t.Helper()
	page := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>answers</title>"+body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		page(w, `<h1>start</h1><a href="/none">none</a> <a href="/loop">loop</a> <a href="/file">file</a> <a href="/bare?code=404">bare</a> <a href="/hang">hang</a>`)
	})
	mux.HandleFunc("/there", func(w http.ResponseWriter, _ *http.Request) { page(w, "<h1>there</h1>") })
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code(r))
		page(w, "<h1>an error page</h1>")
	})
	mux.HandleFunc("/bare", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code(r)) })
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/sent", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
	})
	mux.HandleFunc("/login", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="case"`)
		w.WriteHeader(http.StatusUnauthorized)
		page(w, "<h1>need a login</h1>")
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
		_, _ = io.WriteString(w, "id,total\n7,42\n")
	})
	mux.HandleFunc("/pdf", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/half", func(w http.ResponseWriter, r *http.Request) {
		page(w, "<h1>half of it</h1>"+strings.Repeat(" ", 2000))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/pictures", func(w http.ResponseWriter, _ *http.Request) { page(w, "<h1>pictures</h1><img src=/hang>") })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // some wait for answers that never come
		server.Close()
	})
	return server.URL
}

func code(r *http.Request) int {
	var status int
	_ = json.Unmarshal([]byte(r.FormValue("code")), &status)
	return status
}

// silent is the address of a port that nobody listens at.
func silent(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return "http://" + ln.Addr().String() + "/"
}

func TestWhatDoesNotLoadIsToldByName(t *testing.T) {
	script, at := pageScript(t), answers(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for url, want := range map[string]string{
		at + "/none":                            "no content to show (status 204); the tab stays",
		at + "/loop":                            "redirects too many times",
		at + "/file":                            "a download and no page",
		at + "/pdf":                             "is a PDF",
		at + "/cut":                             "closed the connection without an answer (net::ERR_EMPTY_RESPONSE)",
		silent(t):                               "the connection was refused (net::ERR_CONNECTION_REFUSED)",
		"http://127.0.0.1:9/":                   "refuse to connect to that port (net::ERR_UNSAFE_PORT)",
		"http://no-such-host.invalid/":          "the name does not resolve (net::ERR_NAME_NOT_RESOLVED)",
		strings.Replace(at, "http", "https", 1): "a certificate or protocol error (net::ERR_SSL_PROTOCOL_ERROR)",
		at + "/sent?to=" + silent(t):            "the connection was refused",
	} {
		d.open("")
		f := d.refused(`{"action":"open","url":"`+url+`"}`, fault.NavigationFailed)
		if !strings.Contains(f.Message, want) {
			t.Errorf("%s: %s (%s)", url, f.Message, f.Detail)
		}
		r := d.do(`{"action":"snapshot"}`)
		if strings.Contains(want, "status 204") || strings.Contains(want, "download") || strings.Contains(want, "PDF") {
			if !strings.Contains(r.Snapshot.Text, "start") {
				t.Errorf("%s: the tab does not stand where it was: %s", url, r.Snapshot.Text)
			}
			continue
		}
		if r = d.do(`{"action":"back"}`); r.URL != at+"/" || !strings.Contains(r.Snapshot.Text, "start") {
			t.Errorf("%s: back led to %s, %+v", url, r.URL, r)
		}
	}
}

func TestPagesOfEveryStatusArePages(t *testing.T) {
	script, at := pageScript(t), answers(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for path, want := range map[string]struct {
		status         int
		notice, inside string
	}{
		"status?code=404": {404, "status 404", "an error page"},
		"status?code=503": {503, "status 503", "an error page"},
		"bare?code=404":   {404, "status 404", ""},
		"bare?code=500":   {500, "status 500", ""},
		"login":           {401, `asks for a login, by the browser's own prompt (realm "case")`, "need a login"},
		"sent?to=/there":  {200, "Redirected from " + at + "/sent?to=/there", "there"},
		"bare?code=200":   {200, "nothing to operate", ""},
	} {
		d.open("there")
		r := d.open(path)
		told := strings.Join(r.Notices, " ")
		if r.Status != want.status || !strings.Contains(told, want.notice) || !strings.Contains(r.Snapshot.Text, want.inside) {
			t.Errorf("%s: %+v", path, r)
		}
		if r = d.do(`{"action":"back"}`); r.URL != at+"/there" {
			t.Errorf("%s: back led to %s", path, r.URL)
		}
	}
}

func TestSlowPagesAreToldAsFarAsTheyAre(t *testing.T) {
	script, at := pageScript(t), answers(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	d.open("there")
	if f := d.refused(`{"action":"open","url":"`+at+`/hang","timeout_ms":700}`, fault.Timeout); !strings.Contains(f.Message, "within 700 ms; it goes on loading") {
		t.Errorf("%+v", f)
	}
	if f := d.refused(`{"action":"snapshot","timeout_ms":500}`, fault.Timeout); !strings.Contains(f.Message, "waits for the answer of a server") {
		t.Errorf("%+v", f)
	}
	if r := d.open("there"); r.Tab != "t1" || len(r.Notices) > 0 {
		t.Errorf("%+v", r)
	}
	for path, inside := range map[string]string{"half": "half of it", "pictures": "pictures"} {
		r := d.do(`{"action":"open","url":"` + at + `/` + path + `","timeout_ms":4000}`)
		if !strings.Contains(r.Snapshot.Text, inside) || !strings.Contains(strings.Join(r.Notices, " "), "still loading") {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

func TestClicksThatLeadNowhereSayWhy(t *testing.T) {
	script, at := pageScript(t), answers(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	for link, want := range map[string]string{
		"none": "status 204", "file": "a file and no page", "loop": "redirects too many times", "bare": "status 404", "hang": "has not answered yet",
	} {
		d.open("")
		r := d.do(`{"action":"click","role":"link","name":"` + link + `"}`)

		if !strings.Contains(strings.Join(r.Notices, " "), want) {
			t.Errorf("%s: %v", link, r.Notices)
		}
	}
}
