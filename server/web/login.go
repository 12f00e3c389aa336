package web

import (
	"net/http"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
)

// refreshCookie holds the refresh token. The prefix makes browsers take it only for this very host, over a
// secure origin, which loopback is too.
const refreshCookie = "__Host-chaperone"

func (s *site) loginRoutes() []route {
	return []route{
		{method: http.MethodPost, path: api + "/auth/login", open: true, does: "Turn a one-time code into an access token and a refresh cookie.", takes: loginBody{}, gives: account.Credentials{}, handle: s.login},
		{method: http.MethodPost, path: api + "/auth/link", does: "Make a link that logs a person in to the dashboard, once.", gives: linkView{}, handle: s.loginLink},
		{method: http.MethodPost, path: api + "/auth/refresh", open: true, does: "Renew the access token by the refresh cookie, once.", gives: account.Credentials{}, handle: s.refresh},
		{method: http.MethodPost, path: api + "/auth/logout", open: true, does: "End what the refresh cookie's login gave.", handle: s.logout},
		{method: http.MethodGet, path: api + "/me", does: "Who the bearer is.", gives: account.Actor{}, handle: s.me},
	}
}

type loginBody struct {
	Code string `json:"code"`
}

type linkView struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires_at"`
}

// loginLink puts the code into the address's fragment, which no server and no log ever sees.
func (s *site) loginLink(c *call) (any, error) {
	code, expires, err := s.o.Logins.LoginLink(c.r.Context(), c.actor, c.peer())
	return linkView{URL: s.o.Hosts.URL() + "/#code=" + code, Expires: expires}, err
}

func (s *site) login(c *call) (any, error) {
	body, err := take[loginBody](c)
	if err != nil {
		return nil, err
	}
	credentials, err := s.o.Logins.Login(c.r.Context(), body.Code, c.peer())
	if err != nil {
		return nil, err
	}
	setRefresh(c.w, credentials)
	return credentials, nil
}

func (s *site) refresh(c *call) (any, error) {
	token, err := s.refreshToken(c)
	if err != nil {
		return nil, err
	}
	credentials, err := s.o.Logins.Refresh(c.r.Context(), token, c.peer())
	if err != nil {
		forgetRefresh(c.w)
		return nil, err
	}
	setRefresh(c.w, credentials)
	return credentials, nil
}

func (s *site) logout(c *call) (any, error) {
	token, err := s.refreshToken(c)
	if err != nil {
		return nil, err
	}
	forgetRefresh(c.w)
	err = s.o.Logins.Logout(c.r.Context(), token, c.peer())
	s.o.Exposure.EndedCredential()
	return nil, err
}

func (s *site) me(c *call) (any, error) { return c.actor, nil }

// refreshToken reads the cookie, which counts only when a page of ours sends it: browsers name the origin of
// every POST.
func (s *site) refreshToken(c *call) (string, error) {
	if !s.o.Hosts.HasOrigin(c.r.Header.Get("Origin")) {
		return "", fault.New(fault.Forbidden, "the refresh cookie is for the dashboard alone", "Use a bearer token.")
	}
	cookie, err := c.r.Cookie(refreshCookie)
	if err != nil || cookie.Value == "" {
		return "", fault.New(fault.Unauthorised, "nobody is logged in here", "Run: chaperone dashboard")
	}
	return cookie.Value, nil
}

func setRefresh(w http.ResponseWriter, c account.Credentials) {
	keepRefresh(w, c.Refresh, c.RefreshExpires)
}

func forgetRefresh(w http.ResponseWriter) { keepRefresh(w, "", time.Unix(1, 0)) }

func keepRefresh(w http.ResponseWriter, value string, expires time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name: refreshCookie, Value: value, Expires: expires, Path: "/",
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}
