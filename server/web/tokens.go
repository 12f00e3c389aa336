package web

import (
	"net/http"
	"slices"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
)

func (s *site) tokenRoutes() []route {
	return []route{
		{method: http.MethodGet, path: api + "/tokens", does: "The account's agent tokens, newest first, without their text.", gives: page[account.AgentToken]{}, handle: s.listTokens},
		{method: http.MethodPost, path: api + "/tokens", does: "Make an agent token; its text is shown this once.", takes: tokenBody{}, gives: tokenView{}, handle: s.createToken},
		{method: http.MethodDelete, path: api + "/tokens/:t", does: "Revoke an agent token at once; revoking it again changes nothing.", handle: s.revokeToken},
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
	p, err := s.projectNamed(c, body.Project)
	if err != nil {
		return nil, err
	}
	token, text, err := s.o.Tokens.CreateToken(c.r.Context(), c.actor, account.TokenSpec{
		Name: body.Name, Project: p.ID, Role: body.Role, Lifetime: time.Duration(body.Expires) * time.Second,
	})
	return created{tokenView{AgentToken: token, Token: text}}, err
}

func (s *site) revokeToken(c *call) (any, error) {
	id := c.param("t")
	if c.actor.CanManage() && c.actor.TokenID == id {
		return nil, fault.New(fault.Forbidden, "that is the token you are using",
			"It is this machine's own. To replace it stop the server, delete the file token in the data folder and start it again.")
	}
	err := s.o.Tokens.RevokeToken(c.r.Context(), c.actor, id)
	s.o.Exposure.EndedCredential()
	if fault.Is(err, fault.NotFound) && s.isRevoked(c, id) {
		return nil, nil //nolint:nilnil // an answer without a body: it is as it was to be
	}
	return nil, err
}

func (s *site) isRevoked(c *call, id string) bool {
	tokens, err := s.o.Tokens.ListTokens(c.r.Context(), c.actor)
	return err == nil && slices.ContainsFunc(tokens, func(t account.AgentToken) bool { return t.ID == id && t.Revoked })
}
