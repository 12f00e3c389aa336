package web

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"chaperone/server/fault"
)

// What a request's body has at most, in bytes: an action may bring files.
const (
	maxBody   = 1 << 20
	maxAction = 16 << 20
)

// linkPath is the one route that another origin, the extension's, may ask; the relay checks that origin.
const linkPath = "/api/browser/extension/connect"

// guard stands before every route: only requests for our own name, from no page or a page of ours, of
// bounded size, pass. What browsers may do with an answer is said on each one.
func guard(o Options, next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		if f := judge(o.Hosts, crossOrigin, r); f != nil {
			refuse(w, 0, f)
			return
		}
		r.Body = boundBody(w, r, o.BodyWait)
		next.ServeHTTP(w, r)
	})
}

// bodyWait is how long a request's body may take, for each MiB of it: 300 kbit/s.
const bodyWait = 30 * time.Second

// boundBody bounds a body's size and time. The time ends with the body, so that an answer that streams has its own.
func boundBody(w http.ResponseWriter, r *http.Request, wait time.Duration) io.ReadCloser {
	most := mostOf(r)
	limited := http.MaxBytesReader(w, r.Body, most)
	if r.ContentLength == 0 {
		return limited
	}
	control := http.NewResponseController(w)
	// A writer without deadlines (a test's recorder) has no slow sender either.
	_ = control.SetReadDeadline(time.Now().Add(wait * time.Duration(1+min(max(r.ContentLength, 0), most)/maxBody)))
	return &timedBody{ReadCloser: limited, control: control}
}

func mostOf(r *http.Request) int64 {
	if r.URL.Path == "/mcp" || strings.HasPrefix(r.URL.Path, api+"/sessions/") && strings.HasSuffix(r.URL.Path, "/actions") {
		return maxAction
	}
	return maxBody
}

// timedBody lifts the deadline once the body has been read.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

func judge(hosts *Hosts, crossOrigin *http.CrossOriginProtection, r *http.Request) *fault.Fault {
	if !hosts.admits(r) {
		return fault.New(fault.Forbidden, "this server does not go by that name", "Use "+hosts.URL()+".")
	}
	if isAhead(r) {
		return fault.New(fault.Forbidden, "this server is not loaded ahead of time", "Open its address.")
	}
	if r.URL.Path == linkPath {
		return nil
	}
	if origin := r.Header.Get("Origin"); origin != "" && !hosts.HasOrigin(origin) {
		return fault.New(fault.Forbidden, "a page of another origin may not ask this server", "Use the dashboard at "+hosts.URL()+".")
	}
	if err := crossOrigin.Check(r); err != nil {
		return fault.New(fault.Forbidden, "a page of another origin may not ask this server", "Use the dashboard at "+hosts.URL()+".")
	}
	return nil
}

// isAhead reports that a browser asks on the word of some page, before a person goes here. What is loaded so comes into a tab
// later without a request that anybody could judge, an extension that holds the tab for an agent least of all.
func isAhead(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") || r.Header.Get("Purpose") == "prefetch"
}

// harden sets what holds for every answer; the dashboard's own page loosens the policy for its files.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
}
