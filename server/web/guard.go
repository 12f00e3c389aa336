package web

import (
	"net/http"

	"chaperone/server/fault"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 1 << 20

// linkPath is the one route that another origin, the extension's, may ask; the relay checks that origin.
const linkPath = "/api/browser/extension/connect"

// guard stands before every route: only requests for our own name, from no page or a page of ours, of
// bounded size, pass. What browsers may do with an answer is said on each one.
func guard(hosts *Hosts, next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		if f := judge(hosts, crossOrigin, r); f != nil {
			refuse(w, 0, f)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

func judge(hosts *Hosts, crossOrigin *http.CrossOriginProtection, r *http.Request) *fault.Fault {
	if !hosts.admits(r) {
		return fault.New(fault.Forbidden, "this server does not go by that name", "Use "+hosts.URL()+".")
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
