package demo

import (
	"context"
	"errors"
	"html/template"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Site is a small web site with something behind a login, on a loopback port.
type Site struct {
	URL    string // http://127.0.0.1:PORT
	posted atomic.Int64
	server *http.Server
	done   chan error
}

// OpenSite starts the site; Close ends it.
func OpenSite(ctx context.Context) (*Site, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Site{URL: "http://" + ln.Addr().String(), done: make(chan error, 1)}
	s.server = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() { s.done <- s.server.Serve(ln) }()
	return s, nil
}

// Close ends the site and its connections.
func (s *Site) Close() error {
	err := s.server.Close()
	if e := <-s.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// Posted is how many notes have been posted: what a read-only agent must never raise.
func (s *Site) Posted() int64 { return s.posted.Load() }

func (s *Site) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", page(home))
	mux.HandleFunc("GET /login", page(login))
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		//nolint:gosec // a site on loopback has no TLS to be Secure by
		http.SetCookie(w, &http.Cookie{Name: "reader", Value: r.FormValue("name"), HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/notes", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /notes", behindLogin(page(notes)))
	mux.HandleFunc("GET /notes/harbour", behindLogin(page(harbour)))
	mux.HandleFunc("POST /notes", behindLogin(func(w http.ResponseWriter, r *http.Request) {
		s.posted.Add(1)
		http.Redirect(w, r, "/notes", http.StatusSeeOther)
	}))
	return mux
}

func page(t *template.Template) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := t.Execute(w, nil); err != nil {
			http.Error(w, "the page could not be shown", http.StatusInternalServerError)
		}
	}
}

func behindLogin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("reader"); err != nil {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		next(w, r)
	}
}
