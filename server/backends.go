package server

import (
	"context"
	"errors"
	"net"

	"chaperone/egress"
	"chaperone/relay"
	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/chrome"
	"chaperone/server/fault"
	"chaperone/server/session"
)

// managed opens browsers in the server's own Chromes.
type managed struct {
	pool        *chrome.Pool
	testOrigins []string
	refusals    *refusals
}

func (m managed) Open(ctx context.Context, o session.Opening) (session.Browser, error) {
	b, err := m.pool.Open(ctx, chrome.OpenOptions{
		Account: o.Account, Session: o.Session, Policy: policyOf(o.Level),
		Width: o.Viewport.Width, Height: o.Viewport.Height, Profile: profileOf(o),
		Permits: func(address string) bool { return m.CheckURL(address) == nil && browse.Within(o.AllowDomains, address) },
	})
	if err != nil {
		return nil, err
	}
	return managedBrowser{Browser: b, session: o.Session, refusals: m.refusals}, nil
}

var _ endpoint.Edge = managedBrowser{}

func (m managed) Describe() string {
	c := m.pool.Confinement()
	return string(c.Mode) + ": " + c.Reason
}

// CheckURL refuses early what egress would refuse; egress is what enforces it.
func (m managed) CheckURL(raw string) error {
	_, err := egress.CheckURL(raw, m.testOrigins)
	if refusal, ok := errors.AsType[*egress.Refusal](err); ok {
		return fault.New(fault.Code(refusal.Code), "that address is refused: "+refusal.Reason.Words()+" ("+string(refusal.Reason)+")",
			"Managed browsers open public http and https addresses only.")
	}
	return err
}

// profileOf names a project's profile by its id, which no other project has, of whatever account and name.
func profileOf(o session.Opening) string {
	if !o.Profile {
		return ""
	}
	return o.Project
}

func policyOf(l program.Level) chrome.Policy {
	if l == program.LevelAct {
		return chrome.Interactive
	}
	return chrome.ReadOnly
}

// shared opens sessions on the tabs that a person shared.
type shared struct{ hub *relay.Hub }

func (s shared) Open(ctx context.Context, o session.Opening) (session.Browser, error) {
	b, err := s.hub.Open(ctx, relay.OpenOptions{Account: o.Account, Project: o.Project, Session: o.Session})
	if err != nil {
		return nil, err
	}
	return sharedBrowser{b, s.hub.Status(o.Account, o.Project).Browser.Version}, nil
}

// sharedBrowser is a person's, with the version that it had when the session opened.
type sharedBrowser struct {
	*relay.Browser
	version string
}

var _ endpoint.Edge = sharedBrowser{}

// Product names it as CDP clients expect: every browser with the extension speaks as Chrome does.
func (b sharedBrowser) Product() string {
	if b.version == "" {
		return ""
	}
	return "Chrome/" + b.version
}

func (s shared) Describe() string { return "" }

// CheckURL permits what the extension will judge: it is the person's browser and the person's network.
func (s shared) CheckURL(string) error { return nil }

// clients lets CDP clients drive sessions, judged by the method table.
type clients struct {
	server *endpoint.Server
	table  *cdp.Table
}

func (c clients) Grant(o endpoint.GrantOptions) (session.Capability, error) {
	o.Judge = c.table
	return c.server.Grant(o)
}

// ways lets each managed session out through egress under its own name.
type ways struct {
	proxy    *egress.Proxy
	refusals *refusals
}

// OpenWay serves one session's way out on its socket.
func (w ways) OpenWay(ctx context.Context, way chrome.Way) (func() error, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "unix", way.Socket)
	if err != nil {
		return nil, err
	}
	id := egress.Identity{Session: way.Session}
	if way.Policy == chrome.Interactive {
		id.Methods = egress.AllMethods
	}
	served := make(chan error, 1)
	go func() { served <- w.proxy.Serve(ln, id) }()
	return func() error {
		err := ln.Close()
		serveErr := <-served
		w.refusals.forget(way.Session)
		if errors.Is(serveErr, net.ErrClosed) {
			serveErr = nil
		}
		return errors.Join(err, serveErr)
	}, nil
}
