package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"chaperone/server/fault"
)

// cliLabel marks the sessions that the command line opened by itself.
const cliLabel = "cli"

// here is the session that an action runs in: the named one, else the one of last time, else a new one, which is
// said.
func (b *browser) here(ctx context.Context, c *client) (string, error) {
	if b.session != "" {
		return b.session, nil
	}
	living, latest, err := b.ours(ctx, c)
	if err != nil || living.ID != "" {
		return living.ID, err
	}
	return b.open(ctx, c, latest)
}

// ours are the command line's own sessions of the project: the living one on the wished backend, and the latest of
// all; each is the zero view where there is none. Who wishes for no backend stays on that of the latest.
func (b *browser) ours(ctx context.Context, c *client) (living, latest sessionView, err error) {
	path, err := b.sessionsPath(ctx, c)
	if err != nil {
		return living, latest, err
	}
	sessions, err := get[list[sessionView]](ctx, c, path)
	if err != nil {
		return living, latest, err
	}
	for _, s := range sessions.Items {
		if s.Label != cliLabel {
			continue
		}
		if latest.ID == "" {
			latest = s
		}
		if s.lives() && s.Backend == cmp.Or(b.backend, latest.Backend) {
			return s, latest, nil
		}
	}
	return living, latest, nil
}

func (b *browser) sessionsPath(ctx context.Context, c *client) (string, error) {
	name, err := c.projectName(ctx, b.project)
	return "/api/v1/projects/" + url.PathEscape(name) + "/sessions", err
}

// open opens a session like the latest one and says that it did.
func (b *browser) open(ctx context.Context, c *client, latest sessionView) (string, error) {
	path, err := b.sessionsPath(ctx, c)
	if err != nil {
		return "", err
	}
	raw, err := b.app.openSession(ctx, c, path, sessionSpec{Backend: cmp.Or(b.backend, latest.Backend), Label: cliLabel})
	if err != nil {
		return "", err
	}
	var s sessionView
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("decode session: %w", err)
	}
	why := ""
	if latest.ID != "" && !latest.lives() {
		why = " (the last one ended: " + cmp.Or(latest.Reason, latest.State) + ")"
	}
	b.app.note("opened a %s session %s%s", s.Backend, s.ID, why)
	return s.ID, nil
}

// close ends the session; where there is none, nothing is to be done.
func (b *browser) close(ctx context.Context) error {
	c, err := b.app.dial()
	if err != nil {
		return err
	}
	id := b.session
	if id == "" {
		living, _, err := b.ours(ctx, c)
		if err != nil {
			return err
		}
		id = living.ID
	}
	if id == "" {
		return fault.New(fault.NotFound, "there is no session of the command line", "Open one with: chaperone browse open URL")
	}
	raw, err := c.call(ctx, http.MethodDelete, "/api/v1/sessions/"+url.PathEscape(id), nil)
	if err != nil {
		return err
	}
	return show(b.app, raw, func(w io.Writer, s sessionView) { line(w, "%s %s", s.ID, s.State) })
}

// placeWait is after how long the opening of a session says why it takes so long.
const placeWait = 2 * time.Second

// openSession opens a session, which may have to wait for a place.
func (a *app) openSession(ctx context.Context, c *client, path string, spec sessionSpec) ([]byte, error) {
	opened := make(chan struct{})
	var saying sync.WaitGroup
	saying.Go(func() {
		select {
		case <-opened:
		case <-time.After(placeWait):
			a.note("waiting for a place")
		}
	})
	defer saying.Wait()
	defer close(opened)
	return c.call(ctx, http.MethodPost, path, spec)
}
