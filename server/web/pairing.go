package web

import (
	"net/http"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
	"chaperone/server/fault"
)

func (s *site) pairingRoutes() []route {
	path := api + "/projects/:p/pairing"
	return []route{
		{method: http.MethodGet, path: path, does: "Whether the account's browser is paired and connected, and which tabs it shares.", gives: pairingView{}, handle: s.pairing},
		{method: http.MethodPost, path: path + "/code", does: "The connection code to paste into the extension; it stays the same until reset.", gives: codeView{}, handle: s.pairingCode},
		{method: http.MethodPost, path: path + "/connect", does: "Connect the project to the account's live browser without a paste.", gives: pairingView{}, handle: s.pairingConnect},
		{method: http.MethodPost, path: path + "/disconnect", does: "Forget this project's pairing.", gives: pairingView{}, handle: s.pairingDisconnect},
		{method: http.MethodPost, path: api + "/pairing/reset", does: "Replace the account's pairing token and forget every project's pairing.", handle: s.pairingReset},
	}
}

// pairingView is how a project and the account's browser stand.
type pairingView struct {
	Project   string             `json:"project"`
	Paired    bool               `json:"paired"`
	Connected bool               `json:"connected"`
	Since     *time.Time         `json:"since,omitempty"`
	Browser   *relay.BrowserInfo `json:"browser,omitempty"`
	Level     program.Level      `json:"level,omitempty"`
	Tabs      []program.Tab      `json:"tabs"`
}

type codeView struct {
	Code   string `json:"code"`
	Server string `json:"server"`
}

func (s *site) pairing(c *call) (any, error) {
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	paired, err := s.o.Pairing.IsPaired(c.r.Context(), c.actor, p.ID)
	if err != nil {
		return nil, err
	}
	view := pairingView{Project: p.ID, Paired: paired, Tabs: []program.Tab{}}
	link := s.o.Links.Status(p.Account, p.ID)
	if !link.Connected {
		return view, nil
	}
	view.Connected, view.Since, view.Browser, view.Level = true, &link.Since, &link.Browser, link.Level
	view.Tabs = append(view.Tabs, link.Tabs...)
	return view, nil
}

func (s *site) pairingCode(c *call) (any, error) {
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	server := s.o.Hosts.URL()
	code, err := s.o.Pairing.Code(c.r.Context(), c.actor, p.ID, server)
	return codeView{Code: code, Server: server}, err
}

// pairingConnect cannot be done yet: a link serves the one project it was paired for, and the protocol has
// no message that makes a browser add another.
func (s *site) pairingConnect(c *call) (any, error) {
	if _, err := s.project(c); err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Unavailable, "a connected browser cannot be moved to another project from here yet",
		"Copy this project's connection code and paste it into the extension.")
}

func (s *site) pairingDisconnect(c *call) (any, error) {
	p, err := s.project(c)
	if err != nil {
		return nil, err
	}
	if err := s.o.Unpair.Revoke(c.r.Context(), c.actor, p.ID); err != nil {
		return nil, err
	}
	s.o.Links.Disconnect(p.Account, p.ID, relay.ReasonRevoked)
	return s.pairing(c)
}

func (s *site) pairingReset(c *call) (any, error) {
	if err := s.o.Unpair.Reset(c.r.Context(), c.actor); err != nil {
		return nil, err
	}
	return nil, s.disconnectAll(c.r.Context(), c)
}
