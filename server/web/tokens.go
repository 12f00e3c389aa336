package web

import (
	"net/http"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
)

func (s *site) tokenRoutes() []route {
	return []route{
		{method: http.MethodGet, path: api + "/tokens", does: "The account's agent tokens, newest first, without their text.", gives: page[account.AgentToken]{}, handle: s.listTokens},
		{method: http.MethodPost, path: api + "/tokens", does: "Make an agent token; its text is shown this once.", takes: tokenBody{}, gives: tokenView{}, handle: s.createToken},
		{method: http.MethodDelete, path: api + "/tokens/:t", does: "Revoke an agent token at once.", handle: s.revokeToken},
	}
}

// tokenBody asks for an agent token; Expires is in seconds from now, 0 means 90 days.
type tokenBody struct {
	Name    string       `json:"name"`
	Project string       `json:"project"`
	Role    account.Role `json:"role"`
	Expires int64        `json:"expires_s,omitempty"`
}

type tokenView struct {
	account.AgentToken
	Token string `json:"token"`
}

func (s *site) listTokens(c *call) (any, error) {
	tokens, err := s.o.Tokens.ListTokens(c.r.Context(), c.actor)
	return all(tokens), err
}

func (s *site) createToken(c *call) (any, error) {
	body, err := take[tokenBody](c)
	if err != nil {
		return nil, err
	}
	const most = 366 * 24 * 60 * 60
	if body.Expires < 0 || body.Expires > most {
		return nil, fault.New(fault.BadRequest, "expires_s is out of range", "Send seconds, a year at most.")
	}
	p, err := s.o.Projects.Get(c.r.Context(), c.actor, body.Project)
	if err != nil {
		return nil, err
	}
	token, text, err := s.o.Tokens.CreateToken(c.r.Context(), c.actor, account.TokenSpec{
		Name: body.Name, Project: p.ID, Role: body.Role, Lifetime: time.Duration(body.Expires) * time.Second,
	})
	return created{tokenView{AgentToken: token, Token: text}}, err
}

func (s *site) revokeToken(c *call) (any, error) {
	return nil, s.o.Tokens.RevokeToken(c.r.Context(), c.actor, c.param("t"))
}
